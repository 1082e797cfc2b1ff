# SPDX-License-Identifier: Apache-2.0
"""What may be asked of a configuration, and tables of TOML that say where they are wrong."""

from dataclasses import dataclass, field
from typing import Any

MODES = ("ecb", "cbc", "ctr", "cfb", "cfb8", "ofb")
# What a row has that says nothing.
USUAL_MODES = MODES[:3]
# Modes in which the direction is not asked for.
KEY_STREAMS = ("ctr", "ofb")
DIRECTIONS = ("encrypt", "decrypt")
OPERATIONS = ("hash", "hmac-states", "hmac-key")


class ConfigurationError(Exception):
    """The table is wrong; the message says where and what is allowed."""


@dataclass(frozen=True)
class Capability:
    """What the engine may ask of a configuration, for one algorithm."""

    algorithm: str
    code: int
    kind: str
    block_bytes: int
    key_bytes: tuple[int, ...] = ()
    directions: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    digest_bytes: int = 0
    operations: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the manifest holds it."""
        common = {
            "algorithm": self.algorithm,
            "code": self.code,
            "kind": self.kind,
            "block_bytes": self.block_bytes,
        }
        if self.kind == "cipher":
            return common | {
                "key_bytes": list(self.key_bytes),
                "directions": list(self.directions),
                "modes": list(self.modes),
            }
        return common | {"digest_bytes": self.digest_bytes, "operations": list(self.operations)}


@dataclass
class Row:
    """A TOML table that knows where it stands and which keys have been asked for."""

    where: str
    values: dict[str, Any]
    seen: set[str] = field(default_factory=set)

    def fail(self, message: str) -> ConfigurationError:
        return ConfigurationError(f"{self.where}: {message}")

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = None, required: bool = True) -> Any:
        self.seen.add(key)
        if key not in self.values:
            if required and default is None:
                raise self.fail(f"`{key}` is missing")
            return default
        value = self.values[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            kinds = kind if isinstance(kind, tuple) else (kind,)
            wanted = " or ".join(k.__name__ for k in kinds)
            raise self.fail(f"`{key}` is {type(value).__name__}, {wanted} wanted")
        return value

    def choices(self, key: str, allowed: tuple[str, ...], default: tuple[str, ...]) -> tuple[str, ...]:
        values = self.get(key, list, list(default))
        for value in values:
            if value not in allowed:
                raise self.fail(f"`{key}` has {value!r}; allowed: {', '.join(allowed)}")
        if not values:
            raise self.fail(f"`{key}` is empty; allowed: {', '.join(allowed)}")
        return tuple(values)

    def integers(self, key: str, low: int, high: int, default: list[int] | None = None) -> tuple[int, ...]:
        values = self.get(key, list, default)
        if not values or not all(isinstance(v, int) and low <= v <= high for v in values):
            raise self.fail(f"`{key}` must be a list of whole numbers from {low} to {high}")
        if len(set(values)) != len(values):
            raise self.fail(f"`{key}` names a number twice")
        return tuple(values)

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        value = self.get(key, int, default)
        if not low <= value <= high:
            raise self.fail(f"`{key}` is {value}; {low} to {high} are allowed")
        return value

    def finish(self) -> None:
        unknown = sorted(set(self.values) - self.seen)
        if unknown:
            raise self.fail(f"unknown key `{unknown[0]}`; known: {', '.join(sorted(self.seen))}")


def capability(row: Row) -> Capability:
    algorithm = row.get("algorithm", str)
    code = row.integer("code", 1, 255)
    kind = row.get("kind", str)
    if kind == "cipher":
        made = Capability(
            algorithm=algorithm,
            code=code,
            kind=kind,
            block_bytes=row.integer("block_bytes", 8, 16),
            key_bytes=row.integers("key_bytes", 5, 56),
            directions=row.choices("directions", DIRECTIONS, DIRECTIONS),
            modes=row.choices("modes", MODES, USUAL_MODES),
        )
    elif kind == "hash":
        made = Capability(
            algorithm=algorithm,
            code=code,
            kind=kind,
            block_bytes=row.integer("block_bytes", 64, 128),
            digest_bytes=row.integer("digest_bytes", 16, 64),
            operations=row.choices("operations", OPERATIONS, OPERATIONS),
        )
    else:
        raise row.fail(f"`kind` is {kind!r}; allowed: cipher, hash")
    row.finish()
    return made
