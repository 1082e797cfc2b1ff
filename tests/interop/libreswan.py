#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libreswan's pluto, unmodified, at one end and strongSwan's charon at the other, with `ace gateway` for the kernel of both:
each of them asks the other; two subnets behind one end; SAs that are replaced under pings; the first packet asks for the
SA. All that passes the wire is looked at: nothing may be in clear.
Needs root and what tests/interop/charon.sh has fetched; Debian's packages of libreswan are fetched into build/libreswan
and not installed."""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from orders_charon import Charon
from orders_world import MODES, Fault, World, run, until

BUILD = HERE.parents[1] / "build"
PACKAGES = (
    "libreswan libldns3 libevent-core-2.1-7 libevent-pthreads-2.1-7 libunbound8 libnss3 libnss3-tools "
    "libcurl3-nss"
)
# Two subnets of the net behind b: each of them has its own SAs.
SUBNETS = {"low": ("10.0.2.0/25", "10.0.2.2"), "high": ("10.0.2.128/25", "10.0.2.130")}
CHILD = """{name} {{
    local_ts = {net}
    remote_ts = 10.0.1.0/24
    esp_proposals = aes128gcm16,chacha20poly1305,aes256-sha256
    rekey_time = 0
    start_action = none
  }}
  """
CHARON = """connections {{ t {{
  version = 2
  local_addrs = 192.0.2.2
  remote_addrs = 192.0.2.1
  encap = yes
  dpd_delay = 1
  proposals = aes256-sha256-modp2048
  local {{ auth = psk
    id = @b
  }}
  remote {{ auth = psk
    id = @a
  }}
  children {{ {children}
  }}
}} }}
secrets {{ ike-1 {{ secret = "of both ends"
}} }}
"""
PLUTO = """config setup
  logfile={folder}/pluto.log
  uniqueids=yes
conn %default
  ikev2=insist
  authby=secret
  ike=aes256-sha2_256;modp2048
  type=tunnel
  left=192.0.2.1
  leftid=@a
  leftsubnet=10.0.1.0/24
  leftupdown=%disabled
  right=192.0.2.2
  rightid=@b
  encapsulation=yes
  pfs=no
  auto=ignore
"""
CONN = """conn {name}
  rightsubnet={net}
  esp={esp}
"""


def fetch():
    """Debian's packages, beside each other in a folder of their own."""
    folder = BUILD / "libreswan"
    if not (folder / "root/usr/libexec/ipsec/pluto").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run("apt-get", "download", "-q", *PACKAGES.split(), cwd=folder)
        for package in folder.glob("*.deb"):
            run("dpkg", "-x", package, folder / "root")
    return folder


class Pluto:
    """Libreswan's daemon on a machine."""

    def __init__(self, machine, packages, library):
        self.machine, self.root = machine, packages / "root"
        self.folder = machine.path("-pluto")
        self.process = None
        self.environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(self.root / "usr/lib/x86_64-linux-gnu"),
        }
        self.preload = {"LD_PRELOAD": str(library), "ACE_XFRM": str(machine.path(".xfrm"))}
        for sub in ("", "nss", "run", "ipsec.d"):
            (self.folder / sub).mkdir(exist_ok=True)
        suites = {"low": "aes_gcm128", "high": "aes256-sha2_256"}
        conf = PLUTO.format(folder=self.folder)
        conf += "".join(CONN.format(name=n, net=net, esp=suites[n]) for n, (net, _) in SUBNETS.items())
        (self.folder / "ipsec.conf").write_text(conf)
        (self.folder / "ipsec.secrets").write_text('@a @b : PSK "of both ends"\n')
        self.tool("usr/bin/certutil", "-N", "-d", f"sql:{self.folder / 'nss'}", "--empty-password")

    def tool(self, path, *words, check=True):
        return run(
            "ip",
            "netns",
            "exec",
            self.machine.namespace,
            self.root / path,
            *words,
            check=check,
            env=self.environment,
        )

    def start(self):
        words = ["--nofork", "--config", self.folder / "ipsec.conf", "--ipsecdir", self.folder / "ipsec.d"]
        words += ["--secretsfile", self.folder / "ipsec.secrets", "--nssdir", self.folder / "nss"]
        words += ["--rundir", self.folder / "run", "--logfile", self.folder / "pluto.log"]
        words += ["--dumpdir", self.folder / "run"]
        self.process = self.machine.spawn(
            "-pluto.out",
            self.root / "usr/libexec/ipsec/pluto",
            *words,
            env={**self.environment, **self.preload},
        )
        until(
            "pluto listens",
            lambda: (self.folder / "run/pluto.ctl").exists() or self.process.poll() is not None,
        )
        if self.process.poll() is not None:
            raise Fault(
                f"pluto does not start: {self.log()[-800:]} {self.machine.path('-pluto.out').read_text()}"
            )
        self.whack("--listen")
        for name in SUBNETS:
            self.tool(
                "usr/libexec/ipsec/addconn",
                *("--config", self.folder / "ipsec.conf", "--ctlsocket", self.folder / "run/pluto.ctl"),
                name,
            )

    def whack(self, *words, check=True):
        return self.tool("usr/libexec/ipsec/whack", "--rundir", self.folder / "run", *words, check=check)

    def log(self):
        path = self.folder / "pluto.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.whack("--shutdown", check=False)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()


def pings(machine, to, count, lost=0):
    """So many, of which at most some stay without an answer."""
    printed = machine.within(
        "ping", "-n", "-q", "-i", "0.01", "-W", "2", "-c", count, "-I", "10.0.1.1", to, check=False
    )
    found = re.search(r"(\d+) packets transmitted, (\d+) received", printed.stdout)
    sent, got = map(int, found.groups()) if found else (0, 0)
    print(f"  {sent} pings to {to}, {sent - got} lost", flush=True)
    if sent != count or sent - got > lost:
        raise Fault(f"{sent - got} of {sent} pings to {to} have no answer: {printed.stderr}")


def states(machine, library):
    """What the gateway of a machine has for SAs."""
    settings = (f"LD_PRELOAD={library}", f"ACE_XFRM={machine.path('.xfrm')}")
    return machine.within("env", *settings, "ip", "xfrm", "state", "list").stdout


def asked(answer, what):
    if answer.returncode:
        raise Fault(f"{what}: {(answer.stdout + answer.stderr)[-600:]}")


def go(a, b, pluto, charon, library):
    for name, (net, to) in SUBNETS.items():
        print(f"pluto asks for {net}", flush=True)
        asked(pluto.whack("--initiate", "--name", name), name)
        pings(a, to, 100)
    print("pluto replaces the SAs of both subnets, four times, under pings", flush=True)
    before = set(re.findall("spi (0x[0-9a-f]+)", states(a, library)))
    pinging = [
        a.spawn(f"-ping-{name}", "ping", "-n", "-q", "-i", "0.01", "-c", 400, "-W", "2", "-I", "10.0.1.1", to)
        for name, (_, to) in SUBNETS.items()
    ]
    for _ in range(4):
        for name in SUBNETS:
            asked(pluto.whack("--rekey-ipsec", "--name", name), f"{name} is replaced")
        time.sleep(0.5)
    for name, process in zip(SUBNETS, pinging, strict=True):
        process.wait(60)
        printed = a.path(f"-ping-{name}").read_text()
        sent, got = map(int, re.search(r"(\d+) packets transmitted, (\d+) received", printed).groups())
        print(f"  {name}: {sent} pings, {sent - got} lost", flush=True)
        # Pluto removes what it has replaced at once, when an answer may still be under way.
        if sent != 400 or sent - got > 4:
            raise Fault(f"{sent - got} of {sent} pings of {name} have no answer")
    after = set(re.findall("spi (0x[0-9a-f]+)", states(a, library)))
    if before & after:
        raise Fault(f"SAs were not replaced: {before & after}")
    print("pluto ends the connection", flush=True)
    # What charon ended it would begin again.
    for name in SUBNETS:
        asked(pluto.whack("--terminate", "--name", name), f"{name} ends")
    until("nothing of it is left", lambda: not states(a, library) and not states(b, library))
    print("charon asks, with a suite after the other", flush=True)
    for name, (_, to) in SUBNETS.items():
        asked(charon.ask("--initiate", "--child", name), name)
        pings(a, to, 100)
    asked(charon.ask("--rekey", "--child", "low"), "--rekey")
    pings(a, SUBNETS["low"][1], 200, lost=1)
    asked(charon.ask("--terminate", "--ike", "t"), "--terminate")
    until("nothing of it is left", lambda: not states(a, library) and not states(b, library))
    print("the first packet asks for the SA", flush=True)
    for name, (_, to) in SUBNETS.items():
        asked(pluto.whack("--route", "--name", name), f"{name} waits for packets")
        a.within("ping", "-c", "1", "-W", "3", "-I", "10.0.1.1", to, check=False)
        until(
            f"pluto was asked for {name}",
            lambda name=name: f'"{name}"' in pluto.whack("--trafficstatus").stdout,
        )
        pings(a, to, 100)
    print("the peer is gone, and its SAs go", flush=True)
    run("ip", "-n", b.world.bridge, *["link", "set", "to-b", "down"])
    until("SAs of a dead peer go", lambda: not states(b, library), 60)
    run("ip", "-n", b.world.bridge, *["link", "set", "to-b", "up"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ace", type=Path, required=True, help="the program; libace_xfrm.so is beside it")
    ace = parser.parse_args().ace.resolve()
    library = ace.parent / "libace_xfrm.so"
    if os.geteuid():
        sys.exit("libreswan.py: namespaces and TUN devices are root's")
    strongswan = BUILD / "charon"
    if not (strongswan / "root/usr/lib/ipsec/charon").exists():
        sys.exit("libreswan.py: run tests/interop/charon.sh first, which fetches charon")
    libreswan = fetch()
    if os.environ.get("ACE_CHARON_INSIDE") != "1":
        # Mounts are seen by nobody else and go with the script.
        os.environ["ACE_CHARON_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    for root, where in ((strongswan, "/usr/lib"), (libreswan, "/usr/libexec")):
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={root}/root{where}:{where}", where)
    with tempfile.TemporaryDirectory() as folder:
        world = World(MODES["charon"], ace, folder)
        a, b = world.machines["a"], world.machines["b"]
        charon, pluto = None, None
        try:
            world.build()
            for _, to in SUBNETS.values():
                b.ip(f"address add {to}/32 dev lo")
            # Pluto opens each address by itself.
            text = a.path(".toml").read_text()
            a.path(".toml").write_text(text.replace("[outside]", '[outside]\nlisten = "192.0.2.1:4500"'))
            for machine in (a, b):
                machine.start()
            charon = Charon(b, strongswan, library)
            children = "".join(CHILD.format(name=name, net=net) for name, (net, _) in SUBNETS.items())
            b.path(".swanctl").write_text(CHARON.format(children=children))
            charon.start()
            pluto = Pluto(a, libreswan, library)
            pluto.start()
            watch = [sys.executable, HERE / "clear.py", "to-a"]
            command = ["ip", "netns", "exec", world.bridge, *map(str, watch)]
            watching = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            watching.stderr.readline()
            go(a, b, pluto, charon, library)
            watching.send_signal(signal.SIGTERM)
            print(watching.communicate()[0].strip())
            return watching.returncode
        except Fault as fault:
            print(f"libreswan.py: {fault}", file=sys.stderr)
            for what, text in (("pluto", pluto.log() if pluto else ""), ("a", a.log()), ("b", b.log())):
                print(*(f"{what}: {line}" for line in text.splitlines()[-40:]), sep="\n", file=sys.stderr)
            return 1
        finally:
            for one in (pluto, charon):
                if one is not None:
                    one.end()
            world.end()


if __name__ == "__main__":
    sys.exit(main())
