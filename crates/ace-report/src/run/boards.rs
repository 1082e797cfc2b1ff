// SPDX-License-Identifier: Apache-2.0
//! The board's part of the page: the picture, where the time went, slots, configurations and loads, of one policy or of
//! several.

use std::fmt::Write;

use ace_board::trace::{BoardReport, Picos, Totals};

use super::drawn::{self, Drawn};
use super::figures::{duration, escape, grouped, percent};
use super::summary::Summary;
use super::tables::{Cell, Column, table};
use super::work;

/// Loads that the page lists.
const LISTED_LOADS: usize = 500;

/// The policies that are compared, in the order in which they ran.
pub(super) fn all(summary: &Summary) -> Vec<&BoardReport> {
    summary.compared.iter().chain(&summary.board).collect()
}

/// The picture of a board, number `at` of those that the page's data has.
pub(super) fn picture(page: &mut String, board: &BoardReport, drawn: &Drawn, at: usize) -> std::fmt::Result {
    let policy = escape(&board.policy);
    writeln!(page, "<figure class=\"run\" data-board=\"{at}\"><ul class=\"key\">")?;
    for kind in &drawn.kinds {
        let (striped, colour) = (if kind.striped { " class=\"striped\"" } else { "" }, &kind.colour);
        let name = escape(&kind.name);
        writeln!(page, "<li><span{striped} style=\"background-color:var(--{colour})\"></span>{name}</li>")?;
    }
    writeln!(
        page,
        "<li><span style=\"background-color:var(--idle);border:1px solid var(--line)\"></span>idle</li></ul>\
         <div class=\"plot rates\" role=\"img\" aria-label=\"Throughput over time, of all SAs and of each, {policy}\"></div>\
         <div class=\"plot bars\" role=\"group\" tabindex=\"0\" aria-label=\"Timeline of slots and host link, {policy}\"></div>\
         <noscript>The picture needs JavaScript; the tables below have its figures.</noscript></figure>"
    )?;
    if board.events_left_out > 0 {
        let (shown, more) = (grouped(board.events.len() as u64), grouped(board.events_left_out));
        let words = "events are drawn,";
        writeln!(page, "<p class=\"note\">The first {shown} {words} {more} more are only counted.</p>")?;
    }
    Ok(())
}

/// What the board is, and everything in tables.
pub(super) fn write(page: &mut String, summary: &Summary, drawn: &[Drawn]) -> std::fmt::Result {
    let boards = all(summary);
    let Some((board, others)) = boards.split_last() else { return Ok(()) };
    let policies: Vec<&str> = boards.iter().map(|board| board.policy.as_str()).collect();
    writeln!(
        page,
        "<p class=\"note\">{}, {} slots, configuration port {}, host link {}, policy {}, {} models. \
         All times on this page are modelled: cycles of the simulated RTL at the placed and routed clock, plus port, \
         link and host ({}). Not tried on silicon. The curves have the data that passes were given, of packets that were \
         done then; figures in Mb/s elsewhere have all bytes that left.</p>",
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
    for (at, (board, drawn)) in others.iter().zip(drawn).enumerate() {
        let (policy, time) = (escape(&board.policy), duration(board.totals.total));
        writeln!(page, "<h2>The same packets under {policy}: {time}</h2>")?;
        picture(page, board, drawn, at)?;
    }
    totals(page, &boards)?;
    // That of the packets that were written comes first.
    for board in std::iter::once(board).chain(others) {
        let of = if boards.len() > 1 { format!(", {}", board.policy) } else { String::new() };
        slots(page, board, &of)?;
        configurations(page, board, &of)?;
        work::write(page, board, summary, boards.len() > 1)?;
        loads(page, board, &of)?;
    }
    writeln!(
        page,
        "<p class=\"note\">trace.json beside this page has every packet and the queue: open it in \
         <a href=\"https://ui.perfetto.dev\">Perfetto</a>, which shows it without sending it anywhere.</p>"
    )
}

/// What stands in a row of the table, and its figure.
type Row<T> = (&'static str, fn(&Totals) -> T);

/// Where the time went, a column for each policy; the bars of all have one scale.
fn totals(page: &mut String, boards: &[&BoardReport]) -> std::fmt::Result {
    writeln!(page, "<h2>Where the time went</h2>")?;
    let columns: Vec<Column<'_>> = std::iter::once(Column::Words(""))
        .chain(boards.iter().map(|board| Column::Figures(board.policy.as_str())))
        .collect();
    let longest = boards.iter().map(|board| board.totals.total).max().unwrap_or(0);
    let parts: [Row<Picos>; 7] = [
        ("a slot works", |t| t.executing),
        ("only the processor beside the slots works", |t| t.computing),
        ("only the host link works", |t| t.link_only),
        ("only the host works", |t| t.host_only),
        ("all wait for a configuration: the reconfiguration overhead", |t| t.exposed_load),
        ("nothing happens", |t| t.idle),
        ("total", |t| t.total),
    ];
    let more: [Row<String>; 4] = [
        ("loads", |t| grouped(t.loads)),
        ("all loads together", |t| duration(t.load)),
        ("of these hidden behind other work", |t| duration(t.hidden_load)),
        ("operations that found their configuration resident", |t| grouped(t.skipped_loads)),
    ];
    let mut rows = Vec::new();
    for (what, part) in parts {
        let cells = boards.iter().map(|board| &board.totals).map(|t| {
            let text = format!("{}, {:.1} %", duration(part(t)), percent(part(t), t.total));
            Cell::text(text).bar(part(t), longest)
        });
        rows.push(std::iter::once(Cell::text(what)).chain(cells).collect());
    }
    for (what, figure) in more {
        let cells = boards.iter().map(|board| Cell::text(figure(&board.totals)));
        rows.push(std::iter::once(Cell::text(what)).chain(cells).collect());
    }
    table(page, "Where the time went", &columns, rows, false)
}

/// How each slot has spent the run.
fn slots(page: &mut String, board: &BoardReport, of: &str) -> std::fmt::Result {
    writeln!(page, "<h2>Slots{}</h2>", escape(of))?;
    let columns = [
        Column::Words("slot"),
        Column::Figures("loads"),
        Column::Figures("operations"),
        Column::Figures("works"),
        Column::Figures("is loaded"),
        Column::Figures("idle"),
        Column::Words("holds at the end"),
    ];
    let total = board.totals.total;
    let rows = board.slots.iter().enumerate().map(|(at, slot)| {
        let resident = slot.resident.and_then(|id| board.configurations.get(id));
        vec![
            Cell::text(board.slot_name(at).1),
            Cell::count(slot.loads),
            Cell::count(slot.operations),
            Cell::share(slot.execute, total),
            Cell::share(slot.load, total),
            Cell::share(slot.idle, total),
            Cell::text(resident.map_or("nothing".into(), |c| board.title(c))),
        ]
    });
    table(page, &format!("Slots{of}, in shares of the run"), &columns, rows, true)
}

fn configurations(page: &mut String, board: &BoardReport, of: &str) -> std::fmt::Result {
    writeln!(page, "<h2>Configurations{}</h2>", escape(of))?;
    let columns = [
        Column::Words("name"),
        Column::Figures("clock, MHz"),
        Column::Figures("loads"),
        Column::Figures("bytes a load"),
        Column::Figures("load time"),
        Column::Figures("operations"),
        Column::Figures("bytes"),
        Column::Figures("time"),
        Column::Figures("Mb/s while it works"),
    ];
    let used = board.configurations.iter().filter(|c| c.loads + c.operations > 0 || c.refused.is_some());
    let rows = used.map(|c| {
        let refused = c.refused.as_ref().map_or(String::new(), |why| format!(" (refused: {why})"));
        vec![
            Cell::text(format!("{}{refused}", board.title(c))),
            Cell::mhz(c.clock_hz),
            Cell::count(c.loads),
            Cell::count(c.loaded_bytes / c.loads.max(1)),
            Cell::time(c.load),
            Cell::count(c.operations),
            Cell::count(c.data_bytes),
            Cell::time(c.execute),
            // Bits in picoseconds.
            Cell::rate((c.execute > 0).then(|| c.data_bytes as f64 * 8e6 / c.execute as f64)),
        ]
    });
    table(page, &format!("Configurations{of}"), &columns, rows, true)
}

fn loads(page: &mut String, board: &BoardReport, of: &str) -> std::fmt::Result {
    let loads = drawn::loads(board);
    let (count, of) = (grouped(loads.len() as u64), escape(of));
    writeln!(page, "<details><summary>All {count} loads that are drawn, one by one{of}</summary>")?;
    if loads.len() > LISTED_LOADS {
        writeln!(page, "<p class=\"note\">The first {LISTED_LOADS}; trace.json has all.</p>")?;
    }
    let columns = [
        Column::Figures("begins at"),
        Column::Words("slot"),
        Column::Words("configuration"),
        Column::Figures("bytes"),
        Column::Figures("takes"),
        Column::Figures("hidden"),
    ];
    let rows = loads.iter().take(LISTED_LOADS).map(|load| {
        let title = board.configurations.get(load.configuration).map_or("?".into(), |c| board.title(c));
        let took = load.event.end - load.event.start;
        vec![
            Cell::time(load.event.start),
            Cell::text(board.slot_name(load.event.slot).1),
            Cell::text(title),
            Cell::count(load.bytes),
            Cell::time(took),
            Cell::share(load.hidden, took),
        ]
    });
    table(page, &format!("Loads{of}"), &columns, rows, true)?;
    writeln!(page, "</details>")
}
