// SPDX-License-Identifier: Apache-2.0
//! The board's part of the page: where the time went and the timelines, of one policy or of several side by side.

use std::fmt::Write;

use ace_board::trace::{BoardReport, Picos, Totals};

use super::figures::{duration, escape, percent};
use super::summary::Summary;
use super::timeline::{self, COMPUTE, EXPOSED, HIDDEN, LINK, REFUSED, colour};
use super::work;

/// The policies that are compared, in the order in which they ran.
pub(super) fn all(summary: &Summary) -> Vec<&BoardReport> {
    summary.compared.iter().chain(&summary.board).collect()
}

pub(super) fn write(page: &mut String, summary: &Summary) -> std::fmt::Result {
    let boards = all(summary);
    let Some(board) = boards.last() else { return Ok(()) };
    let policies: Vec<&str> = boards.iter().map(|board| board.policy.as_str()).collect();
    writeln!(
        page,
        "<p class=\"note\">{}, {} slots, configuration port {}, host link {}, policy {}, {} models. \
         All times below are modelled: cycles of the simulated RTL at the placed and routed clock, plus port, \
         link and host ({}). Not tried on silicon.</p>",
        escape(&board.device),
        board.slots.len(),
        escape(&board.configuration_port),
        escape(&board.host_link),
        escape(&policies.join(" and ")),
        escape(&board.models),
        escape(&board.host)
    )?;
    let mut unproven: Vec<&str> =
        boards.iter().flat_map(|board| board.unproven()).map(|one| one.name.as_str()).collect();
    unproven.sort_unstable();
    unproven.dedup();
    if !unproven.is_empty() {
        writeln!(
            page,
            "<p class=\"note\">Nobody has signed or proven, and --unproven has loaded: {}.</p>",
            escape(&unproven.join(", "))
        )?;
    }
    totals(page, &boards)?;
    timelines(page, &boards, summary)?;
    for board in &boards {
        configurations(page, board, boards.len() > 1)?;
        work::write(page, board, summary, boards.len() > 1)?;
    }
    writeln!(
        page,
        "<p class=\"note\">trace.json beside this page has every packet and the queue: open it in \
         <a href=\"https://ui.perfetto.dev\">Perfetto</a>, which shows it without sending it anywhere.</p>"
    )
}

/// What stands in a row of the table, and its figure.
type Row<T> = (&'static str, fn(&Totals) -> T);

/// Where the time went, a column for each policy.
fn totals(page: &mut String, boards: &[&BoardReport]) -> std::fmt::Result {
    writeln!(page, "<h2>Where the time went</h2><div class=\"wide\"><table><tr><th></th>")?;
    for board in boards {
        writeln!(page, "<th>{}</th>", escape(&board.policy))?;
    }
    writeln!(page, "</tr>")?;
    let parts: [Row<Picos>; 7] = [
        ("a slot works", |t| t.executing),
        ("only the processor beside the slots works", |t| t.computing),
        ("only the host link works", |t| t.link_only),
        ("only the host works", |t| t.host_only),
        ("all wait for a configuration: the reconfiguration overhead", |t| t.exposed_load),
        ("nothing happens", |t| t.idle),
        ("total", |t| t.total),
    ];
    for (what, part) in parts {
        write!(page, "<tr><td class=\"words\">{what}</td>")?;
        for t in boards.iter().map(|board| &board.totals) {
            let share = percent(part(t), t.total);
            write!(page, "<td>{} <span class=\"share\">{share:.1} %</span></td>", duration(part(t)))?;
        }
        writeln!(page, "</tr>")?;
    }
    let more: [Row<String>; 4] = [
        ("loads", |t| t.loads.to_string()),
        ("all loads together", |t| duration(t.load)),
        ("of these hidden behind other work", |t| duration(t.hidden_load)),
        ("operations that found their configuration resident", |t| t.skipped_loads.to_string()),
    ];
    for (what, figure) in more {
        write!(page, "<tr><td class=\"words\">{what}</td>")?;
        for t in boards.iter().map(|board| &board.totals) {
            write!(page, "<td>{} <span class=\"share\"></span></td>", figure(t))?;
        }
        writeln!(page, "</tr>")?;
    }
    writeln!(page, "</table></div>")
}

fn timelines(page: &mut String, boards: &[&BoardReport], summary: &Summary) -> std::fmt::Result {
    writeln!(page, "<h2>Timeline of the slots</h2><ul class=\"key\">")?;
    let fixed = [
        (EXPOSED, "load that all wait for"),
        (HIDDEN, "load behind other work"),
        (REFUSED, "refused or reset"),
        (LINK, "host link"),
    ];
    for (colour, what) in fixed {
        writeln!(page, "<li><span style=\"background:{colour}\"></span>{what}</li>")?;
    }
    if boards.iter().any(|board| board.processor.is_some()) {
        writeln!(page, "<li><span style=\"background:{COMPUTE}\"></span>processor beside the slots</li>")?;
    }
    if let Some(board) = boards.last() {
        for (id, c) in board.configurations.pairs().filter(|(_, c)| c.operations > 0) {
            let (colour, title) = (colour(id), board.title(c));
            writeln!(page, "<li><span style=\"background:{colour}\"></span>{}</li>", escape(&title))?;
        }
    }
    writeln!(page, "<li><span style=\"background:var(--idle)\"></span>idle</li></ul>")?;
    writeln!(
        page,
        "<p class=\"note\">What a bar is stands beside the pointer: packet, SA, bytes, time.</p>"
    )?;
    let names: Vec<&str> = summary.sas.iter().map(|sa| sa.name.as_str()).collect();
    // One scale for all.
    let ends = boards.iter().map(|board| match board.events_left_out {
        0 => board.totals.total,
        _ => board.events.last().map_or(0, |event| event.end),
    });
    let drawn = ends.max().unwrap_or(0);
    for board in boards {
        if boards.len() > 1 {
            let (policy, time) = (escape(&board.policy), duration(board.totals.total));
            writeln!(page, "<h3>{policy}: {time}</h3>")?;
        }
        if board.events_left_out > 0 {
            let (shown, more) = (board.events.len(), board.events_left_out);
            let words = "events are drawn,";
            writeln!(page, "<p class=\"note\">The first {shown} {words} {more} more are only counted.</p>")?;
        }
        timeline::draw(page, board, &names, (0, drawn))?;
        // Loads are a thousand times longer than packets: a second picture shows the beginning, where both can be seen.
        let detail = timeline::detail_window(board);
        if detail.1 - detail.0 < drawn / 2 {
            writeln!(page, "<p>From {} to {}:</p>", duration(detail.0), duration(detail.1))?;
            timeline::draw(page, board, &names, detail)?;
        }
    }
    Ok(())
}

fn configurations(page: &mut String, board: &BoardReport, several: bool) -> std::fmt::Result {
    let of = if several { format!(", {}", escape(&board.policy)) } else { String::new() };
    writeln!(
        page,
        "<h2>Configurations{of}</h2><div class=\"wide\"><table><tr><th>name</th><th>clock</th><th>loads</th>\
         <th>bytes a load</th><th>load time</th><th>operations</th><th>bytes</th><th>time</th></tr>"
    )?;
    for c in board.configurations.iter().filter(|c| c.loads + c.operations > 0 || c.refused.is_some()) {
        let refused = c.refused.as_ref().map_or(String::new(), |why| format!(" (refused: {})", escape(why)));
        writeln!(
            page,
            "<tr><td class=\"words\">{}{refused}</td><td>{:.1} MHz</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td><td>{}</td></tr>",
            escape(&board.title(c)),
            c.clock_hz as f64 / 1e6,
            c.loads,
            c.loaded_bytes / c.loads.max(1),
            duration(c.load),
            c.operations,
            c.data_bytes,
            duration(c.execute)
        )?;
    }
    writeln!(page, "</table></div>")
}
