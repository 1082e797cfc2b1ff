# SPDX-License-Identifier: Apache-2.0
"""The machines of tests/interop/orders.py, as network namespaces: gateways `a` and `b` at a bridge, each with a host behind it.
What is not caught goes over the wire, as each has the other for its default router."""

import os
import platform
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

ENDS = {"a": 1, "b": 2}
PATIENCE = 20
TABLE = ("inet", "ace-ace0")
# Of a gateway that lives nobody else takes the table away.
OWNS = tuple(map(int, re.findall(r"\d+", platform.release())[:2])) >= (6, 9)


@dataclass(frozen=True)
class Mode:
    """How both gateways are set up."""

    name: str
    encapsulation: str = "udp"
    mark: int | None = None
    user: str | None = None
    cores: int = 1
    charon: bool = False


MODES = {
    mode.name: mode
    for mode in (
        Mode("udp"),
        Mode("raw", encapsulation="none"),
        Mode("mark", mark=2766),
        Mode("nobody", user="nobody"),
        Mode("cores", cores=2),
        Mode("charon", charon=True),
    )
}


class Fault(Exception):
    """What must not be."""


def run(*words, check=True, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if check and done.returncode:
        raise Fault(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done


def until(what, holds, patience=PATIENCE):
    start = time.monotonic()
    while not holds():
        if time.monotonic() - start > patience:
            raise Fault(f"waited {patience} s in vain: {what}")
        time.sleep(0.02)


class Machine:
    """One of both ends."""

    def __init__(self, world, name):
        self.world, self.name, self.mode = world, name, world.mode
        self.ours, self.other = ENDS[name], 3 - ENDS[name]
        self.namespace = f"{world.prefix}{name}"
        self.remote = f"10.0.{self.other}.0/24"
        self.gateway = None
        # Somebody's own routes go another way; the SA file has no rules: one layer alone holds then.
        self.astray, self.empty = False, False

    def path(self, what):
        return self.world.folder / f"{self.name}{what}"

    def ip(self, words, check=True):
        return run("ip", "-n", self.namespace, *words.split(), check=check)

    def within(self, *words, check=True):
        return run("ip", "netns", "exec", self.namespace, *words, check=check)

    def spawn(self, log, *words, **more):
        with open(self.path(log), "ab") as out:
            command = ["ip", "netns", "exec", self.namespace, *map(str, words)]
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **more)

    def build(self):
        host = f"{self.namespace}h"
        for name in (self.namespace, host):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        switches = ("ip_forward=1", "conf.all.rp_filter=0", "conf.default.rp_filter=0")
        self.within("sysctl", "-qw", *(f"net.ipv4.{switch}" for switch in switches))
        self.ip(f"link add lan0 type veth peer name lan netns {host}")
        self.ip("link set lan0 up")
        self.ip(f"address add 10.0.{self.ours}.254/24 dev lan0")
        # An address that stays, whatever becomes of the device.
        self.ip(f"address add 10.0.{self.ours}.1/32 dev lo")
        for words in ("link set lan up", f"address add 10.0.{self.ours}.2/24 dev lan"):
            run("ip", "-n", host, *words.split())
        run("ip", "-n", host, "route", "add", "default", "via", f"10.0.{self.ours}.254")
        self.wire()
        self.write()

    def wire(self):
        """The device to the bridge, as it was."""
        for old in ("wire9", "wire"):
            if self.ip(f"link show dev {old}", check=False).returncode == 0:
                break
        else:
            old = "wire"
            mac = f"02:00:00:00:00:0{self.ours}"
            words = f"link add to-{self.name} type veth peer name wire address {mac} gso_max_segs 1 netns {self.namespace}"
            run("ip", "-n", self.world.bridge, *words.split())
        if old != "wire":
            self.ip(f"link set {old} name wire")
        run("ip", "-n", self.world.bridge, *f"link set to-{self.name} master br0 up".split())
        self.ip("link set wire up")
        self.ip(f"address replace 192.0.2.{self.ours}/24 dev wire")
        self.ip(f"route replace 192.0.2.0/24 dev wire src 192.0.2.{self.ours}")
        self.ip(f"route replace default via 192.0.2.{self.other}")

    def write(self):
        mode = self.mode
        lines = [f'control = "{self.name}.sock"', f'state = "{self.name}.state"']
        lines += [f'user = "{mode.user}"'] if mode.user else []
        lines += [] if mode.charon else [f'sas = "{self.name}-sas.toml"']
        lines += [
            "[inside]",
            'tun = "ace0"',
            f'address = ["10.0.{self.ours}.1/32"]',
            f'routes = ["{self.remote}"]',
        ]
        lines += ["[outside]", f'encapsulation = "{mode.encapsulation}"']
        lines += [f"mark = {mode.mark}"] if mode.mark else []
        lines += ["[xfrm]", f'socket = "{self.name}.xfrm"'] if mode.charon else []
        lines += ["[engine]", f"cores = {mode.cores}"] if mode.cores > 1 else []
        self.path(".toml").write_text("\n".join(lines) + "\n")
        self.write_sas(self.sas())

    def sas(self, name="", more=""):
        """SAs both ways under the keys of this generation, and those of the last one, to receive by."""
        text = ""
        for number in (self.world.generation, self.world.generation - 1):
            for source, to in ((1, 2), (2, 1)):
                if number < 1 or (number != self.world.generation and source == self.ours):
                    continue
                # The last four bytes are the salt.
                key = f"{self.world.nonce}{source:04x}{number:012x}{'a5' * 4}"
                text += f"""[[sa]]
name = "{name}{source}-to-{to}-{number}"
spi = {number * 0x100 + source}
direction = "{"out" if source == self.ours else "in"}"
mode = "tunnel"
local = "192.0.2.{self.ours}"
remote = "192.0.2.{self.other}"
fresh_key = true
selector = {{ src = "10.0.{source}.0/24", dst = "10.0.{to}.0/24" }}
cipher = "aes-128-gcm-16"
key = "{key}"
{more}
"""
        return text

    def write_sas(self, text):
        path = self.path("-sas.toml")
        path.touch(mode=0o640)
        shutil.chown(path, group="nogroup")
        path.write_text(text)

    # The gateway.

    def log(self):
        return self.path(".log").read_text(errors="replace") if self.path(".log").exists() else ""

    def alive(self):
        return self.gateway is not None and self.gateway.poll() is None

    def start(self, wait=True):
        if not self.alive():
            self.path(".log").write_text("")
            self.gateway = self.spawn(".log", self.world.ace, "gateway", self.path(".toml"))
        if wait:
            self.ready()

    def ready(self):
        until(f"gateway {self.name} is ready", lambda: "ready sas=" in self.log() or not self.alive())
        if not self.alive():
            raise Fault(f"gateway {self.name} does not start: {self.log()[-400:]}")

    def end(self, how=signal.SIGKILL):
        if self.alive():
            self.gateway.send_signal(how)
            self.gateway.wait(PATIENCE)

    def hangup(self):
        if self.alive():
            self.gateway.send_signal(signal.SIGHUP)

    # Layers that keep packets from leaving in clear: as long as one stands, the other may be taken away.

    def routes(self):
        """Whether routes do."""
        table = self.mode.mark or "main"
        shown = self.ip(f"route show table {table} {self.remote}", check=False).stdout
        ruled = not self.mode.mark or bool(self.ip(f"rule list table {table}", check=False).stdout)
        return "unreachable" in shown and ruled and not self.astray

    def walls(self):
        """Whether nftables does: rules, and what they look for."""
        shown = self.within("nft", "list", "table", *TABLE, check=False).stdout
        sets = (f"set {way}covered-0-nets-4" for way in ("", "leaving-"))
        rules = [f"{what} {way}layer-0" for way in ("", "leaving-") for what in ("jump", "chain")]
        rules += [f"@{way}covered-0-nets-4 goto covered" for way in ("", "leaving-")] + [
            "drop",
            "hook postrouting",
        ]
        filled = all("10.0." in shown.partition(name)[2].partition("}\n\n")[0] for name in sets)
        return not self.empty and filled and all(rule in shown for rule in rules)

    def owns(self):
        """Whether others cannot take the table of nftables away."""
        return OWNS and self.alive() and "ready sas=" in self.log()


class World:
    """Both ends and the bridge between them."""

    def __init__(self, mode, ace, folder):
        self.mode, self.ace, self.folder = mode, ace, Path(folder)
        self.prefix = f"aceo{os.getpid()}{list(MODES).index(mode.name)}"
        self.bridge = f"{self.prefix}m"
        self.generation = 1
        self.nonce = os.urandom(8).hex()
        self.machines = {name: Machine(self, name) for name in ENDS}

    def build(self):
        run("ip", "netns", "add", self.bridge)
        # It sees all that passes.
        for words in ("link set lo up", "link add br0 type bridge", "link set br0 up promisc on"):
            run("ip", "-n", self.bridge, *words.split())
        for machine in self.machines.values():
            machine.build()

    def end(self):
        for machine in self.machines.values():
            machine.end()
            for name in (machine.namespace, f"{machine.namespace}h"):
                run("ip", "netns", "delete", name, check=False)
        run("ip", "netns", "delete", self.bridge, check=False)
