// SPDX-License-Identifier: Apache-2.0
//! Tables of the page: rows that sort, and become cards where it is narrow.

use std::fmt::Write;

use ace_board::trace::Picos;

use super::figures::{duration, escape, grouped, mbps, percent};

/// What stands in a cell.
pub(super) struct Cell {
    text: String,
    /// What it is sorted by, if that is not its text.
    value: Option<f64>,
    /// A bar below the figure, in per cent of the cell.
    bar: Option<f64>,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None, bar: None }
    }

    pub fn count(count: u64) -> Self {
        Self { value: Some(count as f64), ..Self::text(grouped(count)) }
    }

    pub fn time(picos: Picos) -> Self {
        Self { value: Some(picos as f64), ..Self::text(duration(picos)) }
    }

    /// Mb/s; nobody knows them where there is no time.
    pub fn rate(rate: Option<f64>) -> Self {
        Self { value: Some(rate.unwrap_or(-1.0)), ..Self::text(rate.map_or("–".to_owned(), mbps)) }
    }

    /// Part of a whole in per cent, also as a bar.
    pub fn share(part: Picos, whole: Picos) -> Self {
        let share = percent(part, whole);
        Self { text: format!("{share:.1} %"), value: Some(share), bar: Some(share) }
    }

    pub fn mhz(hz: u64) -> Self {
        Self { value: Some(hz as f64), ..Self::text(format!("{:.1}", hz as f64 / 1e6)) }
    }

    /// A bar below it.
    pub fn bar(self, part: Picos, whole: Picos) -> Self {
        Self { bar: Some(percent(part, whole)), ..self }
    }
}

/// The name of a column; figures stand at its right.
pub(super) enum Column<'a> {
    Words(&'a str),
    Figures(&'a str),
}

impl Column<'_> {
    fn name(&self) -> &str {
        let (Column::Words(name) | Column::Figures(name)) = self;
        name
    }

    fn class(&self) -> &'static str {
        match self {
            Column::Words(_) => "",
            Column::Figures(_) => " class=\"number\"",
        }
    }
}

/// Writes a table that is called `caption` for who does not see what stands above it.
pub(super) fn table(
    page: &mut String,
    caption: &str,
    columns: &[Column<'_>],
    rows: impl IntoIterator<Item = Vec<Cell>>,
    sorts: bool,
) -> std::fmt::Result {
    let class = if sorts { " class=\"sortable\"" } else { "" };
    let caption = escape(caption);
    writeln!(page, "<table{class}><caption class=\"unseen\">{caption}</caption><thead><tr>")?;
    for column in columns {
        write!(page, "<th scope=\"col\"{}>{}</th>", column.class(), escape(column.name()))?;
    }
    writeln!(page, "</tr></thead><tbody>")?;
    for row in rows {
        write!(page, "<tr>")?;
        for (column, cell) in columns.iter().zip(row) {
            let value = cell.value.map_or(String::new(), |value| format!(" data-value=\"{value}\""));
            let (class, style) = match cell.bar {
                Some(bar) => (" class=\"number share\"", format!(" style=\"--of:{bar:.1}%\"")),
                None => (column.class(), String::new()),
            };
            let (label, text) = (escape(column.name()), escape(&cell.text));
            write!(page, "<td{class}{style} data-label=\"{label}\"{value}>{text}</td>")?;
        }
        writeln!(page, "</tr>")?;
    }
    writeln!(page, "</tbody></table>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text_and_have_what_they_are_sorted_by() {
        let mut page = String::new();
        let columns = [Column::Words("SA"), Column::Figures("time"), Column::Figures("share")];
        let row = vec![Cell::text("<b>"), Cell::time(1_234_000), Cell::share(1, 4)];
        table(&mut page, "a & b", &columns, [row], true).expect("a String takes it");
        for part in [
            "<caption class=\"unseen\">a &amp; b<",
            "<td data-label=\"SA\">&lt;b&gt;</td>",
            "<td class=\"number\" data-label=\"time\" data-value=\"1234000\">1.23 µs</td>",
            "<td class=\"number share\" style=\"--of:25.0%\" data-label=\"share\" data-value=\"25\">25.0 %</td>",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
    }
}
