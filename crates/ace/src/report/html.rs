// SPDX-License-Identifier: Apache-2.0
//! One self-contained page: the numbers of a run and the timeline of the slots as a picture.

use std::fmt::Write;

use ace_board::trace::BoardReport;

use super::timeline::{self, EXECUTE, EXPOSED, HIDDEN, LINK, REFUSED};
use super::{duration, percent};
use crate::run::Summary;

const STYLE: &str = ":root{color-scheme:light dark;--ground:#fff;--ink:#222;--quiet:#555;--line:#ddd;--idle:#f3f3f3}\
@media(prefers-color-scheme:dark){:root{--ground:#181818;--ink:#ddd;--quiet:#aaa;--line:#444;--idle:#2a2a2a}}\
body{font:15px/1.45 system-ui,sans-serif;max-width:1160px;margin:2em auto;padding:0 1em;color:var(--ink);\
background:var(--ground)}h1{font-size:1.4em;overflow-wrap:anywhere}h2{font-size:1.1em;margin-top:2em}\
table{border-collapse:collapse}td,th{padding:.15em .8em;border-bottom:1px solid var(--line);text-align:right}\
td:first-child,th:first-child{text-align:left}.wide{overflow-x:auto}svg{width:100%;min-width:700px;height:auto;\
border:1px solid var(--line)}svg text{fill:var(--ink)}svg text.on{fill:#fff}.idle{fill:var(--idle)}\
.tick{stroke:var(--ink);stroke-opacity:.25}.key span{display:inline-block;width:.9em;height:.9em;\
margin:0 .3em 0 1em}.note,a{color:var(--quiet)}@media(max-width:500px){body{margin:1em auto;padding:0 .6em}\
td,th{padding:.15em .4em}}";

pub fn page(summary: &Summary) -> String {
    let mut page = String::new();
    write_page(&mut page, summary).expect("a String takes all that is written");
    page
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn write_page(page: &mut String, summary: &Summary) -> std::fmt::Result {
    let title = format!("ACE: {}", escape(&summary.input));
    writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title>"
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
        write_board(page, board, summary)?;
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
    writeln!(
        page,
        "<h2>Security associations</h2><div class=\"wide\"><table><tr><th>name</th><th>SPI</th><th>suite</th>"
    )?;
    writeln!(page, "<th>packets</th><th>bytes</th><th>dropped</th></tr>")?;
    for sa in &summary.sas {
        writeln!(
            page,
            "<tr><td>{}</td><td>{:#x}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&sa.name),
            sa.spi,
            sa.suite(),
            sa.counters.forwarded.packets,
            sa.counters.forwarded.bytes,
            sa.counters.dropped.total()
        )?;
    }
    writeln!(page, "</table></div>")
}

fn write_board(page: &mut String, board: &BoardReport, summary: &Summary) -> std::fmt::Result {
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
    for (colour, what) in [
        (EXPOSED, "load that all wait for"),
        (HIDDEN, "load behind other work"),
        (REFUSED, "refused or reset"),
        (LINK, "host link"),
    ] {
        writeln!(page, "<span style=\"background:{colour}\"></span>{what}")?;
    }
    for (at, c) in board.configurations.iter().enumerate().filter(|(_, c)| c.operations > 0) {
        let colour = EXECUTE[at % EXECUTE.len()];
        writeln!(page, "<span style=\"background:{colour}\"></span>{}", escape(&c.name))?;
    }
    writeln!(page, "<span style=\"background:var(--idle);border:1px solid var(--line)\"></span>idle</p>")?;
    if board.events_left_out > 0 {
        let (shown, more) = (board.events.len(), board.events_left_out);
        writeln!(
            page,
            "<p class=\"note\">The first {shown} events are drawn, {more} more are only counted.</p>"
        )?;
    }
    let drawn = if board.events_left_out > 0 { board.events.last().map_or(0, |e| e.end) } else { t.total };
    let names: Vec<&str> = summary.sas.iter().map(|sa| sa.name.as_str()).collect();
    timeline::draw(page, board, &names, (0, drawn))?;
    // Loads are a thousand times longer than packets: a second picture shows the beginning, where both can be seen.
    let detail = timeline::detail_window(board);
    if detail.1 - detail.0 < drawn / 2 {
        writeln!(page, "<p>From {} to {}:</p>", duration(detail.0), duration(detail.1))?;
        timeline::draw(page, board, &names, detail)?;
    }
    writeln!(
        page,
        "<h2>Configurations</h2><div class=\"wide\"><table><tr><th>name</th><th>clock</th><th>loads</th>"
    )?;
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
    writeln!(page, "</table></div>")?;
    writeln!(
        page,
        "<p class=\"note\">trace.json beside this page has every packet and the queue: open it in \
         <a href=\"https://ui.perfetto.dev\">Perfetto</a>.</p>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_page() {
        assert_eq!(escape("<b a=\"x\">&"), "&lt;b a=&quot;x&quot;&gt;&amp;");
    }
}
