// SPDX-License-Identifier: Apache-2.0
//! What is done before the first packet: addresses and routes, and less privilege.

use std::os::fd::AsFd;
use std::process::Command;

use ace_config::gateway::Inside;
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt::Mark};

use nix::sys::prctl;
use nix::unistd::{Uid, User, setgroups, setresgid, setresuid};

/// Gives the device its MTU, addresses and routes, by iproute2: a few commands do not need a netlink library. With a
/// mark routes are in a table of that number, which packets that carry the mark do not see.
///
/// # Errors
/// The command, and what it said.
pub fn configure(inside: &Inside, mark: Option<u32>) -> Result<(), String> {
    let device = inside.tun.as_str();
    ip(&["link", "set", "dev", device, "mtu", &inside.mtu.to_string(), "up"])?;
    for address in &inside.addresses {
        // Nobody else is on the device: an address need not be looked for before it is used.
        let last: &[&str] = if address.addr().is_ipv6() { &["nodad"] } else { &[] };
        ip(&[&["address", "replace", &address.to_string(), "dev", device], last].concat())?;
    }
    let mark = mark.map(|mark| mark.to_string());
    for route in &inside.routes {
        let route = route.to_string();
        let mut words = vec!["route", "replace", &route, "dev", device];
        words.extend(mark.iter().flat_map(|mark| ["table", mark]));
        ip(&words)?;
    }
    let Some(mark) = &mark else { return Ok(()) };
    let routed = |four| inside.routes.iter().any(|route| route.addr().is_ipv4() == four);
    for (family, _) in [("-4", true), ("-6", false)].into_iter().filter(|(_, four)| routed(*four)) {
        // One that an earlier gateway has left stays as it is.
        if !has_rule(family, mark)? {
            ip(&[family, "rule", "add", "not", "fwmark", mark, "lookup", mark])?;
        }
    }
    Ok(())
}

fn has_rule(family: &str, table: &str) -> Result<bool, String> {
    let output = Command::new("ip").args([family, "rule", "list", "table", table]).output();
    let output = output.map_err(|error| format!("cannot run `ip {family} rule list`: {error}"))?;
    // Nothing is said of a table that is not there.
    Ok(!output.stdout.is_empty())
}

/// What leaves by a socket carries a mark.
///
/// # Errors
/// As the system says; it is a privilege.
pub fn mark(socket: &impl AsFd, mark: Option<u32>) -> Result<(), Errno> {
    mark.map_or(Ok(()), |mark| setsockopt(socket, Mark, &mark))
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let said = || format!("ip {}", arguments.join(" "));
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run `{}`: {error}; install iproute2", said()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("`{}` failed: {}", said(), String::from_utf8_lossy(&output.stderr).trim()))
}

/// Becomes a user, for good, with nothing of what it was.
///
/// # Errors
/// A sentence with the remedy.
pub fn become_user(name: &str) -> Result<(), String> {
    let found = User::from_name(name).map_err(|error| format!("cannot look for the user {name}: {error}"))?;
    let user = found.ok_or_else(|| {
        format!("there is no user {name}; `useradd --system {name}` makes one, or name another with `user`")
    })?;
    setgroups(&[user.gid])
        .and_then(|()| setresgid(user.gid, user.gid, user.gid))
        .and_then(|()| setresuid(user.uid, user.uid, user.uid))
        .map_err(|error| {
            format!("cannot become the user {name}: {error}; start as root, or without `user`")
        })?;
    if !user.uid.is_root() && nix::unistd::setuid(Uid::from_raw(0)).is_ok() {
        return Err(format!("the user {name} can become root again"));
    }
    Ok(())
}

/// No privilege comes back by a program that is started, and no other process reads the keys in memory.
///
/// # Errors
/// As the system says.
pub fn confine() -> Result<(), String> {
    prctl::set_no_new_privs()
        .and_then(|()| prctl::set_dumpable(false))
        .map_err(|error| format!("cannot give up privileges: {error}"))
}
