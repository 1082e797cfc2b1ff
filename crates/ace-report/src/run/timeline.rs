// SPDX-License-Identifier: Apache-2.0
//! The timeline of slots and host link as a picture.

use std::fmt::Write;

use ace_board::trace::{BoardReport, Event, Picos, What};
use ace_engine::ConfigurationId;

use super::figures::{duration, escape};

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 130.0;
const RIGHT: f64 = 40.0;
const ROW: f64 = 46.0;
const BAR: f64 = 30.0;

/// A load while neither a slot nor the host link works, and one behind their work.
pub(super) const EXPOSED: &str = "#b5460f";
pub(super) const HIDDEN: &str = "#846900";
pub(super) const REFUSED: &str = "#7f0000";
pub(super) const LINK: &str = "#555555";
/// The processor beside the slots.
pub(super) const COMPUTE: &str = "#6a3d9a";
/// One colour per configuration, in the order of the catalogue; they repeat.
pub(super) const EXECUTE: [&str; 8] =
    ["#2166ac", "#1b7837", "#762a83", "#01665e", "#2f6f95", "#3a7a41", "#7f5a93", "#1f756d"];

/// The colour of a configuration.
pub(super) fn colour(configuration: ConfigurationId) -> &'static str {
    EXECUTE[configuration.index() % EXECUTE.len()]
}

/// Bars of one colour closer together than this many units of the picture are drawn as one.
const MERGE: f64 = 0.5;

/// From shortly before the first execution to as long again as a part of the whole needs.
pub(super) fn detail_window(board: &BoardReport) -> (Picos, Picos) {
    let total = board.totals.total;
    let executions = board.events.iter().filter(|e| matches!(e.what, What::Execute { .. }));
    let first = executions.map(|e| e.start).min().unwrap_or(0);
    let width = (total / 40).max(1);
    (first.saturating_sub(width / 10), (first + width).min(total))
}

/// Something on a track.
struct Bar {
    start: f64,
    end: f64,
    colour: &'static str,
    /// Stands in it, where there is room.
    name: String,
    /// Stands beside the pointer.
    title: String,
    /// Executions that are drawn as this one bar.
    count: usize,
}

/// Draws one track for each slot and one for the host link. `sas`: names of the flows of the data plane.
pub(super) fn draw(
    page: &mut String,
    board: &BoardReport,
    sas: &[&str],
    window: (Picos, Picos),
) -> std::fmt::Result {
    let (from, to) = window;
    let span = to.saturating_sub(from).max(1) as f64;
    let x = |t: Picos| LEFT + (t.clamp(from, to) - from) as f64 / span * (WIDTH - LEFT - RIGHT);
    let rows = rows(board);
    let height = ROW * rows.len() as f64 + 40.0;
    writeln!(
        page,
        "<div class=\"wide\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" font-family=\"sans-serif\" \
         font-size=\"12\"><title>What slots and host link did</title>"
    )?;
    let mut seen: Vec<&Event> = board.events.iter().filter(|e| e.end > from && e.start < to).collect();
    seen.sort_by_key(|e| e.start);
    let busy = busy(&seen);
    for (at, row) in rows.iter().enumerate() {
        let y = 8.0 + ROW * at as f64;
        let name = match row {
            Row::Fabric(device) => format!("slot {device}"),
            Row::Slot(slot) => board.slot_name(*slot).1,
            Row::Processor => "processor".to_owned(),
            Row::Link => "host link".to_owned(),
        };
        writeln!(page, "<text x=\"10\" y=\"{:.0}\">{name}</text>", y + 20.0)?;
        let wide = WIDTH - LEFT - RIGHT;
        writeln!(page, "<rect class=\"idle\" x=\"{LEFT}\" y=\"{y}\" width=\"{wide:.1}\" height=\"{BAR}\"/>")?;
        let mut bars: Vec<Bar> = Vec::new();
        for event in &seen {
            let track = match row {
                Row::Fabric(_) => continue,
                Row::Slot(slot) => Some(*slot),
                Row::Processor => Some(board.slots.len()),
                Row::Link => None,
            };
            for bar in track_bars(board, sas, event, &busy, &x, track) {
                match bars.last_mut() {
                    Some(last) if last.joins(&bar) => last.join(bar),
                    _ => bars.push(bar),
                }
            }
        }
        if let Row::Fabric(_) = row {
            let title = "the slot's configuration, there before time 0; below it its context sets".to_owned();
            let (name, colour) = ("array".to_owned(), LINK);
            bars.push(Bar { start: LEFT, end: WIDTH - RIGHT, colour, name, title, count: 1 });
        }
        bars.iter().try_for_each(|bar| bar.write(page, y))?;
    }
    ticks(page, height - 22.0, window, x)?;
    writeln!(page, "</svg></div>")
}

/// What a row shows.
enum Row {
    /// Of a slot that holds the array: its one configuration. What its banks hold stands in the rows below.
    Fabric(usize),
    Slot(usize),
    Processor,
    Link,
}

fn rows(board: &BoardReport) -> Vec<Row> {
    let mut rows = Vec::new();
    for slot in 0..board.slots.len() {
        let device = board.slot_name(slot).0;
        if board.of_array(slot) && (slot == 0 || board.slot_name(slot - 1).0 != device) {
            rows.push(Row::Fabric(device));
        }
        rows.push(Row::Slot(slot));
    }
    rows.extend(board.processor.is_some().then_some(Row::Processor));
    rows.push(Row::Link);
    rows
}

/// When a slot executed or the link was busy: intervals that do not touch, in order. `events` are in the order of
/// their starts.
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

fn track_bars(
    board: &BoardReport,
    sas: &[&str],
    event: &Event,
    busy: &[(Picos, Picos)],
    x: &impl Fn(Picos) -> f64,
    slot: Option<usize>,
) -> Vec<Bar> {
    let name = |id: ConfigurationId| {
        board.configurations.get(id).map_or("?".to_owned(), |c| board.title(c).into_owned())
    };
    let took = duration(event.end - event.start);
    let bar = |start, end, colour, name: String, title| {
        vec![Bar { start: x(start), end: x(end), colour, name, title, count: 1 }]
    };
    match (&event.what, slot) {
        (What::Request { bytes, .. } | What::Response { bytes, .. }, None) => {
            let way = if matches!(event.what, What::Request { .. }) { "to" } else { "from" };
            let title = format!("{bytes} bytes {way} {}: {took}", board.slot_name(event.slot).1);
            bar(event.start, event.end, LINK, String::new(), title)
        }
        (_, None) => Vec::new(),
        (_, Some(slot)) if slot != event.slot => Vec::new(),
        (What::Compute { flow, packet, operation, data_bytes, .. }, Some(_)) => {
            let sa = sas.get(*flow as usize).copied().unwrap_or("?");
            let title = format!("{operation}: packet {packet} of {sa}, {data_bytes} bytes, {took}");
            bar(event.start, event.end, COMPUTE, String::new(), title)
        }
        (What::Load { configuration, refused: Some(why), .. }, _) => {
            let title = format!("load {} refused: {why}", name(*configuration));
            bar(event.start, event.end, REFUSED, "refused".into(), title)
        }
        (What::Load { configuration, bytes, .. }, _) => {
            let name = format!("load {}", name(*configuration));
            let piece = |(hidden, start, end): (bool, Picos, Picos)| {
                let how = if hidden { "hidden behind other work" } else { "all wait for it" };
                let title = format!("{name}: {took}, {bytes} bytes; {} of it: {how}", duration(end - start));
                bar(start, end, if hidden { HIDDEN } else { EXPOSED }, name.clone(), title)
            };
            pieces(event, busy).into_iter().flat_map(piece).collect()
        }
        (What::Execute { configuration, flow, packet, operation, data_bytes, error, .. }, _) => {
            let sa = sas.get(*flow as usize).copied().unwrap_or("?");
            let failed = error.as_ref().map_or(String::new(), |error| format!("; failed: {error}"));
            let title = format!("{operation}: packet {packet} of {sa}, {data_bytes} bytes, {took}{failed}");
            bar(event.start, event.end, colour(*configuration), name(*configuration), title)
        }
        (What::Reset, _) => bar(event.start, event.end, REFUSED, "reset".into(), "reset".into()),
        (What::Request { .. } | What::Response { .. } | What::Host { .. }, _) => Vec::new(),
    }
}

impl Bar {
    fn joins(&self, next: &Bar) -> bool {
        let load = self.colour == EXPOSED || self.colour == REFUSED;
        let same = self.colour == next.colour && self.name == next.name;
        same && !load && next.start - self.end < MERGE
    }

    fn join(&mut self, next: Bar) {
        self.end = self.end.max(next.end);
        self.count += next.count;
        if self.count == 2 {
            self.title = format!("{} and what follows", self.title);
        }
    }

    fn write(&self, page: &mut String, y: f64) -> std::fmt::Result {
        let width = (self.end - self.start).max(0.4);
        let more = if self.count > 1 { format!(" ({} in all)", self.count) } else { String::new() };
        writeln!(
            page,
            "<rect x=\"{:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{BAR}\" fill=\"{}\"><title>{}{more}</title></rect>",
            self.start,
            self.colour,
            escape(&self.title)
        )?;
        if !self.name.is_empty() && width > 7.0 * self.name.len() as f64 {
            let (middle, line) = (self.start + width / 2.0, y + 20.0);
            let name = escape(&self.name);
            writeln!(
                page,
                "<text class=\"on\" x=\"{middle:.1}\" y=\"{line:.0}\" text-anchor=\"middle\">{name}</text>"
            )?;
        }
        Ok(())
    }
}

fn ticks(
    page: &mut String,
    base: f64,
    (from, to): (Picos, Picos),
    x: impl Fn(Picos) -> f64,
) -> std::fmt::Result {
    let step = tick_step(to.saturating_sub(from));
    let first = from.div_ceil(step) * step;
    for at in (first..=to).step_by(step as usize) {
        let position = x(at);
        writeln!(page, "<path class=\"tick\" d=\"M{position:.1} 8V{base:.1}\"/>")?;
        let (below, time) = (base + 16.0, duration(at));
        writeln!(page, "<text x=\"{position:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{time}</text>")?;
    }
    Ok(())
}

/// 1, 2 or 5 times a power of ten, so that there are at most ten ticks.
fn tick_step(span: Picos) -> Picos {
    let mut power = 1;
    loop {
        for factor in [1, 2, 5] {
            if span / (power * factor) <= 10 {
                return power * factor;
            }
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::contrast;
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(tick_step(0), 1);
        assert_eq!(tick_step(57_300_000), 10_000_000);
        for span in [1, 11, 999, 123_456, u64::MAX / 4] {
            assert!((1..=10).contains(&(span / tick_step(span)).max(1)));
        }
    }

    #[test]
    fn white_text_can_be_read_on_every_bar() {
        for colour in EXECUTE.into_iter().chain([EXPOSED, HIDDEN, REFUSED, LINK, COMPUTE]) {
            let contrast = contrast("#ffffff", colour);
            assert!(contrast >= 4.5, "{colour}: {contrast:.2}");
        }
    }

    #[test]
    fn a_load_is_hidden_where_something_else_works() {
        let load = What::Load { configuration: ConfigurationId::from_index(0), bytes: 1, refused: None };
        let load = Event { start: 10, end: 100, slot: 0, what: load };
        let work = |start, end| Event { start, end, slot: 1, what: What::Request { job: 0, bytes: 1 } };
        let events = [work(0, 20), work(15, 30), work(50, 60), work(90, 120)];
        let found = pieces(&load, &busy(&events.iter().collect::<Vec<_>>()));
        let wanted = [(true, 10, 30), (false, 30, 50), (true, 50, 60), (false, 60, 90), (true, 90, 100)];
        assert_eq!(found, wanted);
        assert_eq!(pieces(&load, &[]), [(false, 10, 100)]);
    }
}
