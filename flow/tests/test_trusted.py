# SPDX-License-Identifier: Apache-2.0
"""What proofs rest on is written down whole: what a trusted file imports is trusted, or can only propose."""

import ast
import tomllib
import unittest
from pathlib import Path

from ace_flow import tools

LIST = tomllib.loads((tools.FLOW / "trusted.toml").read_text())


def imported(path: Path) -> set[Path]:
    """The files of the flow that a file of the flow imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                modules = [name.name for name in names]
            case ast.ImportFrom(module=module, names=names) if module:
                modules = [module, *(f"{module}.{name.name}" for name in names)]
            case _:
                continue
        for module in modules:
            file = tools.FLOW / f"{module.replace('.', '/')}.py"
            if module.startswith("ace_flow") and file.is_file():
                found.add(file)
    return found


class Base(unittest.TestCase):
    def setUp(self) -> None:
        parts = LIST["part"]
        self.trusted = [tools.ROOT / name for part in parts for name in part["files"]]
        self.proposing = [tools.ROOT / name for part in parts for name in part.get("proposes", [])]

    def test_all_of_it_is_there(self) -> None:
        for path in [*self.trusted, *self.proposing]:
            self.assertTrue(path.exists(), path)
        self.assertEqual(len(set(self.trusted)), len(self.trusted))

    def test_what_is_trusted_imports_what_is_trusted(self) -> None:
        known = {*self.trusted, *self.proposing}
        followed = [tools.ROOT / name for p in LIST["part"] if not p.get("ends") for name in p["files"]]
        for path in followed:
            if path.suffix == ".py":
                unknown = sorted(str(p.relative_to(tools.ROOT)) for p in imported(path) - known)
                self.assertEqual(
                    unknown, [], f"{path.relative_to(tools.ROOT)} imports them: flow/trusted.toml"
                )


if __name__ == "__main__":
    unittest.main()
