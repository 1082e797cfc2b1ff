// SPDX-License-Identifier: Apache-2.0
//! What commands print: text with tables, in Markdown for documents, and the same tables drawn for a terminal.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

use crate::table::Table;

/// How a page is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Drawn for a terminal.
    #[default]
    Text,
    /// Markdown.
    Md,
}

/// Markdown on its way out: a table is drawn when all of it is known. [`say!`](crate::say) puts lines on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    text: String,
}

impl Page {
    /// An empty one.
    pub const fn new() -> Self {
        Self { text: String::new() }
    }

    /// Puts text on the page, which may be part of a line.
    pub fn put(&mut self, text: fmt::Arguments<'_>) {
        // A String takes all that is written.
        let _ = self.text.write_fmt(text);
    }

    /// Puts a table on the page.
    pub fn table<T>(&mut self, table: &Table<'_, T>) {
        self.text.push_str(&table.markdown());
    }

    /// The page in a style.
    pub fn render(&self, style: Style) -> String {
        match style {
            Style::Md => self.text.clone(),
            Style::Text => drawn(&self.text),
        }
    }

    /// Prints the page and leaves it empty.
    ///
    /// # Errors
    /// Standard output is gone.
    pub fn print(&mut self, style: Style) -> io::Result<()> {
        let text = std::mem::take(self).render(style);
        io::stdout().lock().write_all(text.as_bytes())
    }
}

/// Puts a line of Markdown on a [`Page`]; as `writeln!`, which cannot fail.
#[macro_export]
macro_rules! say {
    ($page:expr) => { $page.put(format_args!("\n")) };
    ($page:expr, $($what:tt)*) => { $page.put(format_args!("{}\n", format_args!($($what)*))) };
}

/// Puts part of a line of Markdown on a [`Page`]; as `write!`, which cannot fail.
#[macro_export]
macro_rules! say_part {
    ($page:expr, $($what:tt)*) => { $page.put(format_args!($($what)*)) };
}

/// A row of a table in Markdown.
pub(crate) fn line(cells: impl Iterator<Item = String>) -> String {
    let mut line = String::from("|");
    for cell in cells {
        line.push(' ');
        line.push_str(&cell.replace('|', "\\|"));
        line.push_str(" |");
    }
    line.push('\n');
    line
}

/// A page whose tables have their columns one below the other.
fn drawn(page: &str) -> String {
    let mut out = String::new();
    let mut table: Vec<&str> = Vec::new();
    for line in page.lines() {
        if line.starts_with('|') {
            table.push(line);
            continue;
        }
        draw(&std::mem::take(&mut table), &mut out);
        out.push_str(line);
        out.push('\n');
    }
    draw(&table, &mut out);
    out
}

/// The cells of a row.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().strip_prefix('|').unwrap_or(line);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    // A bar with a backslash is a bar.
    inner.replace("\\|", "\u{0}").split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// Rows of Markdown, their columns one below the other.
pub(crate) fn draw(lines: &[&str], out: &mut String) {
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line)).collect();
    let Some(columns) = rows.iter().map(Vec::len).max() else { return };
    let is_rule =
        |row: &Vec<String>| row.iter().all(|c| c.len() > 2 && c.trim_matches(':').bytes().all(|b| b == b'-'));
    let right = |at: usize| {
        rows.iter().find(|row| is_rule(row)).and_then(|r| r.get(at)).is_some_and(|c| c.ends_with(':'))
    };
    let wide = |at: usize| {
        rows.iter().filter(|r| !is_rule(r)).filter_map(|r| r.get(at)).map(|c| c.chars().count()).max()
    };
    let layout: Vec<(usize, bool)> = (0..columns).map(|at| (wide(at).unwrap_or(0), right(at))).collect();
    for row in &rows {
        let mut line = String::new();
        for (at, (width, right)) in layout.iter().enumerate() {
            let cell = row.get(at).map_or("", String::as_str);
            line += &match (is_rule(row), right) {
                (true, _) => "─".repeat(*width),
                (_, true) => format!("{cell:>width$}"),
                (_, false) => format!("{cell:width$}"),
            };
            line += "  ";
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_drawn_and_text_stays() {
        let text = "before\n| name | µs |\n|---|--:|\n| a\\|b | 1.5 |\n| longer | |\n\nbehind | it\n";
        assert_eq!(drawn(text), "before\nname     µs\n──────  ───\na|b     1.5\nlonger\n\nbehind | it\n");
    }
}
