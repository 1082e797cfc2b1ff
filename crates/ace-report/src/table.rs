// SPDX-License-Identifier: Apache-2.0
//! A table of rows that are there anyway: each column has a head and says what it shows of a row.

use std::fmt::{Display, Write};

use serde_json::{Map, Value};

use crate::page::{draw, line};

/// What a column shows of a row.
type Cell<'a, T> = Box<dyn Fn(&'a T) -> String + 'a>;

struct Column<'a, T> {
    head: String,
    right: bool,
    cell: Cell<'a, T>,
}

/// Rows and what columns show of them; an example is that of the crate.
pub struct Table<'a, T> {
    rows: &'a [T],
    columns: Vec<Column<'a, T>>,
}

impl<'a, T> Table<'a, T> {
    /// Of these rows, no column yet.
    pub fn of(rows: &'a [T]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// With one more column, of words: they begin one below the other.
    #[must_use]
    pub fn left<D: Display>(self, head: impl Into<String>, cell: impl Fn(&'a T) -> D + 'a) -> Self {
        self.column(head.into(), false, cell)
    }

    /// With one more column, of figures: they end one below the other.
    #[must_use]
    pub fn right<D: Display>(self, head: impl Into<String>, cell: impl Fn(&'a T) -> D + 'a) -> Self {
        self.column(head.into(), true, cell)
    }

    fn column<D: Display>(mut self, head: String, right: bool, cell: impl Fn(&'a T) -> D + 'a) -> Self {
        let cell = Box::new(move |row| cell(row).to_string());
        self.columns.push(Column { head, right, cell });
        self
    }

    /// As in a Markdown document.
    pub fn markdown(&self) -> String {
        let mut text = line(self.columns.iter().map(|column| column.head.clone()));
        for column in &self.columns {
            text.push_str(if column.right { "|--:" } else { "|---" });
        }
        text.push_str("|\n");
        for row in self.rows {
            text.push_str(&line(self.columns.iter().map(|column| (column.cell)(row))));
        }
        text
    }

    /// As for a terminal: columns one below the other.
    pub fn text(&self) -> String {
        let (markdown, mut text) = (self.markdown(), String::new());
        draw(&markdown.lines().collect::<Vec<_>>(), &mut text);
        text
    }

    /// As an array with an object for each row, in which heads name cells. Numbers are text with as many digits as the
    /// table shows; whoever wants all of them serialises the rows.
    pub fn json(&self) -> Value {
        let object = |row: &'a T| -> Map<String, Value> {
            self.columns.iter().map(|column| (column.head.clone(), (column.cell)(row).into())).collect()
        };
        self.rows.iter().map(|row| Value::Object(object(row))).collect()
    }
}

/// A figure with so many digits, or a dash where there is none.
pub fn or_dash(value: Option<f64>, digits: usize) -> String {
    let mut text = String::new();
    // A String takes all that is written.
    let _ = match value {
        Some(value) => write!(text, "{value:.digits$}"),
        None => write!(text, "–"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_in_cells_stay_in_their_cells() {
        let rows = ["a|b", "c"];
        let table = Table::of(&rows).left("name", |row| row).right("n", |row| row.len());
        assert_eq!(table.markdown(), "| name | n |\n|---|--:|\n| a\\|b | 3 |\n| c | 1 |\n");
        assert_eq!(table.text(), "name  n\n────  ─\na|b   3\nc     1\n");
        assert_eq!(table.json()[0]["name"], "a|b");
        assert_eq!((or_dash(Some(1.25), 1), or_dash(None, 1)), ("1.2".into(), "–".into()));
    }
}
