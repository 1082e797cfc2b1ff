// SPDX-License-Identifier: Apache-2.0
//! The page of the command that runs, and the style that was chosen for it.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;

use ace_report::{Page, Style, Table};

thread_local! {
    static STYLE: Cell<Style> = const { Cell::new(Style::Text) };
    static PAGE: RefCell<Page> = const { RefCell::new(Page::new()) };
}

/// Chooses how all pages are printed: once, before anything is.
pub fn choose(style: Style) {
    STYLE.set(style);
}

/// Puts text on the page.
pub fn put(text: fmt::Arguments<'_>) {
    PAGE.with_borrow_mut(|page| page.put(text));
}

/// Puts a table on the page.
pub fn table<T>(table: &Table<'_, T>) {
    with(|page| page.table(table));
}

/// Lets somebody else fill the page.
pub fn with(fill: impl FnOnce(&mut Page)) {
    PAGE.with_borrow_mut(fill);
}

/// A line of Markdown for the page; as `println!`.
macro_rules! say {
    () => { $crate::page::put(format_args!("\n")) };
    ($($what:tt)*) => { $crate::page::put(format_args!("{}\n", format_args!($($what)*))) };
}
pub(crate) use say;

/// Prints the page, and leaves it empty.
pub fn print() -> io::Result<()> {
    PAGE.take().print(STYLE.get())
}
