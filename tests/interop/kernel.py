# SPDX-License-Identifier: Apache-2.0
"""ESP and AH against Linux: Debian's kernel under qemu, its own xfrm, both ways (docs/gateway.md, docs/data-plane.md).

python tests/interop/kernel.py --ace target/release/ace

Echo requests that we protect go to a machine that takes nothing else; what it answers, protected by its kernel, we
open. With a wrong bit it must be silent, and so must we. Then `ace gateway` and the kernel talk in UDP. Needs root for
namespaces of its own, and qemu; the kernel's packages are fetched into build/kernel and not installed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kernel_image
import kernel_world
from kernel_world import GUEST, GUEST_MAC, HOST, HOST_MAC, Tap, echo, run, tell

# Seconds for the machine to be up, in software alone, on a machine that has other things to do.
BOOT = 240
# Seconds for all answers.
ANSWERS = 20


def boot(folder, script):
    """Starts the machine; its console goes into a file."""
    kernel, image = kernel_image.make(folder, script)
    console = folder / "console"
    command = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "512", "-display", "none"]
    command += ["-no-reboot", "-serial", f"file:{console}", "-monitor", "none"]
    command += ["-kernel", str(kernel), "-initrd", str(image), "-append", "console=ttyS0 quiet panic=-1"]
    command += ["-netdev", "tap,id=wire,ifname=wire,script=no,downscript=no"]
    command += ["-device", f"virtio-net-pci,netdev=wire,mac={GUEST_MAC},romfile="]
    machine = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    begin = time.monotonic()
    while time.monotonic() - begin < BOOT:
        printed = console.read_text(errors="replace") if console.exists() else ""
        if machine.poll() is not None or "Kernel panic" in printed:
            break
        if "ACE READY" in printed:
            print(f"{kernel.name} is up after {time.monotonic() - begin:.0f} s", flush=True)
            return machine, printed
        time.sleep(0.2)
    machine.kill()
    sys.exit(f"kernel.py: the machine did not come up within {BOOT} s; its console said:\n{printed[-2000:]}")


def exchange(ace, folder, sas):
    """Requests out, answers back: for each SA how many of how many, and how many of those with a wrong bit."""
    ours, clear = folder / "sas.toml", folder / "clear.pcap"
    sealed, heard, opened = folder / "sealed.pcap", folder / "heard.pcap", folder / "opened.pcap"
    ours.write_text("allow_legacy = true\n" + "".join(sa.toml() for sa in sas))
    requests = [echo(sa, number) for sa in sas for number in range(sa.COUNT)]
    kernel_world.write_capture(clear, requests)
    run(ace, "run", clear, "--sas", ours, "-o", sealed, "--engine", "cpu")
    packets = kernel_world.read_capture(sealed)
    if len(packets) != len(requests):
        sys.exit(f"kernel.py: {len(packets)} of {len(requests)} packets were protected")
    with Tap() as tap:
        for at, packet in enumerate(packets):
            sa, last = sas[at // sas[0].COUNT], at % sas[0].COUNT == sas[0].COUNT - 1
            # The last one of each is damaged.
            tap.send(sa, packet[:-1] + bytes([packet[-1] ^ 1]) if last else packet)
        answers = tap.hear(sum(sa.COUNT - 1 for sa in sas), ANSWERS)
    kernel_world.write_capture(heard, answers)
    run(ace, "run", heard, "--sas", ours, "-o", opened, "--engine", "cpu")
    found = kernel_world.read_capture(opened)
    broken = [packet[:-1] + bytes([packet[-1] ^ 1]) for packet in answers]
    kernel_world.write_capture(heard, broken)
    run(ace, "run", heard, "--sas", ours, "-o", opened, "--engine", "cpu", code=1)
    if left := kernel_world.read_capture(opened):
        sys.exit(f"kernel.py: {len(left)} of the kernel's packets with a wrong bit were taken")
    return {sa.number: [echo(sa, n, reply=True) in found for n in range(sa.COUNT)] for sa in sas}, len(
        answers
    )


def live(ace, folder, sa):
    """`ace gateway` and the kernel in UDP: how many pings of how many are answered."""
    tell("address", "add", f"{HOST}/24", "dev", "wire")
    (folder / "live.toml").write_text("".join(sa.toml()))
    outer, inner = sa.inner
    (folder / "gateway.toml").write_text(
        f'sas = "live.toml"\ncontrol = "gateway.sock"\n[inside]\ntun = "ace0"\naddress = ["{outer}/32"]\n'
        f'routes = ["{inner}/32"]\n[outside]\nencapsulation = "udp"\n'
    )
    gateway = subprocess.Popen([ace, "gateway", folder / "gateway.toml"], stderr=subprocess.PIPE, text=True)
    try:
        for line in gateway.stderr:
            if "ready" in line:
                break
        return kernel_world.pings(inner, 20)
    finally:
        gateway.kill()
        gateway.wait()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--ace", required=True, type=Path)
    ace = arguments.parse_args().ace.resolve()
    if missing := kernel_image.missing():
        print(f"kernel.py: nothing was checked: {missing}", file=sys.stderr)
        return
    if os.environ.get("ACE_KERNEL_INSIDE") != "1":
        # A network of its own, which goes with the last process in it.
        command = ["unshare", "--net", sys.executable, __file__, "--ace", str(ace)]
        sys.exit(subprocess.run(command, check=False, env=os.environ | {"ACE_KERNEL_INSIDE": "1"}).returncode)
    begin = time.monotonic()
    listed = json.loads(run(ace, "sas", "suites", "--json").stdout)
    sas, encapsulated = kernel_world.make(listed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tell("link", "set", "lo", "up")
        tell("tuntap", "add", "dev", "wire", "mode", "tap")
        # As the machine has it for its neighbour.
        tell("link", "set", "wire", "address", HOST_MAC)
        tell("link", "set", "wire", "up")
        machine, printed = boot(folder, kernel_world.script([*sas, encapsulated]))
        try:
            unknown = {int(number) for number in re.findall(r"ACE REFUSED (\d+)", printed)}
            known = [sa for sa in sas if sa.number not in unknown]
            if unknown:
                print(printed[-1500:])
            if not known:
                sys.exit("kernel.py: the machine takes no SA at all")
            verdicts, answers = exchange(ace, folder, known)
            pings = live(ace, folder, encapsulated)
        finally:
            machine.kill()
            machine.wait()
    wrong = [sa for sa in known if verdicts[sa.number] != [True] * (sa.COUNT - 1) + [False]]
    for sa in sas:
        result = "the kernel has it not" if sa.number in unknown else "both ways"
        if sa in wrong:
            result = f"answered: {verdicts[sa.number]}, of which the last was damaged"
        print(f"  {sa.name}: {result}")
    print(f"{len(known)} SAs, {answers} answers; those with a wrong bit were dropped on both sides")
    print(f"in UDP, ace gateway and {GUEST}: {sum(pings)} of {len(pings)} pings")
    print(f"in {time.monotonic() - begin:.0f} s")
    sys.exit(bool(wrong or unknown or not all(pings)))


if __name__ == "__main__":
    if shutil.which("ip") is None:
        sys.exit("kernel.py: ip is not installed (Debian: apt-get install iproute2)")
    main()
