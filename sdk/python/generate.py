"""Generate the types and the operations of the package from the OpenAPI document.

Usage: python3 generate.py openapi.json types|operations
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from typing import Any

HEADER = '"""{}\n\nGenerated from the OpenAPI document. Do not edit; change generate.py.\n"""\n'
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Document:
    """The OpenAPI document and the types that were written so far."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.schemas: dict[str, Any] = document["components"]["schemas"]
        self.classes: dict[str, str] = {}

    def resolve(self, part: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in part:
            found: Any = self.document
            for key in part["$ref"].split("/")[1:]:
                found = found[key]
            part = found
        return part

    def properties(self, schema: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
        """Return the members of an object and the names of those that are required."""
        found: dict[str, Any] = {}
        required: set[str] = set()
        for part in schema.get("allOf", []):
            more, needed = self.properties(self.resolve(part))
            found.update(more)
            required |= needed if "if" not in part else set()
        found.update(schema.get("properties", {}))
        return found, required | set(schema.get("required", []))

    def is_class(self, schema: dict[str, Any]) -> bool:
        if schema.get("type") == "object" or "properties" in schema:
            return bool(self.properties(schema)[0]) and "oneOf" not in schema
        return False

    def type_of(self, schema: Any, name: str) -> str:
        """Return the type of a schema. An object without a name of its own becomes the class name."""
        if not isinstance(schema, dict):
            return "Any"
        if "$ref" in schema:
            return self.reference(schema["$ref"].split("/")[-1])
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return "Literal[" + ", ".join(repr(value) for value in schema["enum"]) + "]"
        if self.is_class(schema):
            self.add_class(name, schema)
            return name
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.union(schema[key], name)
        if "allOf" in schema and len(schema["allOf"]) == 1:
            return self.type_of(schema["allOf"][0], name)
        kind = schema.get("type")
        if kind == "array":
            return f"list[{self.type_of(schema.get('items', True), name + 'Item')}]"
        if kind == "object":
            return f"dict[str, {self.type_of(schema.get('additionalProperties', True), name + 'Value')}]"
        return SCALARS.get(kind or "", "Any")

    def union(self, parts: list[Any], name: str) -> str:
        named = [p for p in parts if isinstance(p, dict) and p.get("type") != "null"]
        types: list[str] = []
        for number, part in enumerate(named, 1):
            one = self.type_of(part, name if len(named) == 1 else f"{name}{number}")
            if one not in types:
                types.append(one)
        if len(named) < len(parts):
            types.append("None")
        return "Any" if "Any" in types else " | ".join(types)

    def reference(self, name: str) -> str:
        if self.is_class(self.schemas[name]):
            return name
        return self.type_of(self.schemas[name], name)

    def add_class(self, name: str, schema: dict[str, Any]) -> None:
        if name in self.classes:
            return
        self.classes[name] = ""  # a class can refer to itself
        members, required = self.properties(schema)
        typed: dict[str, str] = {}
        for member, part in sorted(members.items()):
            text = self.type_of(part, name + member[:1].upper() + re.sub(r"\W", "", member[1:]))
            typed[member] = text if member in required else f"NotRequired[{text}]"
        description = " ".join(schema.get("description", "").split())
        if all(member.isidentifier() and not keyword.iskeyword(member) for member in typed):
            lines = [f"class {name}(TypedDict):"]
            if description:
                lines += [f'    """{description}"""'.replace("\\", "\\\\"), ""]
            lines += [f"    {member}: {text}" for member, text in typed.items()]
        else:
            lines = [f"{name} = TypedDict(", f'    "{name}",', "    {"]
            lines += [f'        "{member}": {json.dumps(text)},' for member, text in typed.items()]
            lines += ["    },", ")"]
        self.classes[name] = "\n".join(lines)


def snake(name: str) -> str:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.replace("-", "_")).lower()
    return name + "_" if keyword.iskeyword(name) else name


class Operation:
    """One operation of the API as a method."""

    def __init__(self, document: Document, method: str, path: str, operation: dict[str, Any]) -> None:
        self.document, self.method, self.path, self.operation = document, method, path, operation
        self.id: str = operation["operationId"]
        self.name = snake(self.id)
        self.title = self.id[:1].upper() + self.id[1:]
        self.parameters = [document.resolve(p) for p in operation.get("parameters", [])]

    def response(self) -> tuple[str, str]:
        """Return how the response is read (none, list, data, json or raw) and its type."""
        kinds: list[tuple[str, str]] = []
        for status, part in self.operation["responses"].items():
            if not status.startswith("2") or status == "206":
                continue
            part = self.document.resolve(part)
            content = part.get("content", {})
            if not content:
                return "none", "None"
            if "text/csv" in content or "application/json" not in content:
                return "raw", "Response"
            schema = content["application/json"]["schema"]
            name = self.title + ("Response" if status != "207" else "Partial")
            if "Link" in part.get("headers", {}):
                return "list", f"Iterator[{self.document.type_of(schema['items'], self.title + 'Item')}]"
            choices = []
            for choice in schema.get("oneOf") or schema.get("anyOf") or [schema]:
                whole = self.document.resolve(choice)
                members = whole.get("properties", {})
                choices.append(self.document.type_of(members["data"], name) if set(members) == {"data", "meta"} else self.document.type_of(choice, name))
            kinds.append(("data", " | ".join(choices)))
        return "data", " | ".join(text for _, text in kinds)

    def body(self) -> tuple[str, bool]:
        """Return the type of the body, empty for none, and whether it is required."""
        if "requestBody" not in self.operation:
            return "", False
        body = self.document.resolve(self.operation["requestBody"])
        content = body["content"]
        if "application/octet-stream" in content:
            return "Body | Mapping[str, Any]", True
        types = [self.document.type_of(part.get("schema", {}), self.title + "Body") for media, part in content.items() if media.endswith("json")]
        if "application/yaml" in content:
            types.append("str")
        return " | ".join(dict.fromkeys(types)), body.get("required", False)

    def code(self) -> str:
        kind, result = self.response()
        body, required = self.body()
        path = [p for p in self.parameters if p["in"] == "path"]
        query = [p for p in self.parameters if p["in"] == "query"]
        signature = ["self"] + [f"{snake(p['name'])}: {'int' if p['schema'].get('type') == 'integer' else 'str'}" for p in path]
        if body:
            signature.append(f"body: {body}" if required else f"body: {body} | None = None")
        named = []
        for p in sorted(query, key=lambda p: not p.get("required")):
            text = "Sequence[str]" if p["schema"].get("type") == "array" else self.document.type_of(p["schema"], self.title + p["name"].capitalize())
            named.append(f"{snake(p['name'])}: {text}" + ("" if p.get("required") else " | None = None"))
        if "content_type" in self.options():
            named.append("content_type: str | None = None")
        if "idempotency_key" in self.options():
            named.append("idempotency_key: str | None = None")
        named.append("headers: Mapping[str, str] | None = None")
        target = re.sub(r"\{(\w+)\}", lambda m: "{_quote(" + ("str(" + snake(m[1]) + ")" if any(p["name"] == m[1] and p["schema"].get("type") == "integer" for p in path) else snake(m[1])) + ", safe='')}", self.path)
        target = f'f"{target}"' if "{" in target else f'"{target}"'
        pairs = ", ".join(f'"{p["name"]}": {snake(p["name"])}' for p in query)
        arguments = [f'"{self.method}"', target, f"{{{pairs}}}"]
        if body:
            arguments.append("body=body")
        arguments += [f"{option}={option}" for option in self.options()] + ["headers=headers"]
        summary = " ".join(self.operation["summary"].split()).rstrip(".")
        call = {"none": "self._none", "list": "self._list", "data": "self._data", "raw": "self._raw"}[kind]
        lines = [f"    def {self.name}("] + [f"        {one}," for one in signature + ["*"] + named] + [f"    ) -> {result}:"]
        lines += [f'        """{summary}: ``{self.method} {self.path}``."""']
        lines += [f"        {'' if kind == 'none' else 'return '}{call}({', '.join(arguments)})"]
        return "\n".join(lines)

    def options(self) -> list[str]:
        options = ["content_type"] if self.body()[0] else []
        return options + (["idempotency_key"] if self.method in ("POST", "PUT") else [])


def generate(document: Document) -> tuple[str, str]:
    operations = []
    for path, item in sorted(document.document["paths"].items()):
        for method, operation in sorted(item.items()):
            operations.append(Operation(document, method.upper(), path, operation))
    methods = "\n\n".join(o.code() for o in sorted(operations, key=lambda o: o.name))
    for name, schema in sorted(document.schemas.items()):
        if document.is_class(schema):
            document.add_class(name, schema)
    aliases = [f"{name}: TypeAlias = {document.reference(name)}" for name, schema in sorted(document.schemas.items()) if not document.is_class(schema)]
    # Classes come first in the file: annotations are evaluated late, aliases immediately.
    classes = [document.classes[name] for name in sorted(document.classes)]
    types = HEADER.format("The JSON objects of the API.") + "\nfrom __future__ import annotations\n\n"
    types += "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n\n\n"
    types += "\n\n\n".join(classes) + "\n\n" + "\n".join(aliases) + "\n"
    used = sorted(name for name in document.classes if re.search(rf"\b{name}\b", methods))
    code = HEADER.format("One method for each operation of the API.") + "\nfrom __future__ import annotations\n\n"
    code += "from collections.abc import Iterator, Mapping, Sequence\nfrom typing import Any, Literal\nfrom urllib.parse import quote as _quote\n\n"
    code += "from ._transport import Body, Response, Transport\nfrom .types import (\n" + "".join(f"    {name},\n" for name in used) + ")\n\n\n"
    code += 'class Operations(Transport):\n    """The operations of the API. `Client` adds typed rows."""\n\n' + methods + "\n"
    return types, code


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        generated = generate(Document(json.load(file)))
    sys.stdout.write(generated[0 if sys.argv[2] == "types" else 1])
