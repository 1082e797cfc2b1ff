// SPDX-License-Identifier: Apache-2.0
//! The timeline in the Chrome trace event format, which Perfetto and chrome://tracing open.

use std::collections::{BTreeMap, HashMap};

use ace_board::trace::{BoardReport, Event, Picos, What};
use ace_engine::ConfigurationId;
use serde_json::{Value, json};

use super::summary::Summary;

/// Numbers begin with 1: Perfetto takes 0 for the idle process and hides its threads. Two processes for each board.
#[derive(Clone, Copy)]
struct Pids {
    board: usize,
    packets: usize,
}

/// Microseconds, the unit of the format; fractions keep the picoseconds.
fn micros(picos: Picos) -> f64 {
    picos as f64 / 1e6
}

/// From the first transfer of a packet to its last.
struct Span {
    flow: u32,
    start: Picos,
    end: Picos,
}

/// Slots and link as threads of one process, the packets of every SA on tracks of another one, and how many packets are
/// on the board as a counter; the same again for every board that is compared.
pub(super) fn trace(board: &BoardReport, boards: &[&BoardReport], summary: &Summary) -> Value {
    let mut events = Vec::new();
    for (number, board) in boards.iter().enumerate() {
        one_board(&mut events, board, Pids { board: 2 * number + 1, packets: 2 * number + 2 }, summary);
    }
    let policies: Vec<&str> = boards.iter().map(|board| board.policy.as_str()).collect();
    json!({"displayTimeUnit": "ns", "traceEvents": events, "otherData": {
        "device": board.device, "policy": policies.join(","), "models": board.models, "time": "modelled"
    }})
}

fn one_board(events: &mut Vec<Value>, board: &BoardReport, pids: Pids, summary: &Summary) {
    let link = board.slots.len();
    let host = link + 1;
    let name = |pid: usize, tid: usize, what: &str, name: &str| json!({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}});
    let policy = &board.policy;
    events.push(name(pids.board, 1, "process_name", &format!("board, {policy} (modelled time)")));
    events.push(name(pids.packets, 1, "process_name", &format!("packets, {policy} (modelled time)")));
    let last = host + usize::from(board.processor.is_some());
    for track in 0..=last {
        let thread = match track {
            _ if track > host => "processor".to_owned(),
            _ if track == host => "host".to_owned(),
            _ if track == link => "host link".to_owned(),
            _ => board.slot_name(track).1,
        };
        events.push(name(pids.board, track + 1, "thread_name", &thread));
        events.push(json!({
            "ph": "M", "pid": pids.board, "tid": track + 1, "name": "thread_sort_index", "args": {"sort_index": track}
        }));
    }
    events.extend(board.events.iter().map(|event| one(board, event, link, pids)));
    events.extend(packets(board, summary, pids));
}

fn packets(board: &BoardReport, summary: &Summary, pids: Pids) -> Vec<Value> {
    let job = |what: &What| match what {
        What::Execute { job, .. }
        | What::Request { job, .. }
        | What::Response { job, .. }
        | What::Host { job, .. }
        | What::Compute { job, .. } => Some(*job),
        What::Load { .. } | What::Reset => None,
    };
    let of: HashMap<u64, (u64, u32)> = board
        .events
        .iter()
        .filter_map(|event| match event.what {
            What::Execute { job, packet, flow, .. } | What::Compute { job, packet, flow, .. } => {
                Some((job, (packet, flow)))
            }
            _ => None,
        })
        .collect();
    let mut spans: BTreeMap<u64, Span> = BTreeMap::new();
    for event in &board.events {
        if let Some((packet, flow)) = job(&event.what).and_then(|job| of.get(&job)) {
            let Event { start, end, .. } = *event;
            let span = spans.entry(*packet).or_insert(Span { flow: *flow, start, end });
            (span.start, span.end) = (span.start.min(start), span.end.max(end));
        }
    }
    let mut changes: BTreeMap<Picos, i64> = BTreeMap::new();
    let mut events = Vec::new();
    for (packet, Span { flow, start, end }) in &spans {
        *changes.entry(*start).or_default() += 1;
        *changes.entry(*end).or_default() -= 1;
        let sa = summary.sas.get(*flow as usize).map_or("?", |sa| sa.name.as_str());
        // Packets of one SA overlap: spans of an id of their own, which Perfetto lays out itself.
        for (phase, at) in [("b", start), ("e", end)] {
            events.push(json!({
                "ph": phase, "pid": pids.packets, "tid": flow + 1, "id": packet, "cat": "packet", "name": sa,
                "ts": micros(*at), "args": {"packet": packet}
            }));
        }
    }
    let mut on_board = 0;
    for (at, change) in changes {
        on_board += change;
        events.push(json!({
            "ph": "C", "pid": pids.board, "tid": 1, "name": "packets on the board", "ts": micros(at),
            "args": {"packets": on_board}
        }));
    }
    events
}

fn one(board: &BoardReport, event: &Event, link: usize, pids: Pids) -> Value {
    let configuration =
        |id: &ConfigurationId| board.configurations.get(*id).map_or("?".into(), |c| board.title(c));
    let (track, category, name, args) = match &event.what {
        What::Load { configuration: at, bytes, refused } => (
            event.slot,
            "load",
            format!("load {}", configuration(at)),
            json!({"bytes": bytes, "refused": refused}),
        ),
        What::Execute {
            configuration: at,
            job,
            flow,
            packet,
            operation,
            data_bytes,
            cycles,
            queued,
            fresh_key,
            error,
        } => (
            event.slot,
            "execute",
            operation.clone(),
            json!({
                "configuration": configuration(at), "job": job, "flow": flow, "packet": packet,
                "data_bytes": data_bytes, "cycles": cycles,
                "waited_us": micros(event.start.saturating_sub(*queued)), "fresh_key": fresh_key, "error": error
            }),
        ),
        What::Request { job, bytes } => (
            link,
            "link",
            format!("request to {}", board.slot_name(event.slot).1),
            json!({"job": job, "bytes": bytes}),
        ),
        What::Response { job, bytes } => (
            link,
            "link",
            format!("response of {}", board.slot_name(event.slot).1),
            json!({"job": job, "bytes": bytes}),
        ),
        What::Host { job, sends } => {
            let name = if *sends { "sends to" } else { "takes from" };
            (link + 1, "host", format!("{name} {}", board.slot_name(event.slot).1), json!({"job": job}))
        }
        What::Compute { job, flow, packet, operation, data_bytes } => (
            link + 2,
            "compute",
            operation.clone(),
            json!({"job": job, "flow": flow, "packet": packet, "data_bytes": data_bytes}),
        ),
        What::Reset => (event.slot, "reset", "reset".to_owned(), json!({})),
    };
    json!({
        "ph": "X", "pid": pids.board, "tid": track + 1, "cat": category, "name": name,
        "ts": micros(event.start), "dur": micros(event.end - event.start), "args": args
    })
}
