// SPDX-License-Identifier: Apache-2.0
//! What can be wrong: with a shape, a source, a schedule or the bytes of a set.

use std::ops::Range;

use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use thiserror::Error;

use crate::bounds::Refusal;

/// A place in a source: its file's number among those that were read, and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The file's number.
    pub file: usize,
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
}

impl Span {
    /// From the beginning of this place to the end of the other one.
    pub fn to(self, end: Span) -> Span {
        Span { end: end.end.max(self.end), ..self }
    }
}

/// What is wrong with a source, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where it is.
    pub span: Span,
    /// What is wrong, without the place.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
}

impl Wrong {
    /// Something wrong, with no remedy yet.
    pub fn new(span: Span, message: impl Into<String>) -> Wrong {
        Wrong { span, message: message.into(), help: None }
    }

    /// The same with a remedy.
    pub fn help(mut self, help: impl Into<String>) -> Wrong {
        self.help = Some(help.into());
        self
    }
}

/// What is wrong with a source, with what is needed to show it.
#[derive(Clone, Debug, Error)]
#[error("{}", self.line())]
pub struct Diagnostic {
    /// The file's name.
    pub name: String,
    /// The whole text of the file.
    pub text: String,
    /// The bytes of the text that are wrong.
    pub bytes: Range<usize>,
    /// What is wrong, without the place.
    pub message: String,
    /// What to do about it, where that is known.
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

/// What a graph asks for and the array has not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct Misfit {
    /// What is wanted, and what there is.
    pub what: String,
    /// The node that has to do without; none if it is no single one.
    pub node: Option<usize>,
}

impl Misfit {
    /// No single node is to blame.
    pub fn of_all(what: impl Into<String>) -> Misfit {
        Misfit { what: what.into(), node: None }
    }

    /// This node has to do without.
    pub fn of(node: usize, what: impl Into<String>) -> Misfit {
        Misfit { what: what.into(), node: Some(node) }
    }
}

/// Why a step from a shape and a source to a set, or from bytes to a set, came to nothing.
#[derive(Debug, Error)]
pub enum Error {
    /// The shape's text cannot be read, or no array of this shape can be built.
    #[error("the shape cannot be built: {0}")]
    Shape(String),
    /// The source is wrong at a place that is named.
    #[error(transparent)]
    Source(#[from] Box<Diagnostic>),
    /// The variant needs more of something than the array has: at a line of its source, or of all of `run`.
    #[error(transparent)]
    Fit(Box<Diagnostic>),
    /// The same of a graph whose source nobody has asked yet.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The bytes are no set for this shape.
    #[error("the set is refused: {0}")]
    Set(String),
    /// The set would reach for what belongs to another block or bank.
    #[error(transparent)]
    Bounds(#[from] Refusal),
    /// The checker has found an operation or an operand that the schedule does not serve.
    #[error("the schedule is wrong: {0}")]
    Schedule(String),
    /// What was asked for does not exist or makes no sense.
    #[error("{0}")]
    Use(String),
}
