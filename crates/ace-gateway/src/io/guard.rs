// SPDX-License-Identifier: Apache-2.0
//! What keeps packets from leaving in clear: the device with its routes, the routes behind them that let nothing pass,
//! and with a mark the rules that lead there. The kernel says when links, addresses, routes and rules change (rtnetlink);
//! then they are looked at. That takes no privilege.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use ace_config::gateway::{Inside, Table};
use ipnet::IpNet;
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteType};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleFlags, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage as Message};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv};

use super::setup::is_unreachable;
use super::tun::Tun;

/// linux/rtnetlink.h: links, addresses, routes and rules of both families.
const GROUPS: [u32; 7] = [
    libc::RTNLGRP_LINK,
    libc::RTNLGRP_IPV4_IFADDR,
    libc::RTNLGRP_IPV6_IFADDR,
    libc::RTNLGRP_IPV4_ROUTE,
    libc::RTNLGRP_IPV6_ROUTE,
    libc::RTNLGRP_IPV4_RULE,
    libc::RTNLGRP_IPV6_RULE,
];
/// What the kernel gives at once.
const LONGEST: usize = 1 << 16;
/// Datagrams of one turn: somebody else's routes may change without end.
const BATCH: usize = 64;

pub struct Guard {
    news: Socket,
    questions: Socket,
    device: u32,
    /// The device itself, wherever it is.
    handle: OwnedFd,
    inside: Inside,
    /// The kernel's number of the routes' table.
    table: u32,
    /// With a rule that leads there.
    mark: Option<u32>,
    memory: Vec<u8>,
    /// Somebody has moved the device into another network namespace: it is his.
    moved: Cell<bool>,
}

impl Guard {
    /// Of a device that stands with its routes.
    ///
    /// # Errors
    /// As the system says.
    pub fn open(inside: &Inside, tun: &Tun, table: Table) -> io::Result<Self> {
        let mut news = Socket::new(NETLINK_ROUTE)?;
        news.bind(&SocketAddr::new(0, 0))?;
        for group in GROUPS {
            news.add_membership(group)?;
        }
        news.set_non_blocking(true)?;
        let mut questions = Socket::new(NETLINK_ROUTE)?;
        questions.bind(&SocketAddr::new(0, 0))?;
        questions.connect(&SocketAddr::new(0, 0))?;
        // A kernel before 4.20 answers with all routes.
        let _ = questions.set_netlink_get_strict_chk(true);
        let (table, mark) = match table {
            Table::Main => (u32::from(RouteHeader::RT_TABLE_MAIN), None),
            Table::Marked(mark) => (mark, Some(mark)),
            Table::Own(table) => (table, None),
        };
        let (device, handle) = (tun.index()?, tun.as_fd().try_clone_to_owned()?);
        let (inside, memory, moved) = (inside.clone(), vec![0; LONGEST], Cell::new(false));
        Ok(Self { news, questions, device, handle, inside, table, mark, memory, moved })
    }

    /// Whether somebody has moved the device into another network namespace, where its addresses and routes are his.
    pub fn has_moved(&self) -> bool {
        self.moved.get()
    }

    /// Readable when something has changed.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.news.as_fd()
    }

    /// Takes what the kernel says. Whether it is about what protects.
    ///
    /// # Errors
    /// As the system says.
    pub fn changed(&mut self) -> io::Result<bool> {
        let mut changed = false;
        for _ in 0..BATCH {
            match recv(self.news.as_raw_fd(), &mut self.memory, MsgFlags::MSG_DONTWAIT) {
                Ok(len) => {
                    let bytes = self.memory.get(..len).unwrap_or_default();
                    changed |= messages(bytes).any(|message| self.concerns(&message));
                }
                Err(Errno::EAGAIN | Errno::EINTR) => break,
                // Something was left out.
                Err(Errno::ENOBUFS) => changed = true,
                Err(why) => return Err(why.into()),
            }
        }
        Ok(changed)
    }

    fn concerns(&self, message: &NetlinkPayload<Message>) -> bool {
        let NetlinkPayload::InnerMessage(message) = message else { return false };
        match message {
            Message::NewLink(link) | Message::DelLink(link) => link.header.index == self.device,
            // The last one takes routes along, and the kernel does not say that.
            Message::DelAddress(address) => address.header.index == self.device,
            Message::NewRoute(route) | Message::DelRoute(route) => {
                let found = Route::of(route);
                found.table == self.table && self.inside.routes.iter().any(|ours| found.to == Some(*ours))
            }
            Message::DelRule(_) => self.mark.is_some(),
            _ => false,
        }
    }

    /// What is missing, in words; nothing, if all stands.
    ///
    /// # Errors
    /// As the system says.
    pub fn missing(&self) -> io::Result<Vec<String>> {
        let Inside { tun, routes, .. } = &self.inside;
        match self.flags()? {
            _ if self.moved.get() => {}
            None if self.lives() => self.moved.set(true),
            None => return Ok(vec![format!("the device {tun}")]),
            Some(flags) if !flags.contains(LinkFlags::Up) => {
                return Ok(vec![format!("the device {tun}, which is down")]);
            }
            Some(_) => {}
        }
        let mut missing = Vec::new();
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let ours: Vec<&IpNet> = routes.iter().filter(|route| family_of(route) == family).collect();
            if ours.is_empty() {
                continue;
            }
            let main = self.table == u32::from(RouteHeader::RT_TABLE_MAIN);
            let table = if main { String::new() } else { format!(" in table {}", self.table) };
            let into = self.routes(family, RouteType::Unicast)?;
            let none = self.routes(family, RouteType::Unreachable)?;
            for route in ours {
                let leads = |one: &Route| one.to == Some(*route) && one.device == Some(self.device);
                if !self.moved.get() && !into.iter().any(leads) {
                    missing.push(format!("the route {route} dev {tun}{table}"));
                }
                if !none.iter().any(|one| one.to == Some(*route) && is_unreachable(route, one.metric)) {
                    missing.push(format!("the route unreachable {route}{table}"));
                }
            }
            if let Some(mark) = self.mark
                && !self.has_rule(family, mark)?
            {
                missing.push(format!("the rule not fwmark {mark} lookup {mark}"));
            }
        }
        Ok(missing)
    }

    /// Whether the device is there, which no command brings back.
    ///
    /// # Errors
    /// As the system says.
    pub fn has_device(&self) -> io::Result<bool> {
        Ok(self.flags()?.is_some() || self.moved.get())
    }

    /// Whether there is such a device somewhere: of one that is deleted nothing is left but the handle.
    fn lives(&self) -> bool {
        let mut handle = [PollFd::new(self.handle.as_fd(), PollFlags::empty())];
        let asked = poll(&mut handle, PollTimeout::ZERO);
        asked.is_ok() && !handle[0].revents().is_some_and(|events| events.contains(PollFlags::POLLERR))
    }

    fn flags(&self) -> io::Result<Option<LinkFlags>> {
        let mut question = LinkMessage::default();
        question.header.index = self.device;
        let answers = self.ask(Message::GetLink(question), false)?;
        Ok(answers.into_iter().find_map(|answer| match answer {
            Message::NewLink(link) if link.header.index == self.device => Some(link.header.flags),
            _ => None,
        }))
    }

    fn routes(&self, family: AddressFamily, kind: RouteType) -> io::Result<Vec<Route>> {
        let mut question = RouteMessage::default();
        question.header.address_family = family;
        question.header.kind = kind;
        question.attributes.push(RouteAttribute::Table(self.table));
        if kind == RouteType::Unicast {
            question.attributes.push(RouteAttribute::Oif(self.device));
        }
        let answers = self.ask(Message::GetRoute(question), true)?;
        let route = |answer| match answer {
            Message::NewRoute(route) if route.header.kind == kind => Some(Route::of(&route)),
            _ => None,
        };
        Ok(answers.into_iter().filter_map(route).filter(|route| route.table == self.table).collect())
    }

    fn has_rule(&self, family: AddressFamily, mark: u32) -> io::Result<bool> {
        let mut question = RuleMessage::default();
        question.header.family = family;
        let answers = self.ask(Message::GetRule(question), true)?;
        Ok(answers.iter().any(|answer| {
            let Message::NewRule(rule) = answer else { return false };
            rule.header.action == RuleAction::ToTable
                && rule.header.flags.contains(RuleFlags::Invert)
                && rule.attributes.contains(&RuleAttribute::FwMark(mark))
                && rule.attributes.contains(&RuleAttribute::Table(mark))
        }))
    }

    /// All answers to a question. The kernel gives them at once; what there is not is no answer.
    fn ask(&self, question: Message, all: bool) -> io::Result<Vec<Message>> {
        let mut header = NetlinkHeader::default();
        header.flags = if all { NLM_F_REQUEST | NLM_F_DUMP } else { NLM_F_REQUEST };
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(question));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.questions.send(&bytes, 0)?;
        let (mut answers, mut memory) = (Vec::new(), vec![0; LONGEST]);
        loop {
            let len = match recv(self.questions.as_raw_fd(), &mut memory, MsgFlags::empty()) {
                Ok(len) => len,
                Err(Errno::EINTR) => continue,
                Err(why) => return Err(why.into()),
            };
            for payload in messages(memory.get(..len).unwrap_or_default()) {
                match payload {
                    NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                    NetlinkPayload::Done(_) => return Ok(answers),
                    NetlinkPayload::Error(error) => {
                        return match Errno::from_raw(error.raw_code().saturating_abs()) {
                            Errno::UnknownErrno | Errno::ENOENT | Errno::ENODEV | Errno::ESRCH => Ok(answers),
                            why => Err(why.into()),
                        };
                    }
                    NetlinkPayload::Noop | NetlinkPayload::Overrun(_) | _ => {}
                }
            }
            if !all && !answers.is_empty() {
                return Ok(answers);
            }
        }
    }
}

/// What is looked at of a route.
struct Route {
    /// `None`: not of IP.
    to: Option<IpNet>,
    table: u32,
    device: Option<u32>,
    metric: Option<u32>,
}

impl Route {
    fn of(message: &RouteMessage) -> Self {
        let header = &message.header;
        let unspecified = match header.address_family {
            AddressFamily::Inet => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            AddressFamily::Inet6 => Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
            _ => None,
        };
        let (mut to, mut table, mut device, mut metric) = (unspecified, header.table.into(), None, None);
        for attribute in &message.attributes {
            match attribute {
                RouteAttribute::Destination(RouteAddress::Inet(address)) => to = Some((*address).into()),
                RouteAttribute::Destination(RouteAddress::Inet6(address)) => to = Some((*address).into()),
                RouteAttribute::Table(number) => table = *number,
                RouteAttribute::Oif(index) => device = Some(*index),
                RouteAttribute::Priority(priority) => metric = Some(*priority),
                _ => {}
            }
        }
        let to = to.and_then(|to| IpNet::new(to, header.destination_prefix_length).ok());
        Self { to, table, device, metric }
    }
}

fn family_of(route: &IpNet) -> AddressFamily {
    if route.addr().is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

/// The messages of a datagram; what is not understood is left out.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = NetlinkPayload<Message>> {
    std::iter::from_fn(move || {
        loop {
            let len = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
            let whole = bytes.get(..len).filter(|_| len >= 16)?;
            bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
            if let Ok(message) = NetlinkMessage::<Message>::deserialize(whole) {
                return Some(message.payload);
            }
        }
    })
}
