// SPDX-License-Identifier: Apache-2.0
//! What a run did, in one sentence.

use std::fmt::Write;

use ace_board::trace::BoardReport;

use super::drawn;
use super::figures::{duration, grouped, mbps};
use super::summary::Summary;

/// `one packet`, `2 packets`.
fn of(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The sentence.
pub(super) fn sentence(summary: &Summary) -> String {
    let p = &summary.packets;
    let carried = p.protected.packets + p.decapsulated.packets;
    let mut text = String::new();
    // A String takes all that is written.
    if carried == 0 {
        text.push_str("No packet was protected or decapsulated");
    } else {
        let sas = summary.sas.iter().filter(|sa| sa.counters.forwarded.packets > 0).count() as u64;
        let _ = write!(text, "{} of {} went through ", of(carried, "packet"), of(sas, "SA"));
        let rate = summary.rates().total.map_or(String::new(), |rate| format!(" ({} Mb/s)", mbps(rate)));
        match summary.working_board() {
            Some(board) => {
                let took = duration(board.totals.total);
                let _ = write!(text, "{} in {took} of modelled time{rate}", workers(board));
                let _ = write!(text, "; {}", loads(board));
            }
            None => {
                let _ = write!(text, "the CPU in {:.2} s of wall time{rate}", summary.wall_seconds);
            }
        }
    }
    if p.bypassed.packets > 0 {
        let _ = write!(text, "; {} bypassed", of(p.bypassed.packets, "packet"));
    }
    match summary.dropped() {
        0 => text.push_str("; none dropped"),
        dropped => {
            let _ = write!(text, "; {} dropped", of(dropped, "packet"));
        }
    }
    for other in &summary.compared {
        let _ = write!(text, "; under {} they take {}", other.policy, duration(other.totals.total));
    }
    text.push('.');
    text
}

/// Who did it.
fn workers(board: &BoardReport) -> String {
    let slots = (0..board.slots.len()).map(|at| board.slot_name(at).0 + 1).max().unwrap_or(0) as u64;
    let beside = if board.totals.computed > 0 { " and the processor beside them" } else { "" };
    format!("{}{beside}", of(slots, "slot"))
}

fn loads(board: &BoardReport) -> String {
    let t = &board.totals;
    if t.loads == 0 {
        return "no load".to_owned();
    }
    let time = format!("{} of their {}", duration(t.hidden_load), duration(t.load));
    if board.events_left_out > 0 {
        return format!("{}, {time} hidden behind work", of(t.loads, "load"));
    }
    let hidden =
        drawn::loads(board).into_iter().filter(|load| load.hidden == load.event.end - load.event.start);
    let how = match (t.loads, hidden.count() as u64) {
        (1, 0) => "not wholly".to_owned(),
        (1, _) => "wholly".to_owned(),
        (_, 0) => "none of them wholly".to_owned(),
        (loads, hidden) if loads == hidden => "all of them wholly".to_owned(),
        (_, hidden) => format!("{} of them wholly", grouped(hidden)),
    };
    format!("{}, {how} hidden behind work ({time})", of(t.loads, "load"))
}

#[cfg(test)]
mod tests {
    use ace_board::trace::{ConfigurationReport, Event, SlotReport, Totals, What};
    use ace_engine::{ConfigurationId, Table};

    use super::*;

    fn board() -> BoardReport {
        let load = |slot, start, end| {
            let what = What::Load { configuration: ConfigurationId::from_index(0), bytes: 9, refused: None };
            Event { start, end, slot, what }
        };
        let work = Event { start: 0, end: 3_000_000, slot: 1, what: What::Request { job: 0, bytes: 1 } };
        BoardReport {
            device: String::new(),
            policy: "adaptive".to_owned(),
            models: String::new(),
            configuration_port: String::new(),
            host_link: String::new(),
            host: String::new(),
            processor: None,
            library: None,
            array: None,
            totals: Totals {
                total: 14_700_000_000,
                loads: 2,
                load: 3_000_000,
                hidden_load: 2_000_000,
                ..Totals::default()
            },
            slots: vec![SlotReport::default(), SlotReport::default()],
            configurations: Table::filled(ConfigurationReport::default(), 1),
            events: vec![load(0, 1_000_000, 2_000_000), load(0, 2_000_000, 4_000_000), work],
            events_left_out: 0,
        }
    }

    #[test]
    fn one_sentence_has_packets_slots_time_rate_loads_and_drops() {
        let mut summary = Summary { frames: 20_003, written: 20_000, ..Summary::default() };
        summary.packets.protected.packets = 20_000;
        summary.packets.protected.bytes = 1_492_050;
        summary.board = Some(board());
        assert_eq!(
            sentence(&summary),
            "20,000 packets of 0 SAs went through 2 slots in 14.7 ms of modelled time (812 Mb/s); 2 loads, 1 of them wholly \
             hidden behind work (2.00 µs of their 3.00 µs); 3 packets dropped."
        );
        // What nobody knows is not stated.
        summary.board.as_mut().expect("a board").events_left_out = 1;
        summary.compared = vec![BoardReport { policy: "on-demand".to_owned(), ..board() }];
        let text = sentence(&summary);
        assert!(text.contains("2 loads, 2.00 µs of their 3.00 µs hidden behind work"), "{text}");
        assert!(text.ends_with("; under on-demand they take 14.7 ms."), "{text}");
    }

    #[test]
    fn without_a_board_it_is_wall_time() {
        let mut summary = Summary { frames: 2, written: 2, wall_seconds: 0.5, ..Summary::default() };
        assert_eq!(sentence(&summary), "No packet was protected or decapsulated; none dropped.");
        summary.packets.protected.packets = 1;
        summary.packets.protected.bytes = 62_500;
        summary.packets.bypassed.packets = 1;
        assert_eq!(
            sentence(&summary),
            "1 packet of 0 SAs went through the CPU in 0.50 s of wall time (1.00 Mb/s); 1 packet bypassed; none dropped."
        );
    }
}
