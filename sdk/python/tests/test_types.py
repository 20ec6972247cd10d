from __future__ import annotations

import typing
import unittest
from decimal import Decimal

import feedmill
import feedmill._json as lossless
import feedmill._operations as operations
import feedmill.types as types


class TypesTest(unittest.TestCase):
    def test_every_type_resolves(self) -> None:
        classes = [c for c in vars(types).values() if hasattr(c, "__required_keys__")]
        self.assertGreater(len(classes), 100)
        for one in classes:
            typing.get_type_hints(one)
        names = {**vars(types), **vars(operations)}
        methods = [m for name, m in vars(operations.Operations).items() if not name.startswith("_")]
        self.assertGreater(len(methods), 80)
        for method in methods:
            self.assertIn("return", typing.get_type_hints(method, names))

    def test_exported_names(self) -> None:
        for name in feedmill.__all__:
            self.assertTrue(hasattr(feedmill, name), name)

    def test_json_keeps_numbers(self) -> None:
        for text in ("0.1", "1e400", "0.1000000000000000055", "9007199254740993", "12345678901234567890123456789.012345678", "-0.00000001", "1E+400"):
            back = lossless.dumps(lossless.loads(text))
            self.assertEqual(Decimal(back), Decimal(text), text)
        self.assertEqual(lossless.dumps({"a": [1, Decimal("1.10"), None, "ü\n", True, (2.5,)]}), '{"a":[1,1.10,null,"\\u00fc\\n",true,[2.5]]}')
        self.assertIsInstance(lossless.loads("2.5"), float)
        for bad in (float("nan"), Decimal("inf")):
            with self.assertRaises(ValueError):
                lossless.dumps([bad])
        with self.assertRaises(TypeError):
            lossless.dumps({1: 2})


if __name__ == "__main__":
    unittest.main()
