// SPDX-License-Identifier: Apache-2.0
//! What commands print: text with tables, in Markdown for documents, and the same tables drawn for a terminal.

use std::cell::RefCell;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Drawn for a terminal.
    Text,
    /// Markdown.
    Md,
}

/// Chosen on the command line, for all that is printed.
static STYLE: OnceLock<Style> = OnceLock::new();

pub fn choose(style: Style) {
    // It is chosen once, before anything is printed.
    let _ = STYLE.set(style);
}

thread_local! {
    /// Markdown on its way out: a table is drawn when all of it is known.
    static PAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Puts text on the page.
pub fn put(text: fmt::Arguments<'_>) {
    PAGE.with_borrow_mut(|page| {
        // A String takes all that is written.
        let _ = page.write_fmt(text);
    });
}

/// A line of Markdown for the page; as `println!`.
macro_rules! say {
    () => { $crate::page::put(format_args!("\n")) };
    ($($what:tt)*) => { $crate::page::put(format_args!("{}\n", format_args!($($what)*))) };
}
/// Part of a line; as `print!`.
macro_rules! say_part {
    ($($what:tt)*) => { $crate::page::put(format_args!($($what)*)) };
}
pub(crate) use {say, say_part};

/// Prints the page in the style that was chosen.
pub fn print() -> io::Result<()> {
    let text = PAGE.take();
    let text = if STYLE.get() == Some(&Style::Md) { text } else { drawn(&text) };
    io::stdout().lock().write_all(text.as_bytes())
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

fn draw(lines: &[&str], out: &mut String) {
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
