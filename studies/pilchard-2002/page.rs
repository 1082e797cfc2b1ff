// SPDX-License-Identifier: Apache-2.0
//! How the study of 2002 is printed.

use super::{MARGIN, PACKET, RoundsComparison, Study, figure7, vpn};
use ace_report::{Page, Table, or_dash, say};

/// Puts the study on a page.
pub fn print(page: &mut Page, study: &Study) {
    study.opening.print(page);
    say!(page, "## Table 2: DES by rounds in a clock, ECB\n");
    let seeds = |r: &RoundsComparison| {
        r.fmax_mhz.iter().map(|mhz| format!("{mhz:.1}")).collect::<Vec<_>>().join(", ")
    };
    let table = Table::of(&study.table2)
        .left("rounds", |r| format!("{}{}", r.rounds, if r.pipelined { ", pipelined" } else { "" }));
    let table = table.right("slices (paper)", |r| or_dash(r.paper.as_ref().map(|p| p.slices as f64), 0));
    let table =
        table.right("LUT4, ours (measured: placed)", |r| r.lut4).right("FF (measured: placed)", |r| r.ff);
    let table = table.right("MHz (paper)", |r| or_dash(r.paper.as_ref().map(|p| p.mhz), 2));
    let table = table
        .left("ours, by seed (measured: placed)", seeds)
        .right("median (measured: placed)", |r| format!("{:.1}", r.median_mhz));
    let table = table.right("clocks a block (measured: RTL)", |r| r.clocks);
    let table = table.right("Mb/s (paper)", |r| or_dash(r.paper.as_ref().map(|p| p.mbps), 2));
    page.table(&table.right("ours (measured: RTL)", |r| format!("{:.0}", r.mbps)));
    say!(page, "\nOurs: {}.\n", study.routed);
    related(page, study);
    let p = &study.paper;
    say!(page, "## Triple DES in CBC: three cascaded cores of 16 rounds behind the block interface\n");
    say!(
        page,
        "| | area | core MHz | machine MHz | clocks a word | Mb/s of the path | Mb/s of whole clocks (predicted) |"
    );
    say!(page, "|---|---|--:|--:|--:|--:|--:|");
    say!(
        page,
        "| as published (paper) | {} slices | {:.3} | {:.0} | {:.0} | {:.2} | {:.1} |",
        p.slices,
        p.core_mhz,
        p.machine_mhz,
        p.clocks(),
        p.mbps,
        p.whole_mbps()
    );
    if let Some(c) = &study.cascade {
        say!(
            page,
            "| ours (measured: placed) | {} LUT4 | {:.3} | {:.0} | {} | {:.2} | {:.1} |",
            c.lut4,
            1e3 / c.delay_ns,
            c.machine_mhz,
            c.core_clocks,
            c.path_mbps,
            c.mbps
        );
        say!(
            page,
            "\nThe path takes {:.1} ns by the timing report and is given ⌈{MARGIN} × delay × clock⌉ clocks.",
            c.delay_ns
        );
    } else {
        say!(page, "\nOurs is written and simulated, and not placed and routed: it is missing here.");
    }
    let port = &study.port;
    say!(
        page,
        "\nThe interface alone: {} LUT4, {} EBR, {:.1} MHz. A raw key is 64 bits where a key schedule would be 768 ({} times less \
         data).\n",
        port.lut4,
        port.ebr,
        port.mhz,
        p.key_schedule_factor
    );
    figure7::print(page, &study.figure7, &study.software);
    let there = study.amdahl_paper;
    say!(page, "\n## Amdahl: at most 1 / (α + (1 - α) / P)\n");
    say!(page, "| | α | P | at most (predicted) |");
    say!(page, "|---|--:|--:|--:|");
    say!(page, "| as published (paper) | {:.2} | {:.2} | {:.2} |", there.alpha, there.p, there.speed_up);
    let s = &study.sealing;
    let of = |[least, middle, greatest]: [f64; 3], digits: usize| {
        format!("{middle:.digits$} ({least:.digits$} to {greatest:.digits$})")
    };
    let dash = |spread: Option<[f64; 3]>| spread.map_or("–".into(), |s| of(s, 2));
    say!(
        page,
        "| our data plane, {PACKET} bytes (measured: wall clock) | {} | {} | {} |",
        of(s.alpha, 4),
        dash(s.p),
        dash(s.speed_up)
    );
    say!(
        page,
        "\nOurs: the middle (least to greatest) of {} pairs, measured in turns. Sealing takes {} ns with portable software (3des-cbc, \
         hmac-sha1-96), {} ns of them triple DES ({}). P is that against the fastest accelerator above behind the interface, modelled.\n",
        s.pairs,
        of(s.packet_ns, 0),
        of(s.cipher_ns, 0),
        study.software
    );
    vpn::print(page, &study.ttcp_paper, &study.ttcp);
    say!(page, "\n## Goals\n");
    say!(page, "| goal | limit | figure | met |");
    say!(page, "|---|--:|--:|---|");
    for g in &study.goals {
        let figure = g.figure.map_or("none".into(), |f| format!("{f:.1}"));
        let met = if g.met == Some(true) { "yes" } else { "**no**" };
        say!(page, "| {} | {} | {figure} | {met} |", g.what, g.limit);
    }
}

/// Section 2.2's figures, and our fastest DES among them.
fn related(page: &mut Page, study: &Study) {
    say!(page, "## Related work: DES and triple DES\n");
    say!(page, "| who | year | what | Mb/s (paper) | ours (measured: RTL) ÷ theirs |");
    say!(page, "|---|--:|---|--:|--:|");
    let ours = study.table2.iter().max_by(|a, b| a.mbps.total_cmp(&b.mbps));
    let mbps = ours.map_or(0.0, |row| row.mbps);
    let triple = study.cascade.as_ref().map_or(0.0, |c| c.mbps);
    for r in &study.related {
        let own = if r.is_triple() { triple } else { mbps };
        say!(page, "| {} | {} | {} | {:.0} | {:.2} |", r.name, r.year, r.what, r.mbps, own / r.mbps);
    }
    if let Some(row) = ours {
        let below = study.related.iter().filter(|r| !r.is_triple() && r.mbps > row.mbps);
        let names: Vec<&str> = below.map(|r| r.name.as_str()).collect();
        say!(
            page,
            "\nOurs beside DES: {} rounds{}, ECB, {:.1} MHz, {:.0} Mb/s; beside triple DES the cascade behind the interface. Still \
             faster than ours: {}.\n",
            row.rounds,
            if row.pipelined { ", pipelined" } else { "" },
            row.median_mhz,
            row.mbps,
            if names.is_empty() { "none".into() } else { names.join(", ") }
        );
    }
}
