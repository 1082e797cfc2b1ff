// SPDX-License-Identifier: Apache-2.0
//! Which keys were used, how far, and who uses them now. Nothing here writes.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ace_ipsec::model::KeyUse;
use ace_ipsec::{Account, Direction, SaSpec};
use thiserror::Error;

use super::record::{Identity, KeyDigest, PART, Record, place, random};

/// Keys that are remembered; then the one that was given up first makes room.
const MOST: usize = 1 << 20;
/// Numbers that are written down at once: so many that a write stands for a tenth of a second of packets. What is granted
/// and not used when the program is killed is passed over: outbound it is not sent, inbound it is not taken.
const LEAST_BLOCK: u64 = 16;
const MOST_BLOCK: u64 = 1 << 22;
const OFTEN: Duration = Duration::from_millis(100);
const SELDOM: Duration = Duration::from_secs(1);

/// Why an SA must not be installed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// Counters may start at the number only under a key that nothing was sealed with.
    #[error(
        "`fresh_key` is not so: this key was used for SPI {spi:#x} to {peer}, and numbers of its packets would come again; a new \
         key is wanted, or no `fresh_key`"
    )]
    Used {
        /// The SPI of the SA that had the key.
        spi: u32,
        /// The other end of that SA.
        peer: IpAddr,
    },
    /// The same, where counters began anywhere.
    #[error(
        "`fresh_key` is not so: this SA was used without it, and its counters began anywhere; a new key is wanted, or no \
         `fresh_key`"
    )]
    Random,
    /// The very SA is there.
    #[error("an SA with this key, SPI, direction and peer is there already")]
    InUse,
}

struct Entry {
    /// As it stands in the file; never written if its serial is 0.
    record: Record,
    /// Of who uses it now.
    live: Option<Arc<Account>>,
    /// How often it was admitted: another time it is somebody else's.
    generation: u32,
    /// The highest number that was used, if that is known.
    used: Option<u64>,
    block: u64,
    extended: Option<Instant>,
    /// What it had used when somebody looked whether it is idle.
    seen: u64,
    /// In the order of giving up, which is which.
    given_up: u64,
}

/// A record to be written.
pub struct Write {
    entry: usize,
    generation: u32,
    record: Record,
}

impl Write {
    /// Where, and what.
    pub fn bytes(&self) -> (u64, [u8; PART]) {
        (place(self.entry, self.record.serial), self.record.to_bytes())
    }
}

#[derive(Default)]
pub struct Book {
    salt: [u8; 32],
    entries: Vec<Entry>,
    by_identity: HashMap<Identity, usize>,
    /// Outbound.
    by_key: HashMap<KeyDigest, Vec<usize>>,
    /// To be written: the entry, and the number that is wanted at least.
    wanted: Vec<(usize, u64)>,
    given_up: VecDeque<(usize, u64)>,
    count: u64,
}

fn token(entry: usize, generation: u32) -> u64 {
    (entry as u64) << 32 | u64::from(generation)
}

impl Book {
    /// What a state file says. Records of which neither copy is whole were never used.
    pub fn new(salt: [u8; 32], records: impl IntoIterator<Item = Option<Record>>) -> Self {
        let mut book = Self { salt, ..Self::default() };
        for record in records {
            let entry = book.entries.len();
            // A place that nobody has is kept for the order of the file.
            let nobody = Identity { key: [0; 16], peer: [0; 4].into(), spi: 0, inbound: true, ah: false };
            let record = record.unwrap_or(Record { identity: nobody, random: false, serial: 0, reached: 0 });
            book.put(entry, record);
            book.give_up(entry);
        }
        book
    }

    fn put(&mut self, entry: usize, record: Record) {
        let identity = record.identity;
        let generation = self.entries.get(entry).map_or(0, |old| old.generation);
        let new = Entry {
            record,
            live: None,
            generation,
            used: None,
            block: LEAST_BLOCK,
            extended: None,
            seen: 0,
            given_up: 0,
        };
        match self.entries.get_mut(entry) {
            Some(old) => *old = new,
            None => self.entries.push(new),
        }
        self.by_identity.insert(identity, entry);
        if !identity.inbound {
            self.by_key.entry(identity.key).or_default().push(entry);
        }
    }

    /// Who gave up first is forgotten first.
    fn give_up(&mut self, entry: usize) {
        self.count += 1;
        if let Some(it) = self.entries.get_mut(entry) {
            it.given_up = self.count;
            self.given_up.push_back((entry, self.count));
        }
    }

    /// A place for a key that was never seen.
    fn place(&mut self) -> usize {
        while self.entries.len() >= MOST
            && let Some((entry, when)) = self.given_up.pop_front()
        {
            let Some(old) = self.entries.get(entry).filter(|it| it.live.is_none() && it.given_up == when)
            else {
                continue;
            };
            let identity = old.record.identity;
            self.by_identity.remove(&identity);
            if let Some(all) = self.by_key.get_mut(&identity.key) {
                all.retain(|other| *other != entry);
                if all.is_empty() {
                    self.by_key.remove(&identity.key);
                }
            }
            return entry;
        }
        self.entries.len()
    }

    /// Whether an SA's key may be used as it wants to, and what is known of it.
    pub fn check(&self, spec: &SaSpec) -> Result<(Identity, Option<usize>), KeyError> {
        let identity = Identity::of(&self.salt, spec);
        let found = self.by_identity.get(&identity).copied();
        if spec.direction == Direction::Out && spec.key_use == KeyUse::Fresh {
            let same_key = self.by_key.get(&identity.key).into_iter().flatten();
            let other = same_key.filter(|entry| Some(**entry) != found);
            let mut others = other.filter_map(|entry| self.entries.get(*entry));
            if let Some(Entry { record, .. }) = others.next() {
                return Err(KeyError::Used { spi: record.identity.spi, peer: record.identity.peer });
            }
        }
        let entry = found.and_then(|at| self.entries.get(at));
        if !identity.inbound && spec.key_use == KeyUse::Fresh && entry.is_some_and(|it| it.record.random) {
            return Err(KeyError::Random);
        }
        Ok((identity, found))
    }

    /// Takes an SA: by which number it begins, what is known of it here, and its account.
    pub fn admit(&mut self, spec: &SaSpec) -> Result<(u64, u64, Arc<Account>), KeyError> {
        let (identity, found) = self.check(spec)?;
        let live = found.and_then(|at| self.entries.get(at)).and_then(|entry| entry.live.as_ref());
        if live.is_some_and(|account| Arc::strong_count(account) > 1) {
            return Err(KeyError::InUse);
        }
        let at = found.unwrap_or_else(|| {
            let at = self.place();
            let serial = self.entries.get(at).map_or(0, |old| old.record.serial);
            self.put(at, Record { identity, random: random(spec), serial, reached: 0 });
            at
        });
        let Some(entry) = self.entries.get_mut(at) else { return Err(KeyError::InUse) };
        if let Some(account) = entry.live.take() {
            entry.used = Some(account.close());
        }
        entry.record.random |= random(spec);
        let used = entry.used.unwrap_or(entry.record.reached).max(spec.first_sequence.saturating_sub(1));
        let account = Arc::new(Account::after(used));
        entry.live = Some(Arc::clone(&account));
        entry.generation = entry.generation.wrapping_add(1);
        entry.used = Some(used);
        let token = token(at, entry.generation);
        // It will be wanted soon, and one write does for all that are new.
        self.wanted.push((at, 0));
        Ok((used.saturating_add(1), token, account))
    }

    /// An SA is no more. What it has used is written with the next write; more than that is there until then.
    pub fn release(&mut self, token: u64) {
        let at = (token >> 32) as usize;
        let Some(entry) = self.entries.get_mut(at).filter(|it| it.generation == token as u32) else { return };
        if let Some(account) = entry.live.take() {
            entry.used = Some(account.close());
            self.wanted.push((at, 0));
            self.give_up(at);
        }
    }

    /// Takes back most of what is granted to SAs that were idle since the last time: little is passed over if the gateway is
    /// killed then.
    pub fn calm(&mut self) {
        for (at, entry) in self.entries.iter_mut().enumerate() {
            let Some(account) = &entry.live else { continue };
            let used = account.used();
            let idle = std::mem::replace(&mut entry.seen, used) == used;
            let least = used.saturating_add(LEAST_BLOCK);
            if idle && account.granted() > least.saturating_add(LEAST_BLOCK) && account.lower(least) {
                (entry.block, entry.extended) = (LEAST_BLOCK, None);
                self.wanted.push((at, 0));
            }
        }
    }

    /// All SAs are no more.
    pub fn release_all(&mut self) {
        let live = self.entries.iter().enumerate().filter(|(_, entry)| entry.live.is_some());
        let tokens: Vec<u64> = live.map(|(at, entry)| token(at, entry.generation)).collect();
        tokens.into_iter().for_each(|token| self.release(token));
    }

    /// Numbers up to this one are wanted.
    pub fn want(&mut self, token: u64, number: u64) {
        let at = (token >> 32) as usize;
        if self.entries.get(at).is_some_and(|it| it.generation == token as u32 && it.live.is_some()) {
            self.wanted.push((at, number));
        }
    }

    pub fn is_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// What has to be written now.
    pub fn collect(&mut self, now: Instant) -> Vec<Write> {
        let mut wanted = std::mem::take(&mut self.wanted);
        // Of several wishes of one the greatest.
        wanted.sort_unstable_by(|a, b| b.cmp(a));
        wanted.dedup_by_key(|(at, _)| *at);
        let mut writes = Vec::with_capacity(wanted.len());
        for (at, number) in wanted {
            let Some(entry) = self.entries.get_mut(at) else { continue };
            let reached = match &entry.live {
                Some(account) => {
                    let since = entry.extended.map(|before| now.saturating_duration_since(before));
                    entry.block = match since {
                        Some(since) if since < OFTEN => (entry.block * 4).min(MOST_BLOCK),
                        Some(since) if since > SELDOM => (entry.block / 2).max(LEAST_BLOCK),
                        _ => entry.block,
                    };
                    entry.extended = Some(now);
                    // Never less than what is granted: of that anything may be used already.
                    number.max(account.used()).saturating_add(entry.block).max(account.granted())
                }
                // Of one that was never written nothing was used.
                None if entry.record.serial == 0 => continue,
                None => entry.used.unwrap_or(entry.record.reached),
            };
            let record = Record { serial: entry.record.serial + 1, reached, ..entry.record };
            writes.push(Write { entry: at, generation: entry.generation, record });
        }
        // Places that follow one another are written one behind the other.
        writes.sort_unstable_by_key(|write| write.entry);
        writes
    }

    /// They are written: their numbers may be used.
    pub fn publish(&mut self, writes: &[Write]) {
        for write in writes {
            let Some(entry) = self.entries.get_mut(write.entry) else { continue };
            entry.record.serial = write.record.serial;
            entry.record.reached = write.record.reached;
            if entry.generation == write.generation
                && let Some(account) = &entry.live
            {
                account.grant(write.record.reached);
            }
        }
    }

    /// They could not be written, and are wanted as before.
    pub fn put_back(&mut self, writes: &[Write]) {
        self.wanted.extend(writes.iter().map(|write| (write.entry, 0)));
    }
}
