// SPDX-License-Identifier: Apache-2.0
//! The timeline in the Chrome trace event format, which Perfetto and chrome://tracing open.

use ace_board::trace::{BoardReport, Event, Picos, What};
use serde_json::{Value, json};

/// Microseconds, the unit of the format; fractions keep the picoseconds.
fn micros(picos: Picos) -> f64 {
    picos as f64 / 1e6
}

pub fn trace(board: &BoardReport) -> Value {
    let link = board.slots.len();
    let mut events = vec![json!({
        "ph": "M", "pid": 0, "name": "process_name", "args": {"name": "board (modelled time)"}
    })];
    for track in 0..=link {
        let name = if track == link { "host link".to_owned() } else { format!("slot {track}") };
        events
            .push(json!({"ph": "M", "pid": 0, "tid": track, "name": "thread_name", "args": {"name": name}}));
        events.push(json!({
            "ph": "M", "pid": 0, "tid": track, "name": "thread_sort_index", "args": {"sort_index": track}
        }));
    }
    events.extend(board.events.iter().map(|event| one(board, event, link)));
    json!({"displayTimeUnit": "ns", "traceEvents": events, "otherData": {
        "device": board.device, "policy": board.policy, "models": board.models, "time": "modelled"
    }})
}

fn one(board: &BoardReport, event: &Event, link: usize) -> Value {
    let configuration = |at: &usize| board.configurations.get(*at).map_or("?", |c| c.name.as_str());
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
            lane,
            packet,
            operation,
            data_bytes,
            cycles,
            fresh_key,
            error,
        } => (
            event.slot,
            "execute",
            operation.clone(),
            json!({
                "configuration": configuration(at), "job": job, "lane": lane, "packet": packet,
                "data_bytes": data_bytes, "cycles": cycles, "fresh_key": fresh_key, "error": error
            }),
        ),
        What::Request { job, bytes } => {
            (link, "link", format!("request to slot {}", event.slot), json!({"job": job, "bytes": bytes}))
        }
        What::Response { job, bytes } => {
            (link, "link", format!("response of slot {}", event.slot), json!({"job": job, "bytes": bytes}))
        }
        What::Reset => (event.slot, "reset", "reset".to_owned(), json!({})),
    };
    json!({
        "ph": "X", "pid": 0, "tid": track, "cat": category, "name": name,
        "ts": micros(event.start), "dur": micros(event.end - event.start), "args": args
    })
}
