// SPDX-License-Identifier: Apache-2.0
//! What can be wrong: with a shape, a source, a schedule or the bytes of a set.

use std::ops::Range;

use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use thiserror::Error;

/// A place in a source: its file's number among those that were read, and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub file: usize,
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn to(self, end: Span) -> Span {
        Span { end: end.end.max(self.end), ..self }
    }
}

/// What is wrong with a source, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

impl Wrong {
    pub fn new(span: Span, message: impl Into<String>) -> Wrong {
        Wrong { span, message: message.into(), help: None }
    }

    pub fn help(mut self, help: impl Into<String>) -> Wrong {
        self.help = Some(help.into());
        self
    }
}

/// What is wrong with a source, with what is needed to show it.
#[derive(Clone, Debug, Error)]
#[error("{}", self.line())]
pub struct Diagnostic {
    pub name: String,
    pub text: String,
    pub bytes: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

impl Diagnostic {
    /// `FILE:LINE:COLUMN: message`.
    fn line(&self) -> String {
        let before = self.text.get(..self.bytes.start).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        let help = self.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        format!("{}:{line}:{column}: {}{help}", self.name, self.message)
    }

    /// The place in its line, as a compiler shows it.
    pub fn drawn(&self) -> String {
        let place = (self.name.as_str(), self.bytes.clone());
        let config = Config::default().with_color(false).with_index_type(IndexType::Byte);
        let label = Label::new(place.clone()).with_message(&self.message);
        let mut report = Report::build(ReportKind::Error, place)
            .with_config(config)
            .with_message(&self.message)
            .with_label(label);
        if let Some(help) = &self.help {
            report = report.with_help(help);
        }
        let mut out = Vec::new();
        match report.finish().write((self.name.as_str(), Source::from(self.text.as_str())), &mut out) {
            Ok(()) => String::from_utf8_lossy(&out).into_owned(),
            Err(_) => self.line(),
        }
    }
}

#[derive(Debug, Error)]
pub enum Error {
    #[error("the shape cannot be built: {0}")]
    Shape(String),
    #[error(transparent)]
    Source(#[from] Box<Diagnostic>),
    #[error("{variant} does not fit the array: {what}")]
    Fit { variant: String, what: String },
    #[error("the set is refused: {0}")]
    Set(String),
    #[error("the schedule is wrong: {0}")]
    Schedule(String),
    #[error("{0}")]
    Use(String),
}
