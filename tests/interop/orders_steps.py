# SPDX-License-Identifier: Apache-2.0
"""What is done to a machine of tests/interop/orders.py. Each step says what it did, or nothing where it does not apply. Nothing
takes away the last layer that keeps packets from leaving in clear: then nobody could."""

import signal
import time

from orders_world import TABLE

STEPS = {}


def step(weight=1, charon=None, mark=None):
    """A step, which is chosen so often; of charon, or of files alone; of a mark alone."""

    def add(work):
        STEPS[work.__name__] = (work, weight, charon, mark)
        return work

    return add


def choose(random, mode):
    fits = {
        name: weight
        for name, (_, weight, charon, mark) in STEPS.items()
        if charon in (None, mode.charon) and mark in (None, bool(mode.mark))
    }
    return random.choices(list(fits), list(fits.values()))[0]


# The gateway.


@step(3)
def kill(machine, _):
    machine.end(signal.SIGKILL)
    return "kill -9"


@step()
def stop(machine, _):
    machine.end(signal.SIGTERM)
    return "kill"


@step(4)
def start(machine, _):
    if machine.alive():
        return None
    # Whatever becomes of it: somebody may have taken away what it needs.
    machine.start(wait=False)
    return "start"


@step(3)
def restart(machine, random):
    machine.end(random.choice([signal.SIGKILL, signal.SIGTERM]))
    machine.start(wait=False)
    return "restart"


# Its SA file.


def reload(machine, text):
    machine.write_sas(text)
    machine.hangup()


@step(2, charon=False)
def rename_sas(machine, random):
    reload(machine, machine.sas(name=f"n{random.randrange(99)}-"))
    machine.empty = False
    return "SIGHUP, SAs have other names"


@step(charon=False)
def edit_lifetime(machine, random):
    reload(machine, machine.sas(more=f"lifetime = {{ hard_packets = {random.randrange(10**6, 10**7)} }}"))
    machine.empty = False
    return "SIGHUP, SAs have other lifetimes"


@step(2, charon=False)
def new_keys(machine, random):
    """Both ends take new keys, one behind the other; the old ones are there to receive by."""
    machine.world.generation += 1
    both = list(machine.world.machines.values())
    random.shuffle(both)
    for one in both:
        reload(one, one.sas())
        one.empty = False
        time.sleep(random.random() * 0.05)
    return "SIGHUP at both, new keys"


@step(charon=False)
def empty_sas(machine, _):
    if not machine.routes():
        return None
    machine.world.hush(machine)
    machine.empty = True
    reload(machine, "")
    return "SIGHUP, no SAs"


@step(charon=False)
def broken_sas(machine, random):
    text = machine.sas()
    machine.write_sas(random.choice([text + "[[sa]]", "[[sa]]", "\0", text.replace("tunnel", "tunel")]))
    machine.hangup()
    return "SIGHUP, a file that is broken"


# Links.


def device(machine):
    for name in ("ace0", "ace9"):
        if machine.ip(f"link show dev {name}", check=False).returncode == 0:
            return name
    return None


@step()
def ace_down(machine, _):
    if (name := device(machine)) is None:
        return None
    return done(machine, f"link set {name} down")


@step()
def ace_up(machine, _):
    if (name := device(machine)) is None:
        return None
    return done(machine, f"link set {name} up")


@step()
def ace_deleted(machine, _):
    if (name := device(machine)) is None:
        return None
    return done(machine, f"link delete {name}")


@step()
def ace_renamed(machine, _):
    if (name := device(machine)) is None:
        return None
    return done(machine, f"link set {name} name {'ace9' if name == 'ace0' else 'ace0'}")


@step()
def wire_down(machine, random):
    done(machine, "link set wire down")
    time.sleep(random.random() * 0.1)
    machine.wire()
    return "the wire is down, and up"


@step()
def wire_deleted(machine, random):
    done(machine, "link delete wire")
    time.sleep(random.random() * 0.1)
    machine.wire()
    return "the wire is deleted, and made anew"


@step()
def wire_renamed(machine, random):
    done(machine, "link set wire name wire9")
    time.sleep(random.random() * 0.1)
    machine.wire()
    return "the wire has another name, and the old one"


# Routes. Of two that hold one may go; both, where nftables holds.


def done(machine, words):
    result = machine.ip(words, check=False)
    return f"ip {words}" if result.returncode == 0 else f"ip {words}: {result.stderr.strip()}"


def into(machine):
    return f" table {machine.mode.mark}" if machine.mode.mark else ""


def other_holds(machine):
    return machine.routes() or machine.walls()


@step(2)
def route_deleted(machine, _):
    if not other_holds(machine) or (name := device(machine)) is None:
        return None
    return done(machine, f"route delete {machine.remote} dev {name}{into(machine)}")


@step(2)
def unreachable_deleted(machine, _):
    if not machine.walls():
        return None
    return done(machine, f"route delete unreachable {machine.remote} metric 1{into(machine)}")


@step(2)
def routes_flushed(machine, _):
    if not machine.walls():
        return None
    return done(machine, f"route flush root {machine.remote}{into(machine)}")


@step()
def all_routes_flushed(machine, random):
    if not machine.walls():
        return None
    words = done(machine, f"route flush table {machine.mode.mark or 'main'}")
    time.sleep(random.random() * 0.1)
    # First where it belongs what came out of ESP: that is routed as everything else.
    machine.ip(f"route replace 10.0.{machine.ours}.0/24 dev lan0")
    machine.wire()
    return f"{words}, and those of others come back"


@step()
def addresses_flushed(machine, _):
    if (name := device(machine)) is None:
        return None
    return done(machine, f"address flush dev {name}")


@step(2)
def route_replaced(machine, random):
    """By one that leads elsewhere."""
    if not machine.walls():
        return None
    machine.astray = True
    way = random.choice(["dev wire", f"via 192.0.2.{machine.other}", "dev lan0"])
    return done(machine, f"route replace {machine.remote} {way}{into(machine)}")


@step()
def narrower_route(machine, _):
    if not machine.walls():
        return None
    machine.astray = True
    return done(
        machine, f"route replace 10.0.{machine.other}.0/25 via 192.0.2.{machine.other}{into(machine)}"
    )


@step(2, mark=True)
def rule_deleted(machine, _):
    if not machine.walls():
        return None
    return done(machine, f"rule delete not fwmark {machine.mode.mark} lookup {machine.mode.mark}")


@step()
def rule_in_front(machine, _):
    if not machine.walls():
        return None
    machine.astray = True
    machine.ip(f"route replace default via 192.0.2.{machine.other} table 99", check=False)
    return done(machine, f"rule add pref 5 to {machine.remote} lookup 99")


# nftables.


def wall_attacked(machine, *words):
    """A gateway that lives has the table for itself. Where it does not live, or a kernel before 6.9 knows no owners, nobody
    forges meanwhile: nothing else keeps clear packets out."""
    if not machine.owns():
        if not machine.routes():
            return None
        machine.world.hush(machine)
    machine.within("nft", *words, check=False)
    # It may have been about to end, and the table nobody's.
    time.sleep(0.02)
    if not machine.alive():
        machine.world.hush(machine)
        machine.world.forget(machine)
    return f"nft {' '.join(words)}"


@step(3)
def ruleset_flushed(machine, _):
    return wall_attacked(machine, "flush", "ruleset")


@step()
def table_deleted(machine, _):
    return wall_attacked(machine, "delete", "table", *TABLE)


@step()
def table_flushed(machine, _):
    return wall_attacked(machine, "flush", "table", *TABLE)


# charon.


@step(2, charon=True)
def charon_killed(machine, _):
    machine.charon.end(signal.SIGKILL)
    return "charon: kill -9"


@step(charon=True)
def charon_stopped(machine, _):
    # It takes its policies along.
    if not machine.routes():
        return None
    machine.world.hush(machine)
    machine.empty = True
    machine.charon.end(signal.SIGTERM)
    return "charon: kill"


@step(3, charon=True)
def charon_started(machine, _):
    if machine.charon.alive():
        return None
    machine.charon.start()
    return "charon: start"


@step(3, charon=True)
def charon_rekeys(machine, _):
    machine.charon.ask("--rekey", "--child", "t", "--timeout", "1")
    return "charon: new keys"


@step(charon=True)
def charon_anew(machine, _):
    machine.charon.ask("--rekey", "--ike", "t", "--reauth", "--timeout", "1")
    return "charon: authenticates anew"


@step(charon=True)
def charon_terminates(machine, _):
    machine.charon.ask("--terminate", "--ike", "t", "--timeout", "1")
    return "charon: ends the connection"


def perform(name, machine, random):
    """What was done, in words, or nothing."""
    return STEPS[name][0](machine, random)
