// SPDX-License-Identifier: Apache-2.0
//! One self-contained page: a sentence, a picture, and the numbers of a run.

use std::fmt::Write;

use ace_charts::{COLOURS, CSS, JS, UPLOT_CSS, UPLOT_JS, UPLOT_LICENCE, embedded};
use serde::Serialize;

use super::boards;
use super::drawn::{self, Drawn};
use super::figures::escape;
use super::sentence::sentence;
use super::summary::Summary;
use super::tables::{Cell, Column, table};

const SCRIPT: &str = include_str!("report.js");

/// What the page draws.
#[derive(Serialize)]
struct Data<'a> {
    /// Names of the flows of the data plane.
    sas: Vec<&'a str>,
    /// In the order in which they ran.
    boards: &'a [Drawn],
    colours: usize,
}

pub(super) fn page(summary: &Summary) -> String {
    let mut page = String::new();
    write_page(&mut page, summary).expect("a String takes all that is written");
    page
}

fn write_page(page: &mut String, summary: &Summary) -> std::fmt::Result {
    let title = format!("ACE: {}", escape(&summary.input));
    writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; \
         style-src 'unsafe-inline'\"><title>{title}</title>"
    )?;
    writeln!(page, "<style>{UPLOT_CSS}\n{CSS}</style></head><body><main>\n<h1>{title}</h1>")?;
    writeln!(page, "<p class=\"lead\">{}</p>", escape(&sentence(summary)))?;
    if let Some(what) = summary.all_on_cpu() {
        writeln!(page, "<p>{}.</p>", escape(what))?;
    }
    let drawn: Vec<Drawn> = match summary.working_board() {
        Some(_) => boards::all(summary).into_iter().map(drawn::of).collect(),
        None => Vec::new(),
    };
    if let (Some(board), Some(of)) = (&summary.board, drawn.last()) {
        boards::picture(page, board, of, drawn.len() - 1)?;
    }
    let p = &summary.packets;
    writeln!(
        page,
        "<p class=\"note\">{} packets in, {} out: {} protected, {} decapsulated, {} bypassed; {} dropped. Engine: {}.</p>",
        summary.frames,
        summary.written,
        p.protected.packets,
        p.decapsulated.packets,
        p.bypassed.packets,
        summary.dropped(),
        summary.engine
    )?;
    write_sas(page, summary)?;
    if p.dropped.total() > 0 {
        writeln!(page, "<h2>Dropped packets</h2>")?;
        let columns = [Column::Words("cause"), Column::Figures("packets")];
        let rows =
            p.dropped.iter().map(|(cause, count)| vec![Cell::text(cause.to_string()), Cell::count(count)]);
        table(page, "Dropped packets", &columns, rows, true)?;
    }
    for (error, count) in &summary.engine_errors {
        writeln!(page, "<p>{count} packets dropped: {}</p>", escape(error))?;
    }
    if !drawn.is_empty() {
        boards::write(page, summary, &drawn)?;
    }
    writeln!(page, "<p class=\"note\">Wall time of the run: {:.2} s.</p></main>", summary.wall_seconds)?;
    let sas = summary.sas.iter().map(|sa| sa.name.as_str()).collect();
    let data = Data { sas, boards: &drawn, colours: COLOURS };
    let data = serde_json::to_string(&data).map_err(|_| std::fmt::Error)?;
    writeln!(page, "<script type=\"application/json\" id=\"run\">{}</script>", embedded(&data))?;
    if !drawn.is_empty() {
        writeln!(page, "<script>\n/*\n{UPLOT_LICENCE}\n*/\n{UPLOT_JS}</script>")?;
    }
    writeln!(page, "<script>{JS}\n{SCRIPT}</script></body></html>")
}

/// The associations, with the packets that each has let through as a bar.
fn write_sas(page: &mut String, summary: &Summary) -> std::fmt::Result {
    writeln!(page, "<h2>Security associations</h2>")?;
    let columns = [
        Column::Words("name"),
        Column::Words("SPI"),
        Column::Words("suite"),
        Column::Figures("packets"),
        Column::Figures("bytes"),
        Column::Figures("Mb/s"),
        Column::Figures("dropped"),
    ];
    let rates = summary.rates();
    let most = summary.sas.iter().map(|sa| sa.counters.forwarded.bytes).max().unwrap_or(0);
    let rows = summary.sas.iter().zip(rates.sas).map(|(sa, rate)| {
        let forwarded = &sa.counters.forwarded;
        vec![
            Cell::text(&sa.name),
            Cell::text(format!("{:#x}", sa.spi)),
            Cell::text(sa.suite()),
            Cell::count(forwarded.packets),
            Cell::count(forwarded.bytes).bar(forwarded.bytes, most),
            Cell::rate(rate),
            Cell::count(sa.counters.dropped.total()),
        ]
    });
    table(page, "Security associations", &columns, rows, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_text_and_the_page_is_one_file() {
        let input = "</script><img src=x onerror=alert(1)>.pcap".to_owned();
        let page = page(&Summary { input, ..Summary::default() });
        assert!(page.contains("&lt;/script&gt;&lt;img"), "{page}");
        assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
        assert!(!page.contains("<img") && page.contains("default-src 'none'"));
        // Nothing is drawn: nothing draws.
        assert!(!page.contains("uPlot (v") && page.contains("No packet was protected"));
    }
}
