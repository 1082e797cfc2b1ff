// SPDX-License-Identifier: Apache-2.0
//! What a run did: for a terminal, as a page with a picture, and as a trace for Perfetto.

mod boards;
mod drawn;
mod figures;
mod html;
mod perfetto;
mod rates;
mod sentence;
mod summary;
mod tables;
mod text;
mod work;

use std::io;
use std::path::{Path, PathBuf};

pub use figures::{duration, percent};
pub use rates::Rates;
pub use summary::{Offloads, Summary};
pub use text::write as text;

/// A report that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub struct ReportError {
    /// What was to be written: a file, or the folder around it.
    pub path: PathBuf,
    /// Why it was not.
    pub source: io::Error,
}

/// Writes `report.html` and, for a run on the board, `trace.json` into a folder, which is made if it is not there.
///
/// # Errors
/// A file or the folder cannot be written.
pub fn write(folder: &Path, summary: &Summary) -> Result<(), ReportError> {
    let failed = |path: &Path, source| ReportError { path: path.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let page = folder.join("report.html");
    ace_fs::write(&page, html::page(summary).as_bytes()).map_err(|error| failed(&page, error))?;
    if let Some(board) = &summary.board {
        let trace = folder.join("trace.json");
        let text = perfetto::trace(board, &boards::all(summary), summary).to_string();
        ace_fs::write(&trace, text.as_bytes()).map_err(|error| failed(&trace, error))?;
    }
    Ok(())
}
