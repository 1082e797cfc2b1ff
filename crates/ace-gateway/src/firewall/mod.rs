// SPDX-License-Identifier: Apache-2.0
//! Clear packets that a rule covers never reach the inside (RFC 4301, 5.2), and never leave by another way than the
//! gateway: a table in nftables drops them where they come in and where they leave. A process of its own has that table, without keys and with no other
//! privilege.

mod cover;
mod expression;
mod keeper;
mod kernel;
mod layers;
mod message;
mod table;

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use ace_ipsec::{Rule, RuleChange, Treatment};
use thiserror::Error;

pub use keeper::{Edit, Order, Word, keep};
pub use layers::{Id, Way};
pub use table::{Setup, name};

/// For the kernel and a process that begins.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why clear packets are not kept out.
#[derive(Debug, Error)]
pub enum FirewallError {
    /// The process does not start or does not answer.
    #[error("the process that has the firewall's table does not answer: {0}")]
    Process(io::Error),
    /// nftables refuses.
    #[error("nftables does not take the table {table}: {why}")]
    Refused {
        /// Its name.
        table: String,
        /// As the system says.
        why: String,
    },
}

/// What has become of it meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Somebody took the table away or changed it, and it is as it was.
    pub put_back: bool,
}

/// The gateway's end.
pub struct Firewall {
    table: String,
    orders: Sender<Order>,
    words: BufReader<UnixStream>,
    line: Vec<u8>,
    sent: u64,
    done: u64,
    dropped: u64,
}

impl Firewall {
    /// Starts the process, with an empty table or with what an earlier gateway has left: that holds until policies come or
    /// [`Firewall::begin`] says that there are none.
    ///
    /// # Errors
    /// [`FirewallError`], above all where the kernel or the privileges for it are missing.
    pub fn start(setup: Setup, user: Option<&str>) -> Result<Self, FirewallError> {
        let (ours, theirs) = UnixStream::pair().map_err(FirewallError::Process)?;
        let (words, theirs): (UnixStream, OwnedFd) = (ours, theirs.into());
        // Whatever program this is, also when its file has been replaced.
        let mut command = Command::new("/proc/self/exe");
        command.args(["gateway", "firewall"]).env_clear().stdin(Stdio::from(theirs)).stdout(Stdio::null());
        let mut child = command.spawn().map_err(FirewallError::Process)?;
        let out = words.try_clone().map_err(FirewallError::Process)?;
        let (orders, waiting) = channel();
        let table = setup.table.clone();
        let send = move || {
            let mut out = out;
            while let Ok(order) = waiting.recv() {
                let Ok(mut line) = serde_json::to_vec(&order) else { continue };
                line.push(b'\n');
                if out.write_all(&line).is_err() {
                    break;
                }
            }
            // It sees that nothing comes any more.
            let _ = out.shutdown(std::net::Shutdown::Both);
            let _ = child.wait();
        };
        std::thread::Builder::new()
            .name("firewall".to_owned())
            .spawn(send)
            .map_err(FirewallError::Process)?;
        let mut firewall = Self {
            table,
            orders,
            words: BufReader::new(words),
            line: Vec::new(),
            sent: 1,
            done: 0,
            dropped: 0,
        };
        firewall.order(Order::Setup(setup, user.map(str::to_owned)))?;
        firewall.wait_for(1)?;
        Ok(firewall)
    }

    fn order(&self, order: Order) -> Result<(), FirewallError> {
        self.orders.send(order).map_err(|_| FirewallError::Process(ErrorKind::BrokenPipe.into()))
    }

    /// Rules that came, changed or went, and whether policies are among those that there are. It is done soon;
    /// [`Firewall::wait`] waits for it.
    ///
    /// # Errors
    /// The process is gone.
    pub fn edit(&mut self, edits: Vec<(Id, Option<Edit>)>, policies: bool) -> Result<(), FirewallError> {
        if edits.is_empty() {
            return Ok(());
        }
        self.sent += 1;
        self.order(Order::Edit(self.sent, edits, policies))
    }

    /// All rules that there are at the beginning. What an earlier gateway has left goes at once.
    ///
    /// # Errors
    /// The process is gone.
    pub fn begin(&mut self, rules: Vec<(Id, Option<Edit>)>) -> Result<(), FirewallError> {
        self.sent += 1;
        self.order(Order::All(self.sent, rules))
    }

    /// Until everything is done.
    ///
    /// # Errors
    /// [`FirewallError`].
    pub fn wait(&mut self) -> Result<(), FirewallError> {
        self.wait_for(self.sent)
    }

    fn wait_for(&mut self, number: u64) -> Result<(), FirewallError> {
        self.words.get_ref().set_nonblocking(false).map_err(FirewallError::Process)?;
        self.words.get_ref().set_read_timeout(Some(PATIENCE)).map_err(FirewallError::Process)?;
        while self.done < number {
            self.word()?;
        }
        Ok(())
    }

    /// Readable when there are news.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.words.get_ref().as_fd()
    }

    /// What the process has said meanwhile.
    ///
    /// # Errors
    /// The process is gone, or nftables does not take the rules any more.
    pub fn news(&mut self) -> Result<News, FirewallError> {
        let mut news = News::default();
        self.words.get_ref().set_nonblocking(true).map_err(FirewallError::Process)?;
        loop {
            match self.word() {
                Ok(Word::PutBack) => news.put_back = true,
                Ok(_) => {}
                Err(FirewallError::Process(why)) if why.kind() == ErrorKind::WouldBlock => return Ok(news),
                Err(why) => return Err(why),
            }
        }
    }

    fn word(&mut self) -> Result<Word, FirewallError> {
        // What there is of a line stays until the rest of it comes.
        self.words.read_until(b'\n', &mut self.line).map_err(FirewallError::Process)?;
        if self.line.last() != Some(&b'\n') {
            return Err(FirewallError::Process(ErrorKind::UnexpectedEof.into()));
        }
        let word = serde_json::from_slice(&self.line);
        self.line.clear();
        let word = word.map_err(|why| FirewallError::Process(why.into()))?;
        match &word {
            // The first one comes before any edit.
            Word::Done(number) => self.done = (*number).max(1),
            Word::Dropped(count) => self.dropped = *count,
            Word::Failed(why) => {
                return Err(FirewallError::Refused { table: self.table.clone(), why: why.clone() });
            }
            Word::PutBack => {}
        }
        Ok(word)
    }

    /// Clear packets that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// A change of rules of a core, as an edit of the table.
pub fn edit_of<S>(way: Way, core: u32, change: RuleChange<S>) -> (Id, Option<Edit>) {
    let edit = |(rule, order): (Rule, u64)| Edit {
        selector: rule.selector,
        order,
        pass: rule.treatment == Treatment::Bypass,
    };
    ((way, core, change.id.number()), change.now.map(edit))
}

/// Takes a gateway's table away.
///
/// # Errors
/// As the system says.
pub fn release(tun: &str) -> Result<(), FirewallError> {
    let table = name(tun);
    keeper::release(&table).map_err(|why| FirewallError::Refused { table, why: why.to_string() })
}
