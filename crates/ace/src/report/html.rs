// SPDX-License-Identifier: Apache-2.0
//! One self-contained page: the numbers of a run and the timeline of the slots as a picture.

use std::fmt::Write;

use ace_board::trace::{BoardReport, Picos, What};

use super::{duration, percent};
use crate::run::Summary;

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 40.0;
const ROW: f64 = 46.0;
const LOAD: &str = "#e08214";
const REFUSED: &str = "#b2182b";
/// One colour per configuration, in the order of the catalogue; they repeat.
const EXECUTE: [&str; 8] =
    ["#2166ac", "#1b7837", "#762a83", "#01665e", "#4393c3", "#5aae61", "#9970ab", "#35978f"];

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:1160px;margin:2em auto;padding:0 1em;color:#222}\
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse}td,th{padding:.15em .8em;\
border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child{text-align:left}svg{width:100%;\
height:auto;border:1px solid #ddd}.key span{display:inline-block;width:.9em;height:.9em;margin:0 .3em 0 1em}\
.note{color:#555}";

pub fn page(summary: &Summary) -> String {
    let mut page = String::new();
    write_page(&mut page, summary).expect("a String takes all that is written");
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn write_page(page: &mut String, summary: &Summary) -> std::fmt::Result {
    let title = format!("ACE: {}", escape(&summary.input));
    writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>"
    )?;
    writeln!(page, "<style>{STYLE}</style></head><body>\n<h1>{title}</h1>")?;
    let p = &summary.packets;
    writeln!(
        page,
        "<p>{} packets in, {} out: {} protected, {} decapsulated, {} bypassed; {} dropped. Engine: {}.</p>",
        summary.frames,
        summary.written,
        p.protected.packets,
        p.decapsulated.packets,
        p.bypassed.packets,
        summary.frames - summary.written,
        summary.engine
    )?;
    if let Some(board) = &summary.board {
        write_board(page, board)?;
    }
    write_sas(page, summary)?;
    if p.dropped.total() > 0 {
        writeln!(page, "<h2>Dropped packets</h2><table><tr><th>cause</th><th>packets</th></tr>")?;
        for (cause, count) in p.dropped.iter() {
            writeln!(page, "<tr><td>{}</td><td>{count}</td></tr>", escape(&cause.to_string()))?;
        }
        writeln!(page, "</table>")?;
    }
    for (error, count) in &summary.engine_errors {
        writeln!(page, "<p>{count} packets dropped: {}</p>", escape(error))?;
    }
    writeln!(page, "<p class=\"note\">Wall time of the run: {:.2} s.</p></body></html>", summary.wall_seconds)
}

fn write_sas(page: &mut String, summary: &Summary) -> std::fmt::Result {
    writeln!(page, "<h2>Security associations</h2><table><tr><th>name</th><th>SPI</th><th>suite</th>")?;
    writeln!(page, "<th>packets</th><th>bytes</th><th>dropped</th></tr>")?;
    for sa in &summary.sas {
        writeln!(
            page,
            "<tr><td>{}</td><td>{:#x}</td><td>{} + {}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&sa.name),
            sa.spi,
            sa.cipher,
            sa.auth,
            sa.counters.forwarded.packets,
            sa.counters.forwarded.bytes,
            sa.counters.dropped.total()
        )?;
    }
    writeln!(page, "</table>")
}

fn write_board(page: &mut String, board: &BoardReport) -> std::fmt::Result {
    let t = &board.totals;
    writeln!(
        page,
        "<p class=\"note\">{}, {} slots, configuration port {}, host link {}, policy {}, {} models. \
         All times below are modelled: cycles of the simulated RTL at the placed and routed clock, plus port and \
         link. Not tried on silicon.</p>",
        escape(&board.device),
        board.slots.len(),
        escape(&board.configuration_port),
        escape(&board.host_link),
        escape(&board.policy),
        escape(&board.models)
    )?;
    writeln!(page, "<h2>Where the time went</h2><table><tr><th></th><th>time</th><th>share</th></tr>")?;
    for (what, part) in [
        ("a slot works", t.executing),
        ("only the host link works", t.link_only),
        ("all wait for a configuration: the reconfiguration overhead", t.exposed_load),
        ("nothing happens", t.idle),
        ("total", t.total),
    ] {
        let share = percent(part, t.total);
        writeln!(page, "<tr><td>{what}</td><td>{}</td><td>{share:.1} %</td></tr>", duration(part))?;
    }
    writeln!(
        page,
        "</table><p>{} loads took {}, of which {} were hidden; {} operations found their",
        t.loads,
        duration(t.load),
        duration(t.hidden_load),
        t.skipped_loads
    )?;
    writeln!(page, "configuration resident.</p><h2>Timeline of the slots</h2><p class=\"key\">")?;
    writeln!(page, "<span style=\"background:{LOAD}\"></span>load")?;
    for (at, c) in board.configurations.iter().enumerate().filter(|(_, c)| c.operations > 0) {
        let colour = EXECUTE[at % EXECUTE.len()];
        writeln!(page, "<span style=\"background:{colour}\"></span>{}", escape(&c.name))?;
    }
    writeln!(page, "<span style=\"background:#f3f3f3;border:1px solid #ccc\"></span>idle</p>")?;
    timeline(page, board, 0, t.total)?;
    // Loads are a thousand times longer than packets: a second picture shows the beginning, where both can be seen.
    let detail = detail_window(board);
    if detail.1 - detail.0 < t.total / 2 {
        writeln!(page, "<p>From {} to {}:</p>", duration(detail.0), duration(detail.1))?;
        timeline(page, board, detail.0, detail.1)?;
    }
    writeln!(page, "<h2>Configurations</h2><table><tr><th>name</th><th>clock</th><th>loads</th>")?;
    writeln!(
        page,
        "<th>bytes a load</th><th>load time</th><th>operations</th><th>bytes</th><th>time</th></tr>"
    )?;
    for c in board.configurations.iter().filter(|c| c.loads + c.operations > 0 || c.refused.is_some()) {
        writeln!(
            page,
            "<tr><td>{}{}</td><td>{:.1} MHz</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&c.name),
            c.refused.as_ref().map_or(String::new(), |r| format!(" (refused: {})", escape(r))),
            c.clock_hz as f64 / 1e6,
            c.loads,
            c.loaded_bytes / c.loads.max(1),
            duration(c.load),
            c.operations,
            c.data_bytes,
            duration(c.execute)
        )?;
    }
    writeln!(page, "</table>")
}

/// From shortly before the second load ends to as long again as the executions between need.
fn detail_window(board: &BoardReport) -> (Picos, Picos) {
    let total = board.totals.total;
    let first = board
        .events
        .iter()
        .filter(|e| matches!(e.what, What::Execute { .. }))
        .map(|e| e.start)
        .min()
        .unwrap_or(0);
    let width = (total / 40).max(1);
    (first.saturating_sub(width / 10), (first + width).min(total))
}

/// Executions closer together than this many units of the picture are drawn as one.
const MERGE: f64 = 0.5;

fn timeline(page: &mut String, board: &BoardReport, from: Picos, to: Picos) -> std::fmt::Result {
    let span = to.saturating_sub(from).max(1) as f64;
    let x = |t: Picos| LEFT + (t.clamp(from, to) - from) as f64 / span * (WIDTH - LEFT - RIGHT);
    let height = ROW * board.slots.len() as f64 + 40.0;
    writeln!(page, "<svg viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">")?;
    for slot in 0..board.slots.len() {
        let y = 8.0 + ROW * slot as f64;
        writeln!(page, "<text x=\"10\" y=\"{:.0}\">slot {slot}</text>", y + 20.0)?;
        writeln!(
            page,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{:.1}\" height=\"30\" fill=\"#f3f3f3\"/>",
            WIDTH - LEFT - RIGHT
        )?;
        let mut bars: Vec<(f64, f64, &str, String)> = Vec::new();
        let mut mine: Vec<_> =
            board.events.iter().filter(|e| e.slot == slot && e.end > from && e.start < to).collect();
        mine.sort_by_key(|e| e.start);
        for event in mine {
            let name = |at: &usize| board.configurations.get(*at).map_or("?", |c| c.name.as_str());
            let (colour, label) = match &event.what {
                What::Load { configuration, refused: None, .. } => {
                    (LOAD, format!("load {}: {}", name(configuration), duration(event.end - event.start)))
                }
                What::Load { configuration, refused: Some(why), .. } => {
                    (REFUSED, format!("load {} refused: {why}", name(configuration)))
                }
                What::Execute { configuration, .. } => {
                    (EXECUTE[configuration % EXECUTE.len()], name(configuration).to_owned())
                }
                What::Reset => (REFUSED, "reset".to_owned()),
                What::Request { .. } | What::Response { .. } => continue,
            };
            let (start, end) = (x(event.start), x(event.end));
            match bars.last_mut() {
                Some(last) if last.2 == colour && colour != LOAD && start - last.1 < MERGE => last.1 = end,
                _ => bars.push((start, end, colour, label)),
            }
        }
        for (start, end, colour, label) in bars {
            let width = (end - start).max(0.4);
            writeln!(
                page,
                "<rect x=\"{start:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"30\" fill=\"{colour}\"><title>{}</title></rect>",
                escape(&label)
            )?;
            // A name where there is room for it.
            let name = label.split(':').next().unwrap_or_default();
            if width > 7.0 * name.len() as f64 {
                writeln!(
                    page,
                    "<text x=\"{:.1}\" y=\"{:.0}\" fill=\"#fff\" text-anchor=\"middle\">{}</text>",
                    start + width / 2.0,
                    y + 20.0,
                    escape(name)
                )?;
            }
        }
    }
    let base = height - 22.0;
    let step = tick_step(to - from);
    let first = from.div_ceil(step) * step;
    for at in (first..=to).step_by(step as usize) {
        let position = x(at);
        writeln!(page, "<path d=\"M{position:.1} 8V{base:.1}\" stroke=\"#000\" stroke-opacity=\".15\"/>")?;
        writeln!(
            page,
            "<text x=\"{position:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            base + 16.0,
            duration(at)
        )?;
    }
    writeln!(page, "</svg>")
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
    fn names_cannot_break_out_of_the_page() {
        assert_eq!(escape("<b a=\"x\">&"), "&lt;b a=&quot;x&quot;&gt;&amp;");
    }
}
