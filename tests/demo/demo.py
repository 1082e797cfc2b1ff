#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo: real TCP traffic of three hosts through IPsec and back, computed by configurations loaded on demand.

Protects tests/demo/traffic.pcap on the board with both policies and on the CPU, takes the ESP back through the board,
and compares every packet. `make demo` builds what this needs and runs it.
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POLICIES = ("on-demand", "double-buffer")
CONFIGURATIONS = ("aes", "3des", "md5", "sha1")
SETS = ("aes128_encrypt", "tdes_encrypt", "md5", "sha1", "aes128_gcm_encrypt", "aes128_gcm_decrypt")


def say(text=""):
    print(text, flush=True)


def ace(binary, *args):
    """Runs one command of ace, shown as a user would type it; ends the demo if it fails."""
    say("$ ace " + " ".join(shlex.quote(str(arg)) for arg in args))
    done = subprocess.run([binary, *map(str, args)], cwd=ROOT, check=False)
    if done.returncode != 0:
        sys.exit(f"demo: the command above ended with exit code {done.returncode}")


def unsigned():
    """What tells ace to load what `make demo` has just built where the signed library has other bits; says of what."""

    def memory(folder, name):
        try:
            return json.loads((ROOT / "build" / folder / name / "manifest.json").read_text())["memory_sha256"]
        except (OSError, ValueError, KeyError):
            return None

    built = [name for name in CONFIGURATIONS if memory("library", name) != memory("configurations", name)]
    if not built:
        return []
    say(f"Not in the signed library as the sources are now, but built and proven here: {', '.join(built)}.")
    say("They are loaded because --unsigned says so.\n")
    return ["--unsigned"]


def run(binary, out, source, sas, name, *engine):
    """`ace run` with a JSON summary kept beside the output; returns (capture, summary)."""
    capture = out / f"{name}.pcap"
    args = ["run", source, "--sas", f"tests/demo/{sas}", "-o", capture, *engine]
    args += ["--iv-seed", "1", "--json"]
    say("$ ace " + " ".join(shlex.quote(str(arg)) for arg in args) + f" > {out / name}.json")
    done = subprocess.run([binary, *map(str, args)], cwd=ROOT, check=False, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"demo: the command above ended with exit code {done.returncode}")
    (ROOT / out / f"{name}.json").write_bytes(done.stdout)
    summary = json.loads(done.stdout)
    packets = summary["packets"]
    say(
        f"  {summary['frames']} packets in, {summary['written']} out"
        f" ({packets['protected']['packets']} protected, {packets['decapsulated']['packets']} decapsulated),"
        f" wall time {summary['wall_seconds']:.1f} s"
    )
    if summary["written"] != summary["frames"]:
        sys.exit(f"demo: {summary['frames'] - summary['written']} packets were lost: {packets['dropped']}")
    return capture, summary


def milliseconds(picos):
    return f"{picos / 1e9:12.3f} ms"


def table(title, summaries):
    """Where the modelled time of both policies went."""
    say(f"\n{title} (modelled time, not wall time)")
    rows = [
        ("total", "total"),
        ("a slot works", "executing"),
        ("only the host link works", "link_only"),
        ("only the host works", "host_only"),
        ("all wait for a configuration", "exposed_load"),
        ("nothing happens", "idle"),
        ("loads, all together", "load"),
        ("of these hidden behind work", "hidden_load"),
    ]
    totals = [summaries[policy]["board"]["totals"] for policy in POLICIES]
    say(f"  {'':32}" + "".join(f"{policy:>15}" for policy in POLICIES))
    for label, key in rows:
        say(f"  {label:32}" + "".join(milliseconds(t[key]) for t in totals))
    say(f"  {'loads':32}" + "".join(f"{t['loads']:15}" for t in totals))
    say(f"  {'operations that needed no load':32}" + "".join(f"{t['skipped_loads']:15}" for t in totals))
    say(f"  {'reconfiguration overhead':32}" + "".join(f"{100 * t['overhead']:13.1f} %" for t in totals))
    first, second = (t["exposed_load"] for t in totals)
    if first:
        say(
            f"  double buffering removes {100 * (1 - second / first):.1f} % of the overhead time",
        )


def array(totals):
    """Where the modelled time of slots that hold the array went."""
    load = totals["load"] / max(totals["loads"], 1) / 1e6
    say(
        f"  modelled time {milliseconds(totals['total']).strip()}, {totals['loads']} loads of {load:.1f} µs on average,"
    )
    say(f"  reconfiguration overhead {100 * totals['overhead']:.2f} %")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--ace", default="target/release/ace", help="the ace binary (default target/release/ace)"
    )
    parser.add_argument(
        "--out", default="build/demo", help="folder for captures and reports (default build/demo)"
    )
    args = parser.parse_args()
    binary = str(ROOT / args.ace)
    out = Path(args.out)
    (ROOT / out).mkdir(parents=True, exist_ok=True)
    traffic = Path("tests/demo/traffic.pcap")

    say(
        "The traffic: B and C download a file each from A (tests/demo/record.py recorded it in network namespaces)."
    )
    say("A-B: AES-128-CBC with HMAC-MD5-96; A-C: 3DES-CBC with HMAC-SHA-1-96.\n")

    own = unsigned()
    say("1. Protect it: on the board with both policies, and on the CPU as a second opinion.")
    protect, back = {}, {}
    for policy in POLICIES:
        report = out / f"report-{policy}"
        board = ["--policy", policy, "--report", report, *own]
        _capture, protect[policy] = run(binary, out, traffic, "protect.toml", f"esp-{policy}", *board)
    cpu, _ = run(binary, out, traffic, "protect.toml", "esp-cpu", "--engine", "cpu")
    for policy in POLICIES:
        ace(binary, "compare", out / f"esp-{policy}.pcap", cpu)

    say("\n2. Take the ESP back through the board.")
    for policy in POLICIES:
        report = out / f"report-back-{policy}"
        board = ["--policy", policy, "--report", report, *own]
        clear, back[policy] = run(
            binary, out, out / f"esp-{policy}.pcap", "unprotect.toml", f"clear-{policy}", *board
        )
        ace(binary, "compare", clear, traffic)
    clear, _ = run(binary, out, cpu, "unprotect.toml", "clear-cpu", "--engine", "cpu")
    ace(binary, "compare", clear, traffic)

    say("\n3. What reconfiguration cost.")
    table("Protecting", protect)
    table("Taking back", back)
    say("\n4. Protect it on slots that hold the multi-context array and load context sets (docs/array.md).")
    ace(binary, "array", "build", *SETS)
    board = ["--slots", "array", "--report", out / "report-array"]
    capture, summary = run(binary, out, traffic, "protect.toml", "esp-array", *board)
    ace(binary, "compare", capture, cpu)
    array(summary["board"]["totals"])

    say("\n5. The same traffic under suites of today (RFC 8221): A-B AES-128-GCM, A-C ChaCha20-Poly1305.")
    say(
        "The array computes AES-GCM. It has no frames for ChaCha20-Poly1305: --engine auto gives that to the CPU."
    )
    cpu, _ = run(binary, out, traffic, "protect-aead.toml", "esp-aead-cpu", "--engine", "cpu")
    board = ["--engine", "auto", "--slots", "array", "--report", out / "report-aead"]
    capture, summary = run(binary, out, traffic, "protect-aead.toml", "esp-aead", *board)
    ace(binary, "compare", capture, cpu)
    totals = summary["board"]["totals"]
    array(totals)
    say(f"  packets that the array protected: {totals['completed']}")
    clear, _ = run(binary, out, capture, "unprotect-aead.toml", "clear-aead", *board[:4])
    ace(binary, "compare", clear, traffic)
    say(f"\nThe timelines of the slots: {out}/report-*/report.html; traces for Perfetto beside them.")
    say("The demo succeeded: every packet that came back equals the original, byte for byte.")


if __name__ == "__main__":
    main()
