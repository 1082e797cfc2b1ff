# SPDX-License-Identifier: Apache-2.0
"""Registers that are functions of others: of two that are functions of each other one is made out of the other, never both."""

import unittest
from types import SimpleNamespace
from unittest import mock

from ace_flow.equiv import derive
from ace_flow.equiv.derive import Function

A, B, C, D = (("rtl", name) for name in "abcd")
SAME = (0, 1)


def alias(of: tuple[str, str]) -> Function:
    return Function((of,), SAME)


def proposed(functions: dict, words: list) -> dict:
    """What is found of registers that a simulation shows as these functions, before anybody proves it."""
    keys = {key for function in functions.values() for key in function.registers} | functions.keys()
    matching = SimpleNamespace(
        colours=dict.fromkeys(sorted(keys), ("left",)), columns={}, next={}, v=None, _once=lambda: None
    )
    shown = {word: {key: f for key, f in functions.items() if f.registers == word} for word in words}
    with (
        mock.patch.object(derive, "_words", lambda _, prefix: words if prefix == "rtl" else []),
        mock.patch.object(derive, "_functions", lambda word, *_: shown[word]),
        mock.patch.object(derive, "_confirmed", lambda _, found: found),
    ):
        return {key: function for key, (_, function) in derive.derived(matching).items()}


def entry(found: dict, key: tuple[str, str]) -> object:
    """A register in the solver's words, as the proof has it."""
    matching = SimpleNamespace(colours={})
    return derive._Terms(matching, found)._input(":".join(key))


class Rests(unittest.TestCase):
    def test_on_itself(self) -> None:
        self.assertTrue(derive._rests_on({}, alias(A), A))
        self.assertTrue(derive._rests_on({}, Function((B, A), (0, 1, 1, 0)), A))

    def test_on_what_is_made_of_it(self) -> None:
        found = {A: alias(B)}
        self.assertTrue(derive._rests_on(found, alias(A), B))
        self.assertFalse(derive._rests_on(found, alias(A), C))
        # Over one in between, and behind a second register of a function.
        found = {A: alias(B), B: Function((D, C), (0, 1, 1, 0))}
        self.assertTrue(derive._rests_on(found, alias(A), C))
        self.assertTrue(derive._rests_on(found, alias(A), D))
        self.assertFalse(derive._rests_on(found, alias(C), A))

    def test_the_question_ends_where_others_rest_on_each_other(self) -> None:
        self.assertFalse(derive._rests_on({A: alias(B), B: alias(A)}, alias(A), C))

    def test_of_two_that_are_functions_of_each_other_one_is_made_out_of_the_other(self) -> None:
        found = proposed({A: alias(B), B: alias(A)}, [(B,), (A,)])
        self.assertEqual(found, {A: alias(B)})
        self.assertIn("rtl:b", str(entry(found, A)))
        # The other way round, if the other one is asked first; of three in a ring two.
        self.assertEqual(proposed({A: alias(B), B: alias(A)}, [(A,), (B,)]), {B: alias(A)})
        ring = proposed({A: alias(B), B: alias(C), C: alias(A)}, [(B,), (C,), (A,)])
        self.assertEqual(ring, {A: alias(B), B: alias(C)})
        for key in (A, B, C):
            entry(ring, key)

    def test_without_the_question_the_solver_s_words_have_no_end(self) -> None:
        with mock.patch.object(derive, "_rests_on", lambda *_: False):
            both = proposed({A: alias(B), B: alias(A)}, [(B,), (A,)])
        self.assertEqual(both.keys(), {A, B})
        with self.assertRaises(RecursionError):
            entry(both, A)


if __name__ == "__main__":
    unittest.main()
