# SPDX-License-Identifier: Apache-2.0
"""The table of faults that are put into the RTL on purpose (flow/faults.toml): what is changed where."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from . import configurations, tools
from .tools import ROOT

TABLE = tools.FLOW / "faults.toml"
TESTS = ("known answers", "independence")


@dataclass(frozen=True)
class Fault:
    """One change of one line of text."""

    number: int
    algorithm: str
    configuration: str
    what: str
    file: str
    find: str
    replace: str
    caught_by: str = TESTS[0]


def load(path: Path = TABLE) -> list[Fault]:
    """The rows of the table; every text to be changed has to occur exactly once."""
    faults = []
    for number, row in enumerate(tomllib.loads(path.read_text()).get("fault", []), 1):
        try:
            fault = Fault(number, **row)
        except TypeError as error:
            raise configurations.ConfigurationError(f"{path}: fault {number}: {error}") from None
        if fault.caught_by not in TESTS:
            raise configurations.ConfigurationError(
                f"{path}: fault {number}: `caught_by` is {fault.caught_by!r}; allowed: {', '.join(TESTS)}"
            )
        text = (ROOT / fault.file).read_text()
        if text.count(fault.find) != 1 or fault.find == fault.replace:
            raise configurations.ConfigurationError(
                f"{path}: fault {number} ({fault.what}): {fault.find!r} occurs {text.count(fault.find)} times in "
                f"{fault.file}, once is wanted, and the replacement has to differ"
            )
        faults.append(fault)
    return faults
