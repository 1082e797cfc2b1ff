# SPDX-License-Identifier: Apache-2.0
"""Proves that what the array's sources say is the standards' function, for all keys and blocks (docs/proof.md).

    python -m ace_flow standard-sets [NAME...] --ace target/release/ace     proves all, has a control of each refuted

The sources are the graphs of `ace array graph`, which `ace library verify` finds in every signed set. The standards are
written down in set_ciphers.py, set_gcm.py, set_chacha.py, set_cast.py, set_idea.py and set_hashes.py, and first have to give a published answer. A
cipher whose key an array's set expands is compared from the raw key on; MARS and CAST-256 from their round keys on, which the
host makes. Of each a control, the standard with one bit of one operation turned, has to be another function.
"""

import argparse
import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ace_flow import tools
from ace_flow.equiv import set_cast, set_chacha, set_ciphers, set_gcm, set_hashes, set_idea
from ace_flow.equiv import standard_functions as of
from ace_flow.equiv.set_ciphers import Bytes, split, words
from ace_flow.equiv.set_graphs import evaluated
from ace_flow.equiv.set_terms import Terms, TooLargeError, Word

Spec = Callable[..., list[Word]]


@dataclass(frozen=True)
class Standard:
    """What the sets whose names begin like this compute."""

    stem: str
    algorithm: str
    text: str
    # Of the terms, the graph's tables, the key (its words if the host makes them), the block and the direction.
    spec: Spec


def plain(function: Spec) -> Spec:
    return lambda t, tables, key, block, decrypt: function(t, key, block, decrypt)


def hashed(function: Spec, big: bool) -> Spec:
    def spec(t: Terms, tables: list, key: list, block: Bytes, decrypt: bool) -> list[Word]:
        all_words = words(block, big)
        return split(function(t, all_words[:-16], all_words[-16:]), big)

    return spec


def cast128(rounds: int) -> Spec:
    return lambda t, tables, key, block, decrypt: set_cast.cast128(t, tables, rounds, key, block, decrypt)


def mars(t: Terms, tables: list, key: Sequence[Word], block: Bytes, decrypt: bool) -> list[Word]:
    cipher = set_cast.Mars(t)
    return (cipher.decrypt if decrypt else cipher.encrypt)(key, block)


STANDARDS = [
    Standard("aes128_gcm", "aes", "SP 800-38D", plain(set_gcm.gcm)),
    Standard("aes192_gcm", "aes", "SP 800-38D", plain(set_gcm.gcm)),
    Standard("aes256_gcm", "aes", "SP 800-38D", plain(set_gcm.gcm)),
    Standard("aes128", "aes", "FIPS 197", plain(set_ciphers.aes)),
    Standard("aes192", "aes", "FIPS 197", plain(set_ciphers.aes)),
    Standard("aes256", "aes", "FIPS 197", plain(set_ciphers.aes)),
    Standard("cast128_short", "cast128", "RFC 2144", cast128(12)),
    Standard("cast128", "cast128", "RFC 2144", cast128(16)),
    Standard(
        "chacha20_half",
        "chacha20poly1305",
        "RFC 8439",
        lambda t, tables, key, block, decrypt: set_chacha.chacha20_half(t, block),
    ),
    Standard("cast256", "cast256", "RFC 2612, 2.2", lambda t, *rest: set_cast.cast256(t, *rest)),
    Standard("des", "des", "FIPS 46-3", plain(set_ciphers.des)),
    Standard("tdes", "3des", "SP 800-67", plain(set_ciphers.des)),
    Standard("idea", "idea", "Lai, 1992", plain(set_idea.idea)),
    Standard("mars", "mars", "MARS's submission, 2", mars),
    Standard("md5", "md5", "RFC 1321", hashed(set_hashes.md5, False)),
    Standard("rc6", "rc6", "RC6's paper", plain(set_ciphers.rc6)),
    Standard("serpent", "serpent", "Serpent's submission", plain(set_ciphers.serpent)),
    Standard("sha1", "sha1", "FIPS 180-4", hashed(set_hashes.sha1, True)),
    Standard("sha256", "sha256", "FIPS 180-4", hashed(set_hashes.sha256, True)),
    Standard("sm4", "sm4", "GB/T 32907", plain(set_ciphers.sm4)),
    Standard("twofish128", "twofish", "Twofish's paper", plain(set_ciphers.twofish)),
    Standard("twofish192", "twofish", "Twofish's paper", plain(set_ciphers.twofish)),
    Standard("twofish256", "twofish", "Twofish's paper", plain(set_ciphers.twofish)),
]


# A step of Poly1305 is arithmetic modulo 2^130 - 5 in limbs, of which these terms know nothing: known answers alone.
UNPROVEN = ("poly1305",)


def ordered(data: Bytes, order: str) -> list[Word]:
    """The words in which a set finds the bytes of a block (docs/array.md)."""
    if order != "des":
        return words(data, order == "big")
    # The stream's memories apply IP, and each half is turned right by one.
    bits = set_ciphers.upper(data)
    through = [bits[n - 1] for n in of.IP_TABLE]
    halves = [tuple(half[::-1]) for half in (through[:32], through[32:])]
    return [(*half[1:], half[0]) for half in halves]


def unordered(result: Sequence[Word], order: str) -> list[Word]:
    """The bytes of a result."""
    if order != "des":
        return split(result, order == "big")
    halves = [(half[-1], *half[:-1]) for half in result]
    through = [bit for half in halves for bit in half[::-1]]
    return set_ciphers.lower([through[n - 1] for n in of.FP_TABLE])


@dataclass
class Case:
    """A variant, and the one that expands its keys, if a set does."""

    standard: Standard
    name: str
    graph: dict
    keys: dict | None

    @property
    def graph_of(self) -> Callable:
        return set_idea.evaluated if self.standard.stem == "idea" else evaluated

    @property
    def key_bytes(self) -> int:
        return 4 * self.keys["input_words"] if self.keys else 0


def cases(graphs: dict[str, dict], names: Sequence[str]) -> list[Case]:
    out = []
    for name, graph in graphs.items():
        if (
            graph["keys"]
            or name in UNPROVEN
            or (names and not any(name.startswith(wanted) for wanted in names))
        ):
            continue
        standard = next(
            (one for one in STANDARDS if name == one.stem or name.startswith(f"{one.stem}_")), None
        )
        if standard is None:
            raise tools.ToolError(f"{name}: no standard is written down for it")
        expanders = [graphs[other] for other in graphs if other.startswith(f"{name}_keys")]
        out += [Case(standard, name, graph, keys) for keys in expanders or [None]]
    return out


@dataclass
class Compared:
    """What came of a comparison."""

    same: bool
    terms: int
    # Operations of the standard, and the values of its result for the random inputs.
    steps: int
    values: list[int]


def compared(case: Case, changed: int | None = None) -> Compared:
    """The graph and the standard, which has one operation changed for a control."""
    t = Terms(changed)
    block = [t.input(f"block {n}", 8) for n in range(4 * case.graph["input_words"])]
    raw: list[Word] = []
    if case.keys:
        raw = [t.input(f"key {n}", 8) for n in range(case.key_bytes)]
    elif case.graph["key_words"]:
        raw = [t.input(f"key {n}") for n in range(case.graph["key_words"])]
    wanted = case.standard.spec(t, tables(case), raw, block, case.graph["decrypt"])
    steps, t.changed = t.steps, None
    try:
        key = case.graph_of(t, case.keys, ordered(raw, case.keys["input"]), []) if case.keys else raw
        found = case.graph_of(t, case.graph, ordered(block, case.graph["input"]), key)
        same = unordered(found, case.graph["output"]) == wanted
    except TooLargeError:
        same = False
    return Compared(same, len(t.forms), steps, [t.values[bit] for byte in wanted for bit in byte])


def controlled(case: Case, good: Compared) -> bool:
    """Whether the standard with one operation changed is another function, and the comparison says so."""
    control = compared(case, good.steps * 19 // 20)
    return not control.same and control.values != good.values


def tables(case: Case) -> list[list[int]]:
    return [*case.graph["tables"], *(case.keys["tables"] if case.keys else [])]


def published(case: Case) -> bool | None:
    """Whether the standard as it is written down here gives a published answer; None if there is none for such a key."""
    packets = case.standard.stem.endswith("_gcm")
    path = tools.ROOT / "algorithms" / case.standard.algorithm / ("aes_gcm.csv" if packets else "kat.csv")
    with path.open() as file:
        rows = [*csv.reader(file)][1:]
    t = Terms()
    if packets:
        size = 2 * case.key_bytes
        row = next(
            (row for row in rows if len(row[1]) == size and [len(row[n]) for n in (2, 3, 4)] == [24, 0, 32]),
            None,
        )
        return None if row is None else set_gcm.answered(t, row, case.graph["decrypt"])
    size = 4 * case.graph["input_words"]
    if case.graph["chain"]:
        big = case.graph["input"] == "big"
        message, digest = next(
            (bytes.fromhex(row[2]), row[3]) for row in rows if not row[1] and len(row[2]) < 100
        )
        length = (8 * len(message)).to_bytes(8, "big" if big else "little")
        text = message + b"\x80" + bytes(55 - len(message)) + length
        state = b"".join(word.to_bytes(4, "big" if big else "little") for word in case.graph["chain"])
        key, data, answer = b"", state + text, bytes.fromhex(digest)
    else:
        fit = [row for row in rows if row[1] == "ECB" and padded(case, bytes.fromhex(row[2])) is not None]
        if not fit:
            return None
        raw, plain_text, cipher_text = (bytes.fromhex(fit[0][n]) for n in (2, 4, 5))
        key, data, answer = padded(case, raw) or b"", plain_text[:size], cipher_text[:size]
        if case.graph["decrypt"]:
            data, answer = answer, data
    words_of_key = [t.constant(byte, 8) for byte in key]
    if case.standard.stem == "mars":
        words_of_key = [t.constant(word) for word in set_cast.mars_keys(key)]
    elif case.standard.stem == "cast256":
        words_of_key = set_cast.cast256_keys(t, tables(case), key, case.graph["decrypt"])
    block = [t.constant(byte, 8) for byte in data]
    got = case.standard.spec(t, tables(case), words_of_key, block, case.graph["decrypt"])
    return bytes(t.known(byte) or 0 for byte in got) == answer


def padded(case: Case, raw: bytes) -> bytes | None:
    """A key as the set that expands it takes it, or None if it takes no such key."""
    stem, size = case.standard.stem, case.key_bytes
    if not case.keys:
        return raw
    if stem.startswith("cast128"):
        return raw.ljust(size, b"\0") if (len(raw) <= 10) == (stem == "cast128_short") else None
    if stem == "serpent":
        return raw if len(raw) == size else (raw + b"\1").ljust(size, b"\0")
    return raw if len(raw) == size else None


def main() -> int:
    parser = argparse.ArgumentParser(prog="ace_flow standard-sets", description=__doc__)
    parser.add_argument("names", nargs="*", help="variants, or what their names begin with")
    parser.add_argument("--ace", default="target/release/ace", help="the built binary")
    args = parser.parse_args()
    failed = 0
    try:
        text = subprocess.run([args.ace, "array", "graph"], check=True, capture_output=True, text=True).stdout
        print("| variant | key | standard | published answer | terms | result | control | CPU s |")
        print("|---|---|---|---|--:|---|---|--:|", flush=True)
        for case in cases(json.loads(text), args.names):
            start = time.process_time()
            answer = {True: "right", False: "WRONG", None: "none"}[published(case)]
            good = compared(case)
            control = "refuted" if controlled(case, good) else "NOT REFUTED"
            failed |= not good.same or control != "refuted" or answer == "WRONG"
            key = "no key" if not case.graph["key_words"] else "expanded by the host"
            key = f"{8 * case.key_bytes} bits" if case.keys else key
            result = "proven" if good.same else "NOT PROVEN"
            figures = [case.name, key, case.standard.text, answer, good.terms, result, control]
            print(f"| {' | '.join(map(str, figures))} | {time.process_time() - start:.1f} |", flush=True)
    except (tools.ToolError, OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
