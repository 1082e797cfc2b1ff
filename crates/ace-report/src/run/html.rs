// SPDX-License-Identifier: Apache-2.0
//! One self-contained page: the numbers of a run and the timeline of the slots as a picture.

use std::fmt::Write;

use super::boards;
use super::figures::escape;
use super::summary::Summary;

/// Colours of text reach 4.5 against their ground, and bars 3 against an idle track, in both schemes (WCAG 2.1, AA).
const STYLE: &str = ":root{color-scheme:light dark;--ground:#fff;--ink:#222;--quiet:#555;--line:#ddd;--idle:#eee;\
--link:#1a56a8}\
@media(prefers-color-scheme:dark){:root{--ground:#181818;--ink:#ddd;--quiet:#aaa;--line:#444;--idle:#c8c8c8;\
--link:#8ab4f8}}\
body{font:15px/1.45 system-ui,sans-serif;max-width:1160px;margin:2em auto;padding:0 1em;color:var(--ink);\
background:var(--ground)}h1{font-size:1.4em;overflow-wrap:anywhere}h2{font-size:1.1em;margin-top:2em}\
h3{font-size:1em;margin:1.2em 0 .4em}a{color:var(--link)}table{border-collapse:collapse}\
td,th{padding:.15em .8em;border-bottom:1px solid var(--line);text-align:right}\
th{vertical-align:bottom}td{white-space:nowrap}td:first-child,th:first-child{text-align:left;padding-left:0}\
td.words{white-space:normal}.wide{overflow-x:auto}svg{width:100%;min-width:1000px;height:auto;display:block}\
svg text{fill:var(--ink)}svg text.on{fill:#fff}.idle{fill:var(--idle)}\
.tick{stroke:var(--ink);stroke-opacity:.25}.key{display:flex;flex-wrap:wrap;gap:.2em 1.2em;padding:0;\
margin:.6em 0;list-style:none}.key span{display:inline-block;width:.9em;height:.9em;margin-right:.4em;\
vertical-align:-.1em}.share{display:inline-block;min-width:4.8em}.note{color:var(--quiet)}@media(max-width:600px){body{margin:1em auto;padding:0 .6em;\
font-size:14px}td,th{padding:.15em .4em}.share{display:block}.share:empty{display:none}}";

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
        summary.dropped(),
        summary.engine
    )?;
    if let Some(what) = summary.all_on_cpu() {
        writeln!(page, "<p>{}.</p>", escape(what))?;
    }
    if summary.board.is_some() && !summary.nothing_on_board() {
        boards::write(page, summary)?;
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

#[cfg(test)]
mod tests {
    use super::super::figures::tests::contrast;
    use super::super::timeline::{COMPUTE, EXECUTE, EXPOSED, HIDDEN, LINK, REFUSED};
    use super::*;

    #[test]
    fn text_can_be_read_on_the_page_by_day_and_by_night() {
        let schemes: Vec<&str> = STYLE.split("--ground:").skip(1).collect();
        assert_eq!(schemes.len(), 2);
        for scheme in schemes {
            let all = format!("--ground:{}", scheme.split('}').next().unwrap_or_default());
            let colour = |name: &str| {
                let digits = all.split(&format!("--{name}:#")).nth(1).expect("a colour");
                let digits: String = digits.chars().take_while(char::is_ascii_hexdigit).collect();
                let twice = |d: char| [d, d];
                let long = if digits.len() == 3 { digits.chars().flat_map(twice).collect() } else { digits };
                format!("#{long}")
            };
            for text in ["ink", "quiet", "link"] {
                let found = contrast(&colour(text), &colour("ground"));
                assert!(found >= 4.5, "{text}: {found:.2}");
            }
            for bar in EXECUTE.into_iter().chain([EXPOSED, HIDDEN, REFUSED, LINK, COMPUTE]) {
                let found = contrast(bar, &colour("idle"));
                assert!(found >= 3.0, "{bar}: {found:.2}");
            }
        }
    }
}
