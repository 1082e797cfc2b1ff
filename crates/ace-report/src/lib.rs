// SPDX-License-Identifier: Apache-2.0
//! What commands say: a [`Page`] of text with tables, for a terminal or in Markdown; a [`Table`] of rows that are there
//! anyway; what [`run`] has to say about packets that went through an engine, as text, HTML and a trace for Perfetto; and
//! how a command ended ([`Outcome`]).
//!
//! ```
//! use ace_report::{Page, Style, Table, say};
//!
//! struct Speed {
//!     name: &'static str,
//!     mbps: f64,
//! }
//! let speeds = [Speed { name: "des", mbps: 96.0 }, Speed { name: "aes", mbps: 1024.5 }];
//! let table = Table::of(&speeds).left("cipher", |s| s.name).right("Mb/s", |s| format!("{:.1}", s.mbps));
//! let mut page = Page::new();
//! say!(page, "Modelled:");
//! page.table(&table);
//! assert_eq!(page.render(Style::Md), "Modelled:\n| cipher | Mb/s |\n|---|--:|\n| des | 96.0 |\n| aes | 1024.5 |\n");
//! assert_eq!(page.render(Style::Text), "Modelled:\ncipher    Mb/s\n──────  ──────\ndes       96.0\naes     1024.5\n");
//! assert_eq!(table.json()[1]["Mb/s"], "1024.5");
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod outcome;
mod page;
pub mod run;
mod table;

pub use outcome::{EXIT_CODES, FAILED, Outcome, print_json};
pub use page::{Page, Style};
pub use run::{ReportError, Summary};
pub use table::{Table, or_dash};
