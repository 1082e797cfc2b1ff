// SPDX-License-Identifier: Apache-2.0
//! What is done before the first packet: addresses and routes, and less privilege.

use std::process::Command;

use ace_config::gateway::{Inside, Table};
use ipnet::IpNet;
use nix::errno::Errno;

use nix::sys::prctl;
use nix::unistd::{Uid, User, setgroups, setresgid, setresuid};
use thiserror::Error;

/// Why the machine does not let a gateway begin, with the remedy.
#[derive(Debug, Error)]
pub enum SetupError {
    /// iproute2 is not there, or may not run.
    #[error("cannot run `{command}`: {why}; install iproute2")]
    Run {
        /// With its arguments.
        command: String,
        /// As the system says.
        why: std::io::Error,
    },
    /// iproute2 ran and did not do it.
    #[error("`{command}` failed: {stderr}")]
    Command {
        /// With its arguments.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// Users cannot be looked for.
    #[error("cannot look for the user {0}: {1}")]
    Users(String, Errno),
    /// `user` names nobody.
    #[error("there is no user {0}; `useradd --system {0}` makes one, or name another with `user`")]
    NoUser(String),
    /// It takes privileges to become somebody else.
    #[error("cannot become the user {0}: {1}; start as root, or without `user`")]
    Become(String, Errno),
    /// Privileges that were given up can be had again.
    #[error("the user {0} can become root again")]
    Again(String),
    /// Privileges cannot be given up.
    #[error("cannot give up privileges: {0}")]
    Confine(Errno),
    /// Signals cannot be held for the daemon.
    #[error("cannot hold signals: {0}")]
    Hold(Errno),
    /// Signals cannot be waited for.
    #[error("cannot wait for signals: {0}")]
    Wait(Errno),
    /// There is no such network namespace, or it may not be entered.
    #[error(
        "cannot enter the network namespace {0}: {1}; `ip netns add` makes it, and it takes CAP_SYS_ADMIN"
    )]
    Netns(std::path::PathBuf, std::io::Error),
    /// A thread for a core does not start.
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
    /// One core, or none, where something needs it.
    #[error("{0}")]
    Cores(String),
}

/// Priorities of the routes that let nothing pass: just behind those into the device, which are the kernel's default of
/// each family.
const fn behind(route: &IpNet) -> u32 {
    match route {
        IpNet::V4(_) => 1,
        IpNet::V6(_) => 1025,
    }
}

/// The words of a route that lets nothing pass, of the same prefix as one into the device and behind it: where the device
/// is gone, down or without a gateway, this one holds.
fn unreachable(route: &IpNet) -> [String; 4] {
    ["unreachable".to_owned(), route.to_string(), "metric".to_owned(), behind(route).to_string()]
}

/// Whether that is such a route.
pub fn is_unreachable(route: &IpNet, metric: Option<u32>) -> bool {
    metric == Some(behind(route))
}

/// Gives the device its MTU, addresses and routes, by iproute2: a few commands do not need a netlink library. With a
/// mark routes are in a table of that number, which packets that carry the mark do not see. Behind each route there is
/// one that lets nothing pass, and it outlives device and gateway. Packets are led into a table of a device's own by whoever
/// made it.
///
/// # Errors
/// The command, and what it said.
pub fn configure(inside: &Inside, table: Table) -> Result<(), SetupError> {
    let device = inside.tun.as_str();
    keep_out(inside, table)?;
    let (_, number) = words(table);
    let table: Vec<&str> = number.iter().flat_map(|number| ["table", number]).collect();
    ip(&["link", "set", "dev", device, "mtu", &inside.mtu.to_string(), "up"])?;
    for address in &inside.addresses {
        // Nobody else is on the device: an address need not be looked for before it is used.
        let last: &[&str] = if address.addr().is_ipv6() { &["nodad"] } else { &[] };
        ip(&[&["address", "replace", &address.to_string(), "dev", device], last].concat())?;
    }
    for route in &inside.routes {
        ip(&[&["route", "replace", &route.to_string(), "dev", device], &table[..]].concat())?;
    }
    Ok(())
}

/// The part of it that is not the device's: routes that let nothing pass, and the rule of a mark.
///
/// # Errors
/// The command, and what it said.
pub fn keep_out(inside: &Inside, table: Table) -> Result<(), SetupError> {
    let (mark, number) = words(table);
    let table: Vec<&str> = number.iter().flat_map(|number| ["table", number]).collect();
    for route in &inside.routes {
        let words = unreachable(route);
        ip(&[&["route", "replace"], &words.each_ref().map(String::as_str)[..], &table].concat())?;
    }
    if let Some(mark) = &mark {
        for family in families(inside) {
            // One that an earlier gateway has left stays as it is.
            if !has_rule(family, mark)? {
                ip(&[family, "rule", "add", "not", "fwmark", mark, "lookup", mark])?;
            }
        }
    }
    Ok(())
}

/// Takes away what [`configure`] leaves behind: device, routes and rules. What is not there is no error.
///
/// # Errors
/// The command, and what it said.
pub fn release(inside: &Inside, table: Table) -> Result<(), SetupError> {
    let gone = |done| match done {
        Err(SetupError::Command { stderr, .. })
            if ["No such process", "No such file", "Cannot find device", "does not exist"]
                .iter()
                .any(|words| stderr.contains(words)) =>
        {
            Ok(())
        }
        done => done,
    };
    let (mark, number) = words(table);
    let table: Vec<&str> = number.iter().flat_map(|number| ["table", number]).collect();
    gone(ip(&["link", "delete", "dev", &inside.tun]))?;
    for route in &inside.routes {
        let words = unreachable(route);
        gone(ip(&[&["route", "delete"], &words.each_ref().map(String::as_str)[..], &table].concat()))?;
    }
    let Some(mark) = &mark else { return Ok(()) };
    families(inside)
        .try_for_each(|family| gone(ip(&[family, "rule", "delete", "not", "fwmark", mark, "lookup", mark])))
}

/// The mark whose rule leads to a table, and the table's number, if it is not the main one.
fn words(table: Table) -> (Option<String>, Option<String>) {
    match table {
        Table::Main => (None, None),
        Table::Marked(mark) => (Some(mark.to_string()), Some(mark.to_string())),
        Table::Own(table) => (None, Some(table.to_string())),
    }
}

/// Those that have routes, as iproute2 names them.
fn families(inside: &Inside) -> impl Iterator<Item = &'static str> {
    let routed = |four| inside.routes.iter().any(|route| route.addr().is_ipv4() == four);
    [("-4", routed(true)), ("-6", routed(false))].into_iter().filter_map(|(family, is)| is.then_some(family))
}

fn has_rule(family: &str, table: &str) -> Result<bool, SetupError> {
    let output = Command::new("ip").args([family, "rule", "list", "table", table]).output();
    let output = output.map_err(|why| SetupError::Run { command: format!("ip {family} rule list"), why })?;
    // Nothing is said of a table that is not there.
    Ok(!output.stdout.is_empty())
}

fn ip(arguments: &[&str]) -> Result<(), SetupError> {
    let command = || format!("ip {}", arguments.join(" "));
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .map_err(|why| SetupError::Run { command: command(), why })?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(SetupError::Command { command: command(), stderr })
}

/// Becomes a user, for good, with nothing of what it was.
///
/// # Errors
/// A sentence with the remedy.
pub fn become_user(name: &str) -> Result<(), SetupError> {
    let found = User::from_name(name).map_err(|why| SetupError::Users(name.to_owned(), why))?;
    let user = found.ok_or_else(|| SetupError::NoUser(name.to_owned()))?;
    setgroups(&[user.gid])
        .and_then(|()| setresgid(user.gid, user.gid, user.gid))
        .and_then(|()| setresuid(user.uid, user.uid, user.uid))
        .map_err(|why| SetupError::Become(name.to_owned(), why))?;
    if !user.uid.is_root() && nix::unistd::setuid(Uid::from_raw(0)).is_ok() {
        return Err(SetupError::Again(name.to_owned()));
    }
    Ok(())
}

/// No privilege comes back by a program that is started, and no other process reads the keys in memory.
///
/// # Errors
/// As the system says.
pub fn confine() -> Result<(), SetupError> {
    prctl::set_no_new_privs().and_then(|()| prctl::set_dumpable(false)).map_err(SetupError::Confine)
}
