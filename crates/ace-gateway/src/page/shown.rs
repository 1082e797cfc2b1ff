// SPDX-License-Identifier: Apache-2.0
//! What the page shows of a gateway: of ten thousand SAs those that are looked for, in the order that is wanted, and what
//! passes in Mb/s.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::Serialize;

use crate::engines::View;
use crate::status::{Sa, State, Status};

/// Rows of a page that somebody looks at.
const ROWS: usize = 200;
/// Two samples are at least so far apart, in seconds.
const BETWEEN: f64 = 0.9;

/// What SAs are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The order of the data plane.
    #[default]
    Place,
    /// As in the SA file.
    Name,
    /// The SPI.
    Spi,
    /// Out or in.
    Direction,
    /// The other end.
    Peer,
    /// Cipher and authentication.
    Suite,
    /// Packets that left.
    Packets,
    /// Their bytes.
    Bytes,
    /// What leaves at present.
    Mbps,
    /// Packets that it dropped.
    Dropped,
}

impl By {
    fn named(name: &str) -> Self {
        match name {
            "name" => By::Name,
            "spi" => By::Spi,
            "direction" => By::Direction,
            "peer" => By::Peer,
            "suite" => By::Suite,
            "packets" => By::Packets,
            "bytes" => By::Bytes,
            "mbps" => By::Mbps,
            "dropped" => By::Dropped,
            _ => By::Place,
        }
    }
}

/// Which SAs: `find=TEXT&by=COLUMN&down=1&rows=N` of the address, each of which may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    find: String,
    by: By,
    down: bool,
    /// `None`: all.
    rows: Option<usize>,
}

impl Query {
    /// Of the query of an address; what it does not know it passes over.
    pub fn of(text: &str) -> Self {
        let mut query = Self::default();
        for (key, value) in form_urlencoded::parse(text.as_bytes()) {
            match &*key {
                "find" => query.find = value.trim().to_lowercase(),
                "by" => query.by = By::named(&value),
                "down" => query.down = value == "1",
                "rows" => query.rows = Some(value.parse().unwrap_or(ROWS)),
                _ => {}
            }
        }
        query
    }
}

/// An SA with what the page needs besides.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    #[serde(flatten)]
    sa: &'a Sa,
    suite: String,
    dropped: u64,
    /// What leaves at present; `None`: nobody knows yet.
    mbps: Option<f64>,
}

/// A [`State`], and more.
#[derive(Debug, Serialize)]
pub struct Shown<'a> {
    status: &'a Status,
    sas: Vec<Row<'a>>,
    /// How many SAs were found, shown or not.
    found: usize,
    slots: &'a View,
    /// What leaves protected at present.
    protected_mbps: Option<f64>,
    /// What leaves in clear behind its protection.
    decapsulated_mbps: Option<f64>,
}

/// Bytes at an instant.
#[derive(Debug, Default)]
struct Sample {
    /// Of the gateway's time.
    seconds: f64,
    protected: u64,
    decapsulated: u64,
    /// By place and SPI: a later SA may have a place again.
    sas: HashMap<(u32, u32), u64>,
}

impl Sample {
    fn of(state: &State) -> Self {
        let packets = &state.status.figures.packets;
        let key = |sa: &Sa| ((sa.id, sa.spi), sa.counters.forwarded.bytes);
        Self {
            seconds: state.status.seconds,
            protected: packets.protected.bytes,
            decapsulated: packets.decapsulated.bytes,
            sas: state.sas.iter().map(key).collect(),
        }
    }
}

/// The last two samples, however many look.
#[derive(Debug, Default)]
pub struct Samples {
    last: Option<Sample>,
    before: Option<Sample>,
}

impl Samples {
    /// Takes note of a state, and says what of it is shown.
    pub fn shown<'a>(&mut self, state: &'a State, query: &Query) -> Shown<'a> {
        let now = state.status.seconds;
        if self.last.as_ref().is_none_or(|last| now >= last.seconds + BETWEEN || now < last.seconds) {
            self.before = self.last.replace(Sample::of(state));
        }
        let since = |before: &Sample, was: u64, is: u64| {
            let took = now - before.seconds;
            (took > 0.0).then(|| is.saturating_sub(was) as f64 * 8.0 / took / 1e6)
        };
        let before = self.before.as_ref();
        let packets = &state.status.figures.packets;
        let rate = |sa: &Sa| {
            let before = before?;
            let was = *before.sas.get(&(sa.id, sa.spi))?;
            since(before, was, sa.counters.forwarded.bytes)
        };
        let row = |sa: &'a Sa| Row {
            sa,
            suite: sa.suite(),
            dropped: sa.counters.dropped.values().sum(),
            mbps: rate(sa),
        };
        let mut sas: Vec<Row<'a>> = state.sas.iter().map(row).filter(|row| row.has(&query.find)).collect();
        let found = sas.len();
        if query.by != By::Place {
            sas.sort_by(|a, b| {
                let order = a.compare(b, query.by);
                if query.down { order.reverse() } else { order }
            });
        }
        sas.truncate(query.rows.unwrap_or(usize::MAX));
        Shown {
            status: &state.status,
            sas,
            found,
            slots: &state.slots,
            protected_mbps: before
                .and_then(|before| since(before, before.protected, packets.protected.bytes)),
            decapsulated_mbps: before
                .and_then(|before| since(before, before.decapsulated, packets.decapsulated.bytes)),
        }
    }
}

impl Row<'_> {
    /// Whether a text, in small letters, is in anything that the page shows of it.
    fn has(&self, find: &str) -> bool {
        let sa = self.sa;
        let has = |text: &str| text.to_lowercase().contains(find);
        find.is_empty()
            || has(&sa.name)
            || has(&format!("{:#x}", sa.spi))
            || has(&self.suite)
            || has(&sa.selector)
            || has(&sa.direction)
            || sa.remote.is_some_and(|remote| has(&remote.to_string()))
    }

    fn compare(&self, other: &Self, by: By) -> Ordering {
        let (a, b) = (self.sa, other.sa);
        match by {
            By::Place => Ordering::Equal,
            By::Name => a.name.cmp(&b.name),
            By::Spi => a.spi.cmp(&b.spi),
            By::Direction => a.direction.cmp(&b.direction),
            By::Peer => a.remote.cmp(&b.remote),
            By::Suite => self.suite.cmp(&other.suite),
            By::Packets => a.counters.forwarded.packets.cmp(&b.counters.forwarded.packets),
            By::Bytes => a.counters.forwarded.bytes.cmp(&b.counters.forwarded.bytes),
            By::Mbps => self.mbps.unwrap_or(-1.0).total_cmp(&other.mbps.unwrap_or(-1.0)),
            By::Dropped => self.dropped.cmp(&other.dropped),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::status::{SaCounters, Traffic};

    /// A gateway with so many SAs, each with ten times the bytes of its number.
    pub fn many(count: u32, seconds: f64) -> State {
        let sa = |id: u32| Sa {
            id,
            name: format!("branch-{id:05}"),
            spi: 0x1000 + id,
            direction: if id.is_multiple_of(2) { "out" } else { "in" }.to_owned(),
            remote: Some(std::net::IpAddr::from([10, 1, (id / 250) as u8, (id % 250) as u8])),
            cipher: if id.is_multiple_of(3) { "3des-cbc" } else { "aes-128-cbc" }.to_owned(),
            auth: "hmac-sha1-96".to_owned(),
            counters: SaCounters {
                forwarded: Traffic {
                    packets: u64::from(id),
                    bytes: (10_000.0 * f64::from(id) * seconds) as u64,
                },
                ..SaCounters::default()
            },
            ..Sa::default()
        };
        let mut status =
            Status { version: "7".to_owned(), seconds, sas: count as usize, ..Status::default() };
        status.figures.engine = "cpu".to_owned();
        status.figures.packets.protected = Traffic { packets: 1, bytes: (seconds * 1e6) as u64 };
        State { status, sas: (0..count).map(sa).collect(), ..State::default() }
    }

    fn names<'a>(shown: &'a Shown<'_>) -> Vec<&'a str> {
        shown.sas.iter().map(|row| row.sa.name.as_str()).collect()
    }

    #[test]
    fn of_ten_thousand_those_that_are_looked_for_in_the_order_that_is_wanted() {
        let state = many(10_000, 2.0);
        let shown = |query: &str| {
            let mut samples = Samples::default();
            let query = Query::of(query);
            let shown = samples.shown(&state, &query);
            (names(&shown).join(" "), shown.found)
        };
        assert_eq!(shown("rows=2"), ("branch-00000 branch-00001".to_owned(), 10_000));
        assert_eq!(shown("rows=2&by=bytes&down=1"), ("branch-09999 branch-09998".to_owned(), 10_000));
        assert_eq!(shown("find=BRANCH-0123&rows=1&by=name&down=1"), ("branch-01239".to_owned(), 10));
        assert_eq!(shown("find=0x1007"), ("branch-00007".to_owned(), 1));
        assert_eq!(shown("find=10.1.39.249").1, 1);
        assert_eq!(shown("find=3des&rows=0"), (String::new(), 3_334));
        assert_eq!(shown("find=%3Cscript%3E"), (String::new(), 0));
        assert_eq!((shown("").1, shown("").0.split(' ').count()), (10_000, 10_000));
    }

    #[test]
    fn rates_are_those_of_the_time_between_two_samples() {
        let mut samples = Samples::default();
        let query = Query::of("by=mbps&down=1&rows=1");
        let first = many(3, 1.0);
        assert_eq!(samples.shown(&first, &query).protected_mbps, None);
        // Another one looks at once: there is still nothing to compare with.
        assert_eq!(samples.shown(&many(3, 1.1), &query).protected_mbps, None);
        let second = many(3, 3.0);
        let shown = samples.shown(&second, &query);
        assert_eq!((shown.protected_mbps, shown.decapsulated_mbps), (Some(8.0), Some(0.0)));
        assert_eq!((names(&shown), shown.sas[0].mbps), (vec!["branch-00002"], Some(0.16)));
        // A place that another SA has now.
        let mut third = many(3, 4.0);
        third.sas[2].spi = 9;
        assert_eq!(samples.shown(&third, &Query::of("find=0x9&rows=9")).sas[0].mbps, None);
        // A gateway that began anew.
        let _ = samples.shown(&many(3, 0.5), &query);
        assert!(samples.shown(&many(3, 2.5), &query).protected_mbps.is_some_and(|rate| rate > 7.9));
    }
}
