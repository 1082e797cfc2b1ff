// SPDX-License-Identifier: Apache-2.0
//! The papers that ACE grew from. Each has a folder: its figures (`paper.toml`), what was placed, routed and simulated for
//! it (`results.json`, `programs.json`), and what makes both into a study: a value that can be serialised, and a page.
//!
//! Modelled time and wall time never meet in one figure; each page says which of the two its columns are.
//!
//! ```
//! let study = ace_studies::drp_2006::study(&ace_board::Catalogue::default())?;
//! let mut page = ace_report::Page::new();
//! ace_studies::drp_2006::print(&mut page, &study);
//! assert!(page.render(ace_report::Style::Md).contains("Figure 9: overhead of reconfiguration"));
//! # Ok::<(), ace_studies::Error>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[path = "ace-2000/study.rs"]
pub mod ace_2000;
mod array;
pub mod built;
#[path = "drp-2006/study.rs"]
pub mod drp_2006;
mod error;
#[path = "idea-2004/study.rs"]
pub mod idea_2004;
mod marks;
pub mod measured;
#[path = "molen-2003/study.rs"]
pub mod molen_2003;
#[path = "pilchard-2002/study.rs"]
pub mod pilchard_2002;
pub mod processors;
mod routed;
#[path = "scheduling/study.rs"]
pub mod scheduling;

pub use error::{Error, Wrong};
pub use marks::{By, Mark, Opening};
