// SPDX-License-Identifier: Apache-2.0
//! The data plane on live traffic: between a TUN device and the outside.
//!
//! [`Core`] is all of it that decides anything: packets and datagrams go in, what has to be sent comes out; it opens
//! no socket and asks no clock. One thing it does at once: that a sequence number is used is written down before the number
//! is, by [`keys`], which has a file and a clock for that. [`daemon`] is the thin rest: devices, sockets, signals, privileges.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg(target_os = "linux")]

mod core;
mod counted;
pub mod daemon;
pub mod engines;
pub mod firewall;
mod io;
pub mod keys;
pub mod outlet;
mod page;
pub mod record;
pub mod standby;
pub mod status;
pub mod trace;
mod xfrm;

pub use core::{
    CheckStatus, Core, CoreError, Counters, Interface, Interfaces, Outgoing, PeerStatus, Reloaded, SaView,
    Settings,
};
pub use engines::{Live, NoBoard, OpenBoard, Remote};
pub use io::control::ask;
pub use outlet::Outlet;
pub use page::{http, shown};
