// SPDX-License-Identifier: Apache-2.0
//! What the page draws of a board: a row of bars for each slot, the processor and the host link, and when the packets of
//! each association were done. All of it is the events of the board's report; the page has no figures of its own.

use std::collections::{BTreeMap, HashMap};

use ace_board::trace::{BoardReport, Event, Picos, What};
use ace_charts::COLOURS;
use ace_engine::ConfigurationId;
use serde::Serialize;

/// A kind of bar: what its colour means.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Kind {
    pub name: String,
    /// A variable of the page's style.
    pub colour: String,
    /// Not told by its colour alone.
    pub striped: bool,
    /// The kind's name stands in its bars; else what the bar is.
    pub named: bool,
}

/// Bars of one track in the order of their starts, column by column. Times are nanoseconds; -1 is none.
#[derive(Debug, Default, Serialize)]
pub(super) struct Row {
    name: String,
    /// From the start of the bar before.
    start: Vec<u64>,
    took: Vec<u64>,
    /// Of [`Drawn::kinds`].
    kind: Vec<usize>,
    /// Of [`Drawn::words`].
    what: Vec<usize>,
    packet: Vec<i64>,
    sa: Vec<i64>,
    bytes: Vec<i64>,
    #[serde(skip)]
    last: u64,
}

/// Packets by when they were done.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Packets {
    /// Nanoseconds.
    end: Vec<u64>,
    sa: Vec<u32>,
    /// Data that their passes were given, once for each packet.
    bytes: Vec<u64>,
}

/// A board as it is drawn.
#[derive(Debug, Serialize)]
pub(super) struct Drawn {
    policy: String,
    /// Nanoseconds.
    total: u64,
    pub kinds: Vec<Kind>,
    words: Vec<String>,
    rows: Vec<Row>,
    packets: Packets,
}

/// A load, and what of it was hidden.
pub(super) struct Load<'a> {
    pub event: &'a Event,
    pub configuration: ConfigurationId,
    pub bytes: u64,
    pub hidden: Picos,
}

fn nanos(at: Picos) -> u64 {
    (at + 500) / 1000
}

/// A bar that will stand in a row.
struct Bar {
    start: Picos,
    end: Picos,
    kind: Kind,
    what: String,
    /// Packet and association.
    of: Option<(u64, u32)>,
    bytes: Option<u64>,
}

/// Lists of what is there, each thing once.
#[derive(Default)]
struct Known {
    kinds: Vec<Kind>,
    words: Vec<String>,
    places: HashMap<String, usize>,
}

impl Known {
    fn kind(&mut self, kind: Kind) -> usize {
        let at = self.kinds.iter().position(|known| *known == kind);
        at.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        })
    }

    fn word(&mut self, word: String) -> usize {
        if let Some(at) = self.places.get(&word) {
            return *at;
        }
        self.words.push(word.clone());
        self.places.insert(word, self.words.len() - 1);
        self.words.len() - 1
    }
}

impl Row {
    fn add(&mut self, bar: Bar, known: &mut Known) {
        let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let (start, end) = (nanos(bar.start), nanos(bar.end));
        self.start.push(start.saturating_sub(self.last));
        self.last = start;
        self.took.push(end.saturating_sub(start));
        self.kind.push(known.kind(bar.kind));
        self.what.push(known.word(bar.what));
        self.packet.push(bar.of.map_or(-1, |(packet, _)| signed(packet)));
        self.sa.push(bar.of.map_or(-1, |(_, sa)| i64::from(sa)));
        self.bytes.push(bar.bytes.map_or(-1, signed));
    }
}

fn fixed(name: &str, colour: &str, striped: bool) -> Kind {
    Kind { name: name.to_owned(), colour: colour.to_owned(), striped, named: false }
}

/// The events in the order of their starts.
fn in_order(board: &BoardReport) -> Vec<&Event> {
    let mut events: Vec<&Event> = board.events.iter().collect();
    events.sort_by_key(|event| event.start);
    events
}

/// All loads that configured a slot, in their order.
pub(super) fn loads(board: &BoardReport) -> Vec<Load<'_>> {
    let events = in_order(board);
    let busy = busy(&events);
    let of = |event| {
        let &Event { what: What::Load { configuration, bytes, refused: None }, .. } = event else {
            return None;
        };
        let hidden = pieces(event, &busy).into_iter().filter(|(hidden, ..)| *hidden);
        let hidden = hidden.map(|(_, start, end)| end - start).sum();
        Some(Load { event, configuration, bytes, hidden })
    };
    events.into_iter().filter_map(of).collect()
}

/// Everything that the page draws of a board.
pub(super) fn of(board: &BoardReport) -> Drawn {
    let events = in_order(board);
    let busy = busy(&events);
    // The configurations that occur have colours one after the other, whatever else the catalogue holds.
    let used = board.configurations.pairs().filter(|(_, c)| c.operations > 0).map(|(id, _)| id);
    let colours: BTreeMap<ConfigurationId, usize> = used.enumerate().map(|(at, id)| (id, at)).collect();
    let (mut known, mut rows) = (Known::default(), Vec::new());
    let whole = match board.events_left_out {
        0 => board.totals.total,
        _ => board.events.last().map_or(0, |event| event.end),
    };
    for track in tracks(board) {
        let mut row = Row { name: track.name(board), ..Row::default() };
        if let Track::Fabric(_) = track {
            let kind = fixed("array", "wire", true);
            let what = "array, loaded before time 0; below it its context sets".to_owned();
            row.add(Bar { start: 0, end: whole, kind, what, of: None, bytes: None }, &mut known);
        }
        for event in &events {
            for bar in bars(board, event, &track, &busy, &colours) {
                row.add(bar, &mut known);
            }
        }
        rows.push(row);
    }
    let (policy, total) = (board.policy.clone(), nanos(whole).max(1));
    Drawn { policy, total, kinds: known.kinds, words: known.words, rows, packets: packets(&board.events) }
}

/// What a row shows.
#[derive(PartialEq)]
enum Track {
    /// Of a slot that holds the array: its one configuration. What its banks hold stands in the rows below.
    Fabric(usize),
    Slot(usize),
    Processor,
    Link,
}

impl Track {
    fn name(&self, board: &BoardReport) -> String {
        match self {
            Track::Fabric(device) => format!("slot {device}"),
            Track::Slot(slot) => board.slot_name(*slot).1,
            Track::Processor => "processor".to_owned(),
            Track::Link => "host link".to_owned(),
        }
    }
}

fn tracks(board: &BoardReport) -> Vec<Track> {
    let mut rows = Vec::new();
    for slot in 0..board.slots.len() {
        let device = board.slot_name(slot).0;
        if board.of_array(slot) && (slot == 0 || board.slot_name(slot - 1).0 != device) {
            rows.push(Track::Fabric(device));
        }
        rows.push(Track::Slot(slot));
    }
    rows.extend(board.processor.is_some().then_some(Track::Processor));
    rows.push(Track::Link);
    rows
}

fn bars(
    board: &BoardReport,
    event: &Event,
    track: &Track,
    busy: &[(Picos, Picos)],
    colours: &BTreeMap<ConfigurationId, usize>,
) -> Vec<Bar> {
    let title = |id: ConfigurationId| {
        board.configurations.get(id).map_or("?".to_owned(), |c| board.title(c).into_owned())
    };
    let Event { start, end, .. } = *event;
    let one = |kind, what, of, bytes| vec![Bar { start, end, kind, what, of, bytes }];
    match (&event.what, track) {
        (What::Request { bytes, .. } | What::Response { bytes, .. }, Track::Link) => {
            let way = if matches!(event.what, What::Request { .. }) { "to" } else { "from" };
            let what = format!("{way} {}", board.slot_name(event.slot).1);
            one(fixed("host link", "wire", false), what, None, Some(*bytes))
        }
        (What::Compute { flow, packet, operation, data_bytes, .. }, Track::Processor) => {
            let kind = fixed("processor beside the slots", "processor", false);
            one(kind, operation.clone(), Some((*packet, *flow)), Some(*data_bytes))
        }
        (_, Track::Slot(slot)) if *slot != event.slot => Vec::new(),
        (What::Load { configuration, bytes, refused: Some(why) }, Track::Slot(_)) => {
            let what = format!("load {} refused: {why}", title(*configuration));
            one(fixed("refused or reset", "refused", true), what, None, Some(*bytes))
        }
        (What::Load { configuration, bytes, .. }, Track::Slot(_)) => {
            let piece = |(hidden, start, end)| Bar {
                start,
                end,
                kind: match hidden {
                    true => fixed("load behind other work", "hidden", true),
                    false => fixed("load that all wait for", "exposed", true),
                },
                what: format!("load {}", title(*configuration)),
                of: None,
                bytes: Some(*bytes),
            };
            pieces(event, busy).into_iter().map(piece).collect()
        }
        (What::Execute { configuration, flow, packet, operation, data_bytes, error, .. }, Track::Slot(_)) => {
            let failed = error.as_ref().map_or(String::new(), |error| format!("; failed: {error}"));
            let at = colours.get(configuration).copied().unwrap_or_default() % COLOURS;
            let (name, colour) = (title(*configuration), format!("c{at}"));
            let kind = Kind { name, colour, striped: false, named: true };
            one(kind, format!("{operation}{failed}"), Some((*packet, *flow)), Some(*data_bytes))
        }
        (What::Reset, Track::Slot(_)) => {
            one(fixed("refused or reset", "refused", true), "reset".to_owned(), None, None)
        }
        _ => Vec::new(),
    }
}

/// Packets at the end of their last pass.
fn packets(events: &[Event]) -> Packets {
    let mut all: BTreeMap<u64, (Picos, u32, u64)> = BTreeMap::new();
    for event in events {
        if let What::Execute { packet, flow, data_bytes, error: None, .. }
        | What::Compute { packet, flow, data_bytes, .. } = &event.what
        {
            let (end, _, bytes) = all.entry(*packet).or_insert((0, *flow, 0));
            (*end, *bytes) = ((*end).max(event.end), (*bytes).max(*data_bytes));
        }
    }
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_unstable();
    let mut packets = Packets::default();
    for (end, sa, bytes) in all {
        packets.end.push(nanos(end));
        packets.sa.push(sa);
        packets.bytes.push(bytes);
    }
    packets
}

/// When anything but a load was going on: intervals that do not touch, in order. `events` are in the order of their starts.
fn busy(events: &[&Event]) -> Vec<(Picos, Picos)> {
    let mut all: Vec<(Picos, Picos)> = Vec::new();
    for e in events {
        if matches!(
            e.what,
            What::Execute { .. }
                | What::Request { .. }
                | What::Response { .. }
                | What::Host { .. }
                | What::Compute { .. }
        ) {
            match all.last_mut() {
                Some(last) if e.start <= last.1 => last.1 = last.1.max(e.end),
                _ => all.push((e.start, e.end)),
            }
        }
    }
    all
}

/// A load in pieces: whether it was hidden, from when to when.
fn pieces(event: &Event, busy: &[(Picos, Picos)]) -> Vec<(bool, Picos, Picos)> {
    let (mut at, mut pieces) = (event.start, Vec::new());
    let first = busy.partition_point(|(_, end)| *end <= event.start);
    for (start, end) in busy[first..].iter().take_while(|(start, _)| *start < event.end) {
        if *start > at {
            pieces.push((false, at, *start));
        }
        pieces.push((true, at.max(*start), (*end).min(event.end)));
        at = (*end).min(event.end);
    }
    if at < event.end {
        pieces.push((false, at, event.end));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(start: Picos, end: Picos) -> Event {
        let what = What::Load { configuration: ConfigurationId::from_index(0), bytes: 1, refused: None };
        Event { start, end, slot: 0, what }
    }

    #[test]
    fn a_load_is_hidden_where_something_else_works() {
        let load = load(10, 100);
        let work = |start, end| Event { start, end, slot: 1, what: What::Request { job: 0, bytes: 1 } };
        let events = [work(0, 20), work(15, 30), work(50, 60), work(90, 120)];
        let found = pieces(&load, &busy(&events.iter().collect::<Vec<_>>()));
        let wanted = [(true, 10, 30), (false, 30, 50), (true, 50, 60), (false, 60, 90), (true, 90, 100)];
        assert_eq!(found, wanted);
        assert_eq!(pieces(&load, &[]), [(false, 10, 100)]);
    }

    #[test]
    fn a_packet_is_done_with_its_last_pass_and_its_bytes_count_once() {
        let pass = |packet, start, end, data_bytes| {
            let what = What::Compute { job: 0, flow: 7, packet, operation: String::new(), data_bytes };
            Event { start, end, slot: 2, what }
        };
        let events = [pass(1, 0, 5_000, 64), pass(0, 0, 3_000, 100), pass(1, 5_000, 9_000, 60)];
        let found = packets(&events);
        assert_eq!(found, Packets { end: vec![3, 9], sa: vec![7, 7], bytes: vec![100, 64] });
    }

    #[test]
    fn bars_say_when_they_begin_after_the_one_before() {
        let (mut row, mut known) = (Row::default(), Known::default());
        for start in [1_000_400, 4_000_600, 4_000_700] {
            let kind = fixed("host link", "wire", false);
            let what = "to slot 0".to_owned();
            row.add(Bar { start, end: start + 2_000, kind, what, of: None, bytes: None }, &mut known);
        }
        assert_eq!((row.start, row.took), (vec![1000, 3001, 0], vec![2, 2, 2]));
        assert_eq!((known.kinds.len(), known.words.len(), row.packet[0]), (1, 1, -1));
    }
}
