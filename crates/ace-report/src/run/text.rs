// SPDX-License-Identifier: Apache-2.0
//! The summary on a terminal.

use std::io::{self, Write};

use ace_board::trace::BoardReport;

use super::boards;
use super::figures::{duration, percent};
use super::summary::Summary;

/// Writes what a run did for a terminal.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let p = &summary.packets;
    writeln!(
        out,
        "{}: {} packets in, {} out: {} protected, {} decapsulated, {} bypassed; {} dropped",
        summary.input,
        summary.frames,
        summary.written,
        p.protected.packets,
        p.decapsulated.packets,
        p.bypassed.packets,
        summary.dropped(),
    )?;
    for (cause, count) in p.dropped.iter() {
        writeln!(out, "  dropped {count:>6}  {:18} {cause}", cause.name())?;
    }
    if summary.cut_short > 0 {
        writeln!(
            out,
            "  dropped {:>6}  cut_short          the capture holds only their beginning; {} of them should have been \
             protected or come out of ESP",
            summary.cut_short, summary.cut_short_missing
        )?;
    }
    for (what, frames) in &summary.opaque {
        let fate = if summary.bypass_opaque { "passed " } else { "dropped" };
        writeln!(out, "  {fate} {frames:>6}  opaque             cannot be looked through: {what}")?;
    }
    let lost = summary.unreadable.iter().map(|(why, n)| ("unreadable", *why, n));
    let lost = lost.chain(summary.unwritable.iter().map(|(why, n)| ("unwritable", why.as_str(), n)));
    for (name, why, frames) in lost {
        writeln!(out, "  dropped {frames:>6}  {name:18} {why}")?;
    }
    for (why, fragments) in &summary.unassembled {
        writeln!(out, "  dropped {fragments:>6}  unassembled        {why}")?;
    }
    for (why, count) in &summary.lost_in_tcp {
        writeln!(out, "  dropped {count:>6}  lost_in_tcp        {why}")?;
    }
    let left = &summary.offloaded;
    for (packets, what) in [
        (left.length, "say no length, as before a network card has cut them: the frame's was taken"),
        (left.jumbogram, "are jumbograms"),
        (left.checksum, "have no header checksum, as before a network card has put it in: it was filled in"),
    ] {
        if packets > 0 {
            writeln!(out, "  {packets} packets {what}")?;
        }
    }
    if summary.esp_in_udp > 0 {
        writeln!(out, "  {} packets came as ESP in UDP", summary.esp_in_udp)?;
    }
    if summary.tcp_segments > 0 {
        let (packets, segments) = (summary.esp_in_tcp, summary.tcp_segments);
        writeln!(out, "  {packets} packets came as ESP in TCP, in {segments} segments")?;
    }
    if summary.fragments > 0 {
        let (packets, fragments) = (summary.reassembled, summary.fragments);
        writeln!(out, "  {packets} packets were put together of {fragments} fragments")?;
    }
    if summary.beside_esp > 0 {
        writeln!(
            out,
            "  {} packets beside ESP in UDP or TCP are IKE, keepalives or the connection's own",
            summary.beside_esp
        )?;
    }
    if summary.not_ip > 0 {
        writeln!(out, "  {} frames hold no IP packet", summary.not_ip)?;
    }
    writeln!(out)?;
    let name_width = summary.sas.iter().map(|sa| sa.name.len()).max().unwrap_or(0).max(4);
    writeln!(
        out,
        "{:name_width$}  {:10} {:3}  {:26} {:>8} {:>10} {:>8} {:>10}",
        "SA", "SPI", "dir", "suite", "packets", "bytes", "dropped", "sequence"
    )?;
    for sa in &summary.sas {
        writeln!(
            out,
            "{:name_width$}  {:#010x} {:3}  {:26} {:>8} {:>10} {:>8} {:>10}",
            sa.name,
            sa.spi,
            match sa.direction {
                ace_ipsec::Direction::Out => "out",
                ace_ipsec::Direction::In => "in",
            },
            sa.suite(),
            sa.counters.forwarded.packets,
            sa.counters.forwarded.bytes,
            sa.counters.dropped.total(),
            sa.sequence,
        )?;
    }
    writeln!(out)?;
    // Tables of a board that had nothing to do say nothing.
    let idle = summary.board.as_ref().filter(|_| summary.nothing_on_board());
    let boards = if idle.is_some() { Vec::new() } else { boards::all(summary) };
    if let Some(board) = idle {
        writeln!(out, "board: {}, {} slots, did nothing", board.device, board.slots.len())?;
    }
    for board in &boards {
        write_board(out, board)?;
        writeln!(out)?;
    }
    if let [first, .., last] = boards[..] {
        let (a, b) = (&first.totals, &last.totals);
        writeln!(
            out,
            "{} takes {} where {} takes {}, and {} of its overhead is left of {}",
            last.policy,
            duration(b.total),
            first.policy,
            duration(a.total),
            duration(b.exposed_load),
            duration(a.exposed_load)
        )?;
    }
    if let Some(what) = summary.all_on_cpu() {
        writeln!(out, "{what}")?;
    }
    writeln!(out, "wall time {:.2} s ({} engine)", summary.wall_seconds, summary.engine)
}

fn write_board(out: &mut impl Write, board: &BoardReport) -> io::Result<()> {
    let t = &board.totals;
    writeln!(
        out,
        "board: {}, {} slots, port {}, link {}, policy {}, {} models",
        board.device,
        board.slots.len(),
        board.configuration_port,
        board.host_link,
        board.policy,
        board.models
    )?;
    writeln!(out, "host: {}", board.host)?;
    if let Some(processor) = &board.processor {
        writeln!(out, "beside the slots: {processor}, {} passes in {}", t.computed, duration(t.computation))?;
    }
    if let Some(library) = &board.library {
        writeln!(out, "configurations from {library}; of the build where it does not hold them (marked *)")?;
    }
    for (index, slot) in board.slots.iter().enumerate() {
        let name = |at| board.configurations.get(at).map(|configuration| configuration.name.as_str());
        let before: Vec<&str> =
            slot.loaded.iter().filter(|at| slot.resident != Some(**at)).filter_map(|at| name(*at)).collect();
        writeln!(
            out,
            "{}: {:>5} loads {:>10}, {:>6} operations {:>10}, idle {:>10}; holds {}{}",
            board.slot_name(index).1,
            slot.loads,
            duration(slot.load),
            slot.operations,
            duration(slot.execute),
            duration(slot.idle),
            slot.resident.and_then(name).unwrap_or("nothing"),
            if before.is_empty() { String::new() } else { format!(" (and held {})", before.join(", ")) },
        )?;
    }
    let unproven: Vec<&str> = board.unproven().map(|one| one.name.as_str()).collect();
    if !unproven.is_empty() {
        writeln!(out, "nobody has signed or proven, and --unproven has loaded: {}", unproven.join(", "))?;
    }
    for c in board.configurations.iter().filter(|c| c.loads + c.operations > 0 || c.refused.is_some()) {
        writeln!(
            out,
            "  {:10} {:>5} loads of {:>7} bytes{}, {:>6} operations, {:>9} bytes in {:>10} at {:.1} MHz{}",
            board.title(c),
            c.loads,
            // The mean: partial loads differ.
            c.loaded_bytes / c.loads.max(1),
            if board.library.is_some() && !c.from_library { "*" } else { "" },
            c.operations,
            c.data_bytes,
            duration(c.execute),
            c.clock_hz as f64 / 1e6,
            c.refused.as_ref().map_or(String::new(), |reason| format!("; refused: {reason}")),
        )?;
    }
    writeln!(out, "modelled time {}, of which", duration(t.total))?;
    for (what, part) in [
        ("a slot works", t.executing),
        ("only the processor works", t.computing),
        ("only the host link works", t.link_only),
        ("only the host works", t.host_only),
        ("all wait for a configuration", t.exposed_load),
        ("nothing happens", t.idle),
    ] {
        writeln!(out, "  {:>10}  {:>5.1} %  {what}", duration(part), percent(part, t.total))?;
    }
    writeln!(
        out,
        "reconfiguration: {} loads, {} in all, {} hidden; {} operations found their configuration resident",
        t.loads,
        duration(t.load),
        duration(t.hidden_load),
        t.skipped_loads
    )
}
