/** A JSON number that is not an integer and that a JavaScript number would round. */
export class ExactNumber {
  /** The digits as they were sent. */
  readonly text: string;

  constructor(text: string) {
    if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) throw new SyntaxError(`${text} is not a JSON number`);
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** Converts the text of a number. `key` is the column for a member of a row, otherwise undefined. */
export type NumberReader = (text: string, key: string | undefined) => unknown;

/** A number that could be rounded has 16 digits or more, or an exponent. */
const risky = /[\d.]{16}|\d[eE]/;

/**
 * Parses JSON without loss. A number that a JavaScript number would round is a `bigint` if it is an integer,
 * otherwise an `ExactNumber`.
 */
export function parse(text: string): unknown {
  return risky.test(text) ? new Parser(text, readExact, false).parse() : JSON.parse(text);
}

/** Parses a row, and converts the numbers of its columns, and those of its old row `_before`, with `number`. */
export function parseRow(text: string, number: NumberReader, before: boolean): unknown {
  return new Parser(text, number, true, before).parse();
}

/** Reads a number that has no column type. */
export function readExact(text: string): number | bigint | ExactNumber {
  const value = Number(text);
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(value) ? value : BigInt(text);
  return normal(text) === normal(String(value)) ? value : new ExactNumber(text);
}

/** Returns the digits and the exponent of a number without redundant zeros. */
function normal(text: string): string {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${text.startsWith("-") ? "-" : ""}${significant}e${power}`;
}

class Parser {
  private at = 0;
  private readonly numbers = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

  constructor(
    private readonly text: string,
    private readonly number: NumberReader,
    private readonly row: boolean,
    private readonly before = false,
  ) {}

  parse(): unknown {
    const value = this.value(undefined, this.row);
    this.space();
    if (this.at < this.text.length) throw this.error();
    return value;
  }

  private value(key: string | undefined, row: boolean): unknown {
    this.space();
    switch (this.text[this.at]) {
      case "{":
        return this.object(row);
      case "[":
        return this.array();
      case '"':
        return this.string();
      case "t":
        return this.literal("true", true);
      case "f":
        return this.literal("false", false);
      case "n":
        return this.literal("null", null);
    }
    this.numbers.lastIndex = this.at;
    const found = this.numbers.exec(this.text);
    if (!found) throw this.error();
    this.at += found[0].length;
    return this.number(found[0], key);
  }

  private object(row: boolean): unknown {
    const object: Record<string, unknown> = {};
    this.at++;
    for (let first = true; !this.skip("}"); first = false) {
      if (!first && !this.skip(",")) throw this.error();
      this.space();
      const name = this.string();
      if (!this.skip(":")) throw this.error();
      const value = this.value(row ? name : undefined, row && this.before && name === "_before");
      if (name === "__proto__") {
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      } else {
        object[name] = value;
      }
    }
    return object;
  }

  private array(): unknown[] {
    const array: unknown[] = [];
    this.at++;
    for (let first = true; !this.skip("]"); first = false) {
      if (!first && !this.skip(",")) throw this.error();
      array.push(this.value(undefined, false));
    }
    return array;
  }

  private string(): string {
    const start = this.at;
    if (this.text[start] !== '"') throw this.error();
    let end = this.text.indexOf('"', start + 1);
    const escape = this.text.indexOf("\\", start + 1);
    if (end > 0 && (escape < 0 || escape > end)) {
      this.at = end + 1;
      return this.text.slice(start + 1, end);
    }
    for (end = start + 1; this.text[end] !== '"'; end++) {
      if (end >= this.text.length) throw this.error();
      if (this.text[end] === "\\") end++;
    }
    this.at = end + 1;
    return JSON.parse(this.text.slice(start, end + 1)) as string;
  }

  private literal<T>(text: string, value: T): T {
    if (!this.text.startsWith(text, this.at)) throw this.error();
    this.at += text.length;
    return value;
  }

  private skip(character: string): boolean {
    this.space();
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private space(): void {
    for (let c = this.text.charCodeAt(this.at); c === 32 || c === 10 || c === 13 || c === 9; c = this.text.charCodeAt(this.at)) this.at++;
  }

  private error(): SyntaxError {
    return new SyntaxError(`the response is not valid JSON at character ${this.at + 1}`);
  }
}

/** Serializes JSON like `JSON.stringify`. A `bigint` and an `ExactNumber` become JSON numbers with all their digits. */
export function stringify(value: unknown): string {
  const text = write(value);
  if (text === undefined) throw new TypeError(`a ${typeof value} is not JSON`);
  return text;
}

function write(value: unknown): string | undefined {
  if (typeof value === "bigint" || value instanceof ExactNumber) return value.toString();
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if ("toJSON" in value && typeof value.toJSON === "function") return write(value.toJSON());
  if (Array.isArray(value)) return `[${value.map((v) => write(v) ?? "null").join(",")}]`;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = write(member);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join(",")}}`;
}
