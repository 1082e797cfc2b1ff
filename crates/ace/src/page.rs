// SPDX-License-Identifier: Apache-2.0
//! Where a command puts its text and its tables: a page, and the style that was chosen for it.

use std::io;
use std::ops::{Deref, DerefMut};

use ace_report::{Page, Style};

/// The page of the command that runs. `say!` puts lines on it.
pub struct Output {
    page: Page,
    style: Style,
}

impl Output {
    /// An empty page, which is printed in this style.
    pub const fn new(style: Style) -> Self {
        Self { page: Page::new(), style }
    }

    /// Prints the page, and leaves it empty.
    pub fn print(&mut self) -> io::Result<()> {
        self.page.print(self.style)
    }
}

impl Deref for Output {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl DerefMut for Output {
    fn deref_mut(&mut self) -> &mut Page {
        &mut self.page
    }
}
