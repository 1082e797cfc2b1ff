// SPDX-License-Identifier: Apache-2.0
//! The process that has the table: it alone may change it, it has no keys, and it goes when the gateway goes. The table
//! stays.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use ace_ipsec::Selector;
use caps::{CapSet, Capability, CapsHashSet};
use ipnet::IpNet;
use netlink_sys::protocols::NETLINK_NETFILTER;
use netlink_sys::{Socket, SocketAddr};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;
use nix::sys::socket::{MsgFlags, recv, setsockopt, sockopt};
use serde::{Deserialize, Serialize};

use super::cover::Cover;
use super::kernel::{Kernel, is};
use super::layers::{Id, Layers, Ruled, Verdict, Way};
use super::message::Answer;
use super::table::{Setup, Table, stand_in};
use crate::io::setup;

/// linux/netfilter/nfnetlink.h: NFNLGRP_NFTABLES.
const GROUP: u32 = 7;
/// For news of as many.
const NEWS: usize = 16 << 20;
/// How often it is looked how much was dropped.
const COUNT: Duration = Duration::from_secs(1);
/// Whoever negotiates installs one policy after the other. So long what an earlier gateway has left holds from the first
/// one on.
const INSTALLING: Duration = Duration::from_secs(1);

/// What the gateway says.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// The first one. With a user the process becomes that one, and may change tables all the same. A table that an
    /// earlier one has left stays as it is until rules come.
    Setup(Setup, Option<String>),
    /// Rules that came, changed or went, and a number that [`Word::Done`] gives back. Whether whoever negotiates has begun to
    /// install policies: a second later what an earlier gateway has left goes.
    Edit(u64, Vec<(Id, Option<Edit>)>, bool),
    /// All that there are at the beginning: nothing else holds from now on.
    All(u64, Vec<(Id, Option<Edit>)>),
}

/// A rule as it is now.
#[derive(Debug, Serialize, Deserialize)]
pub struct Edit {
    /// Packets that it is for.
    pub selector: Selector,
    /// Of two rules that are for a packet the one with the smaller number decides.
    pub order: u64,
    /// It goes where it wants to.
    pub pass: bool,
}

/// What the process says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Word {
    /// Orders are carried out up to this number; 0 is that of the setup.
    Done(u64),
    /// It cannot be carried out, and the process ends.
    Failed(String),
    /// Somebody took the table away or changed it, and it is as it was.
    PutBack,
    /// So many packets were dropped by now.
    Dropped(u64),
}

/// Does what the gateway says on a socket until that is closed.
///
/// # Errors
/// Of the socket. What nftables says goes to the gateway.
pub fn keep(orders: impl Read + AsFd, mut words: impl Write) -> io::Result<()> {
    // Whoever ends the gateway does not end this before it.
    let _ = SigSet::all().thread_block();
    let mut keeper: Option<Keeper> = None;
    let mut orders = BufReader::with_capacity(1 << 16, orders);
    let mut line = Vec::new();
    loop {
        if orders.buffer().is_empty() {
            let waiting = [Some(orders.get_ref().as_fd()), keeper.as_ref().map(|keeper| keeper.news.as_fd())];
            let mut fds: Vec<PollFd<'_>> =
                waiting.into_iter().flatten().map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
            let timeout = if keeper.is_some() {
                PollTimeout::from(COUNT.as_millis() as u16)
            } else {
                PollTimeout::NONE
            };
            poll(&mut fds, timeout)?;
            let ordered = fds.first().and_then(PollFd::any).unwrap_or(true);
            drop(fds);
            if let Some(keeper) = &mut keeper {
                let looked = keeper.look();
                tell(&mut words, looked)?;
            }
            if !ordered {
                continue;
            }
        }
        let order: Order = match next(&mut orders, &mut line)? {
            Some(order) => order,
            None => return Ok(()),
        };
        let done = match (order, &mut keeper) {
            (Order::Setup(setup, user), _) => Keeper::open(setup, user.as_deref()).map(|opened| {
                keeper = Some(opened);
                0
            }),
            (Order::Edit(mut last, mut edits, mut policies), Some(keeper)) => {
                // What waits is done at once: the kernel copies a set each time.
                while orders.buffer().contains(&b'\n')
                    && let Some(Order::Edit(number, more, begun)) = next(&mut orders, &mut line)?
                {
                    (last, policies) = (number, policies | begun);
                    edits.extend(more);
                }
                keeper.edit(edits, false, policies).map(|()| last)
            }
            (Order::All(last, edits), Some(keeper)) => keeper.edit(edits, true, false).map(|()| last),
            (Order::Edit(..) | Order::All(..), None) => {
                Err(io::Error::other("an edit before there is a table"))
            }
        };
        tell(&mut words, done.map(|number| vec![Word::Done(number)]))?;
    }
}

fn next(orders: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<Order>> {
    line.clear();
    match orders.read_until(b'\n', line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_slice(line)?)),
    }
}

fn tell(words: &mut impl Write, looked: io::Result<Vec<Word>>) -> io::Result<()> {
    let (list, failed) = match looked {
        Ok(list) => (list, None),
        Err(why) => (vec![Word::Failed(why.to_string())], Some(why)),
    };
    for word in list {
        let mut line = serde_json::to_vec(&word)?;
        line.push(b'\n');
        words.write_all(&line)?;
    }
    failed.map_or(Ok(()), Err)
}

/// Of all privileges it has one, for good.
fn confine(user: Option<&str>) -> io::Result<()> {
    let admin = CapsHashSet::from([Capability::CAP_NET_ADMIN]);
    caps::securebits::set_keepcaps(true).map_err(io::Error::other)?;
    if let Some(user) = user {
        setup::become_user(user).map_err(io::Error::other)?;
    }
    let wanted = [
        (CapSet::Inheritable, CapsHashSet::new()),
        (CapSet::Effective, admin.clone()),
        (CapSet::Permitted, admin),
    ];
    for (set, wanted) in wanted {
        caps::set(None, set, &wanted).map_err(io::Error::other)?;
    }
    setup::confine().map_err(io::Error::other)
}

struct Keeper {
    table: Table,
    /// Of what comes and of what leaves.
    layers: [Layers; 2],
    /// Where an earlier gateway has left a table: this one has the rules of now, and that one holds besides.
    beside: Option<Table>,
    /// When policies came while it did.
    began: Option<Instant>,
    kernel: Kernel,
    news: Socket,
    /// Of those before the table was put back.
    dropped_before: u64,
    dropped: u64,
    counted: Instant,
}

impl Keeper {
    fn open(setup: Setup, user: Option<&str>) -> io::Result<Self> {
        let mut news = Socket::new(NETLINK_NETFILTER)?;
        news.bind(&SocketAddr::new(0, 0))?;
        news.add_membership(GROUP)?;
        news.set_non_blocking(true)?;
        // News of ten thousand elements come at once. With a small room it is asked whether they were all ours.
        let _ = setsockopt(&news, sockopt::RcvBufForce, &NEWS);
        let routed = |(number, route): (u64, &IpNet)| {
            let selector = Selector { destination: Some(*route), ..Selector::default() };
            let ruled = Ruled { covers: Cover::of(&selector), order: u64::MAX, verdict: Verdict::Drop };
            ((Way::Out, u32::MAX, number), Some(ruled))
        };
        let mut layers = [Layers::default(), Layers::default()];
        let [_, leaving] = &mut layers;
        leaving.edit((0..).zip(&setup.routes).map(routed));
        let mut keeper = Self {
            table: Table::new(setup),
            layers,
            beside: None,
            began: None,
            kernel: Kernel::open()?,
            news,
            dropped_before: 0,
            dropped: 0,
            counted: Instant::now(),
        };
        let layers = keeper.layers.each_ref();
        match keeper.kernel.put(&mut keeper.table, layers, false) {
            Err(why) if is(&why, Errno::EEXIST) => {
                let (batch, last) = keeper.table.adopt(keeper.kernel.next);
                match keeper.kernel.commit(&batch, last) {
                    // An older kernel knows no owners, or the table had none.
                    Err(why) if is(&why, Errno::EOPNOTSUPP) => {}
                    adopted => adopted?,
                }
                let mut beside = keeper.table.stand_in();
                keeper.kernel.put(&mut beside, keeper.layers.each_ref(), true)?;
                keeper.beside = Some(beside);
            }
            made => made?,
        }
        confine(user)?;
        Ok(keeper)
    }

    /// Puts the table in the place of whatever has its name. In a batch that replaces a table the kernel fills the new sets
    /// last, and until then packets find nothing in them: so another table holds meanwhile.
    fn anew(&mut self) -> io::Result<()> {
        let (layers, mut meanwhile) = (self.layers.each_ref(), self.table.stand_in());
        self.kernel.put(&mut meanwhile, layers, true)?;
        self.kernel.put(&mut self.table, layers, true)?;
        self.kernel.remove(meanwhile.name())?;
        self.beside = None;
        self.dropped_before = self.dropped;
        Ok(())
    }

    fn edit(&mut self, edits: Vec<(Id, Option<Edit>)>, all: bool, policies: bool) -> io::Result<()> {
        let ruled = |edit: Edit| Ruled {
            covers: Cover::of(&edit.selector),
            order: edit.order,
            verdict: if edit.pass { Verdict::Pass } else { Verdict::Drop },
        };
        let (coming, leaving): (Vec<_>, Vec<_>) = edits
            .into_iter()
            .map(|(id, edit)| (id, edit.map(ruled)))
            .partition(|((way, ..), _)| *way == Way::In);
        let [clear, out] = &mut self.layers;
        let changes = [clear.edit(coming), out.edit(leaving)];
        if policies {
            self.began.get_or_insert_with(Instant::now);
        }
        if all {
            return self.anew();
        }
        if changes.iter().any(|changes| changes.anew) {
            return self.again();
        }
        let table = self.beside.as_mut().unwrap_or(&mut self.table);
        let (batch, last) = table.change(changes, self.kernel.next);
        match self.kernel.commit(&batch, last) {
            // Somebody has been at the table, and the news of it are on their way.
            Err(why) if is(&why, Errno::ENOENT) => self.again(),
            done => done,
        }
    }

    /// All rules of now anew, beside what an earlier gateway has left or without it.
    fn again(&mut self) -> io::Result<()> {
        match &mut self.beside {
            Some(beside) => self.kernel.put(beside, self.layers.each_ref(), true),
            None => self.anew(),
        }
    }

    /// What has happened meanwhile.
    fn look(&mut self) -> io::Result<Vec<Word>> {
        let mut words = Vec::new();
        if self.meddled()? {
            self.anew()?;
            words.push(Word::PutBack);
        }
        if self.beside.is_some() && self.began.is_some_and(|began| began.elapsed() >= INSTALLING) {
            self.anew()?;
        }
        if self.counted.elapsed() >= COUNT {
            self.counted = Instant::now();
            // Nobody needs it in order to drop packets.
            if let Ok(Some(count)) = self.kernel.dropped(&self.table)
                && self.dropped_before + count != self.dropped
            {
                self.dropped = self.dropped_before + count;
                words.push(Word::Dropped(self.dropped));
            }
        }
        Ok(words)
    }

    /// Whether somebody else has changed the table.
    fn meddled(&mut self) -> io::Result<bool> {
        let (mut memory, mut meddled) = (vec![0; 1 << 16], false);
        loop {
            match recv(self.news.as_raw_fd(), &mut memory, MsgFlags::MSG_DONTWAIT) {
                Ok(len) => {
                    let ours = |answer: &Answer<'_>| {
                        let name = answer.attribute(1).and_then(|name| name.strip_suffix(&[0]));
                        answer.port != self.kernel.port && name == Some(self.table.name().as_bytes())
                    };
                    meddled |= Answer::all(memory.get(..len).unwrap_or_default()).any(|answer| ours(&answer));
                }
                Err(Errno::EAGAIN | Errno::EINTR) => return Ok(meddled),
                // Something was left out: was it ours alone?
                Err(Errno::ENOBUFS) => meddled |= self.kernel.generation()? != self.kernel.done,
                Err(why) => return Err(why.into()),
            }
        }
    }
}

/// Takes a table away, from whoever was its keeper.
///
/// # Errors
/// As the system says.
pub fn release(table: &str) -> io::Result<()> {
    let mut kernel = Kernel::open()?;
    kernel.remove(table)?;
    // Of one that was killed while it made the table anew.
    kernel.remove(&stand_in(table))
}
