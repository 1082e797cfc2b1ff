# SPDX-License-Identifier: Apache-2.0
"""The RTL of the study of 2002: what its cores compute, and that its interface tells the completion neither too early
nor later than it has to."""

import random
import subprocess
import unittest

from ace_flow.sim import harness

FOLDER = "studies/pilchard-2002"
SOURCES = [
    "algorithms/des/rtl/des_pkg.sv",
    *(f"{FOLDER}/rtl/{name}.sv" for name in ("des_round", "des_rounds", "tdes_cascade", "block_port")),
    f"{FOLDER}/test/pilchard_bench.sv",
]
# Clocks of the core and of the host, as pilchard_bench has them.
PORTS = [(5, 1), (3, 7), (4, 4)]


def openssl(cipher: str, key: str, data: str, *arguments: str) -> str:
    """What OpenSSL makes of data, in hexadecimal."""
    command = ["openssl", "enc", f"-{cipher}", "-K", key, "-nopad", *arguments]
    done = subprocess.run(command, input=bytes.fromhex(data), capture_output=True, check=True)
    return done.stdout.hex()


class Pilchard(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.bench = harness.simulator("pilchard", "pilchard_bench", SOURCES, f"{FOLDER}/test/bench.cc")

    def ask(self, requests: list[str]) -> list[list[str]]:
        ran = subprocess.run(
            [str(self.bench)], input="\n".join(requests), capture_output=True, text=True, check=True
        )
        return [line.split() for line in ran.stdout.splitlines()]

    def test_all_cores_are_des(self) -> None:
        rng = random.Random(46)
        for decrypt in (0, 1):
            key = rng.randbytes(8).hex()
            blocks = [rng.randbytes(8).hex() for _ in range(60)]
            # Under one key three times triple DES is DES.
            wanted = openssl("des-ede3", key * 3, "".join(blocks), "-d" if decrypt else "-e")
            answers = self.ask([f"des {key} {block} {decrypt}" for block in blocks])
            self.assertEqual(len(answers), len(blocks))
            for i, answer in enumerate(answers):
                self.assertEqual(set(answer[::2]), {wanted[16 * i : 16 * i + 16]})
                self.assertEqual(answer[1::2], ["17", "9", "5", "3", "2", "17"])

    def test_blocks_through_the_interface_are_triple_des_in_cbc(self) -> None:
        for n, decrypt in ((1, 0), (2, 1), (31, 1), (248, 0), (248, 1)):
            (answer,) = self.ask([f"port 0 {n} {decrypt} 1 {n + decrypt}"])
            keys, iv, words = answer[2:5], answer[5], answer[6:]
            data, made = "".join(words[:n]), "".join(words[n:])
            how = ["-d" if decrypt else "-e", "-iv", iv]
            self.assertEqual(openssl("des-ede3-cbc", "".join(keys), data, *how), made)

    def test_a_read_at_the_completion_never_overtakes_and_a_clock_earlier_would(self) -> None:
        for kind, (core, read) in enumerate(PORTS):
            for n in (1, 2, 3, 7, 100, 247, 248):
                # All interfaces are given what one is given: other words, so that what is not there yet shows.
                good, early = self.ask([f"port {2 * kind + e} {n} 0 {read} {n + 1000 * e}" for e in (0, 1)])
                moment = max(core, n * core - (n - 1) * read) + 2
                self.assertEqual((int(good[0]), int(good[1])), (moment, 0), (core, read, n))
                self.assertEqual(int(early[0]), moment - 1)
                self.assertGreater(int(early[1]), 0, (core, read, n))


if __name__ == "__main__":
    unittest.main()
