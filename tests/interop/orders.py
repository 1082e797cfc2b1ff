# SPDX-License-Identifier: Apache-2.0
"""Two gateways with a wire between them, and random orders of what may befall them: killed, stopped, started and reloaded,
links down, deleted and renamed, routes deleted, flushed and replaced, rules and nftables taken away, charon killed. Traffic
goes all the time. Behind each order everything is put right, and traffic has to go again. Nothing may have been in clear on the
wire, no number twice, and no clear packet may have come to the inside.

Needs root. With charon (`--modes charon`) also what tests/interop/charon.sh has fetched."""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orders_steps
from orders_charon import Charon
from orders_wire import Flow, Forger, Wire
from orders_world import MODES, Fault, World, until

STEPS = (3, 9)
# Between steps, and behind the last one.
PAUSE = 0.12
GAP = 0.01
PACKAGES = Path(__file__).resolve().parents[2] / "build" / "charon"


class Orders:
    """A world with traffic, which is played with."""

    def __init__(self, mode, ace, folder):
        self.world = World(mode, ace, folder)
        self.world.hush, self.world.forget = self.hush, self.forget
        self.flows, self.forgers, self.wire = [], {}, None
        self.anew = 0

    def begin(self):
        world = self.world
        world.build()
        self.wire = Wire(world.bridge, ["br0"])
        for machine in world.machines.values():
            machine.start()
            if world.mode.charon:
                machine.charon = Charon(machine, PACKAGES, world.ace.parent / "libace_xfrm.so")
                machine.charon.start()
        for machine in world.machines.values():
            ours, other = machine.ours, machine.other
            for namespace, last in ((machine.namespace, 1), (f"{machine.namespace}h", 2)):
                self.flows.append(Flow(namespace, f"10.0.{ours}.{last}", f"10.0.{other}.{last}", GAP))
            mac = bytes([2, 0, 0, 0, 0, ours])
            pairs = [(f"10.0.{other}.{last}", f"10.0.{ours}.{last}") for last in (1, 2)]
            self.forgers[machine.name] = Forger(world.bridge, f"to-{machine.name}", mac, pairs, GAP)
        self.forged(True)
        self.goes()
        self.forged(False)

    def hush(self, machine):
        self.forgers[machine.name].hush(True)

    def forget(self, machine):
        """Forged packets that came to the inside of a machine behind whose gateway nothing could keep them out."""
        for flow in self.flows:
            if flow.source.startswith(f"10.0.{machine.ours}."):
                flow.forged.clear()

    def forged(self, quiet):
        for machine in self.world.machines.values():
            if not quiet:
                until(f"rules of {machine.name} are in nftables", machine.walls)
            self.forgers[machine.name].hush(quiet)

    def goes(self, patience=20):
        before = [flow.arrived for flow in self.flows]
        arrives = lambda: all(flow.arrived > was + 2 for flow, was in zip(self.flows, before, strict=True))
        until("traffic goes both ways", arrives, patience)

    def play(self, order, events):
        """One order; `events` takes what was done."""
        for _ in range(order.randint(*STEPS)):
            machine = order.choice(list(self.world.machines.values()))
            name = orders_steps.choose(order, self.world.mode)
            start = time.monotonic()
            if what := orders_steps.perform(name, machine, order):
                events.append((start, f"{machine.name}: {what}"))
            time.sleep(order.random() * PAUSE)
        events.append((time.monotonic(), "all is put right"))
        self.mend()
        self.verdict()

    def mend(self):
        for machine in self.world.machines.values():
            machine.wire()
            machine.ip("rule delete pref 5", check=False)
            name = orders_steps.device(machine)
            if name == "ace9":
                # Nobody finds it by this name.
                machine.end()
                machine.ip("link delete ace9")
            table = orders_steps.into(machine)
            # One that replaced ours is in its place until ours replaces it.
            machine.ip(f"route delete 10.0.{machine.other}.0/25{table}", check=False)
            machine.write_sas(machine.sas())
            time.sleep(0.02)
            if machine.alive():
                machine.hangup()
            machine.start(wait=False)
        for machine in self.world.machines.values():
            self.steady(machine)
            machine.astray = machine.empty = False
        if self.world.mode.charon:
            self.charons()
        else:
            self.goes()
        self.forged(False)

    @staticmethod
    def steady(machine):
        """It runs, also when it was just about to end because of what it missed."""
        for _ in range(5):
            machine.start()
            time.sleep(0.05)
            if machine.alive():
                return
        raise Fault(f"gateway {machine.name} does not stay: {machine.log()[-400:]}")

    def charons(self):
        machines = self.world.machines.values()
        for machine in machines:
            machine.charon.start()
        try:
            self.goes(6)
        except Fault:
            # What is left of those who died, both ends forget.
            self.anew += 1
            for machine in machines:
                self.hush(machine)
                machine.charon.end()
                machine.end()
                machine.path(".xfrm.sas").unlink(missing_ok=True)
            for machine in machines:
                machine.start()
                machine.charon.start()
            self.goes()

    def verdict(self):
        clear = self.wire.clear + [what for flow in self.flows for what in flow.forged]
        if clear:
            raise Fault(f"in clear, {len(clear)} times", clear)
        if self.wire.twice:
            raise Fault(f"a number twice, {len(self.wire.twice)} times", self.wire.twice)

    def end(self):
        for part in [*self.flows, *self.forgers.values()]:
            part.stopped = True
        if self.wire:
            self.wire.stop()
        for machine in self.world.machines.values():
            if getattr(machine, "charon", None):
                machine.charon.end()
        self.world.end()


def show(fault, events, begin):
    print(f"\n{fault.args[0]}")
    events = [(at, f"  {text}") for at, text in events]
    events += [(at, f"    {text}") for at, text in (fault.args[1] if len(fault.args) > 1 else [])[:20]]
    for at, text in sorted(events):
        print(f"{at - begin:8.3f} s {text}")


def play(mode, options, numbers):
    """Orders of one mode. How many failed."""
    failed, started = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        orders = Orders(mode, options.ace.resolve(), folder)
        try:
            orders.begin()
            for number in numbers:
                events, begin = [], time.monotonic()
                try:
                    orders.play(random.Random(f"{options.seed} {mode.name} {number}"), events)
                except Fault as fault:
                    failed += 1
                    show(fault, events, begin)
                    for machine in orders.world.machines.values():
                        print(f"gateway {machine.name} events last: {machine.log()[-600:]}")
                    again = f"--seed {options.seed} --modes {mode.name!r} --first {number} --orders 1"
                    print(f"order {number} of mode {mode.name}; it alone: {again}", flush=True)
                    if failed >= options.faults:
                        break
                    orders.wire.clear.clear()
                    orders.wire.twice.clear()
                    for flow in orders.flows:
                        flow.forged.clear()
                if sys.stderr.isatty() or number % 10 == 0:
                    sent = sum(forger.sent for forger in orders.forgers.values())
                    print(
                        f"{mode.name}: order {number}, {time.monotonic() - started:.0f} s, {orders.wire.protected} protected, "
                        f"{sum(flow.arrived for flow in orders.flows)} arrived, {sent} forged, {failed} failed",
                        file=sys.stderr,
                    )
            sent = sum(forger.sent for forger in orders.forgers.values())
            print(
                f"{mode.name}: {len(numbers)} orders in {time.monotonic() - started:.0f} s, {failed} failed; on the wire "
                f"{orders.wire.protected} packets protected, {sum(flow.arrived for flow in orders.flows)} arrived, "
                f"of {sent} forged none" + (f"; charon made anew {orders.anew} times" if mode.charon else ""),
                flush=True,
            )
        finally:
            orders.end()
    return failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--ace", type=Path, default=Path("target/release/ace"))
    arguments.add_argument("--orders", type=int, default=20, help="how many, of all modes together")
    arguments.add_argument("--first", type=int, default=0, help="the number of the first one of each mode")
    arguments.add_argument("--seed", default=None)
    arguments.add_argument("--modes", nargs="+", choices=list(MODES), default=None)
    arguments.add_argument(
        "--faults", type=int, default=3, help="a mode ends behind so many orders that failed"
    )
    options = arguments.parse_args()
    if os.geteuid():
        sys.exit("orders.py: namespaces and TUN devices are root's")
    has_charon = (PACKAGES / "root/usr/lib/ipsec/charon").exists()
    names = options.modes or [name for name, mode in MODES.items() if has_charon or not mode.charon]
    if any(MODES[name].charon for name in names) and "ACE_ORDERS_INSIDE" not in os.environ:
        if not has_charon:
            sys.exit("orders.py: run tests/interop/charon.sh first, or leave out the mode charon")
        # Mounts are seen by nobody else and go with the script.
        os.environ["ACE_ORDERS_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    if "ACE_ORDERS_INSIDE" in os.environ:
        lower = f"lowerdir={PACKAGES}/root/usr/lib:/usr/lib"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", lower, "/usr/lib"], check=True)
    options.seed = options.seed or str(random.SystemRandom().randrange(1 << 32))
    print(f"seed {options.seed}", flush=True)
    shares = [len(part) for part in (range(options.orders)[at :: len(names)] for at in range(len(names)))]
    failed = sum(
        play(MODES[name], options, range(options.first, options.first + share))
        for name, share in zip(names, shares, strict=True)
        if share
    )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
