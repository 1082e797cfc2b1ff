// SPDX-License-Identifier: Apache-2.0
//! What a library is, and what is asked of it first.

use super::image::Image;
use super::set::ContextSet;
use crate::codec::{Dictionary, Tables};
use crate::error::ImageError;

/// Configurations that share a dictionary and contents of block RAMs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Grows with every change of the file.
    pub version: u64,
    pub(super) tables: Tables,
    /// Contents of block RAMs, each once.
    pub(super) contents: Vec<Vec<u8>>,
    /// By name.
    pub(super) images: Vec<Image>,
    /// By name.
    pub(super) sets: Vec<ContextSet>,
}

impl Library {
    /// A library without configurations.
    pub fn new(tables: impl Into<Tables>) -> Self {
        Self { version: 0, tables: tables.into(), contents: Vec::new(), images: Vec::new(), sets: Vec::new() }
    }

    /// The configurations, by name.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// One configuration by name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn get(&self, name: &str) -> Result<&Image, ImageError> {
        self.images.iter().find(|i| i.name == name).ok_or_else(|| ImageError::Unknown(name.to_owned()))
    }

    /// The rows that occur most.
    pub fn dictionary(&self) -> &Dictionary {
        &self.tables.dictionary
    }

    /// What all streams share.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// How many different contents of block RAMs there are, blank ones not counted.
    pub fn contents(&self) -> usize {
        self.contents.len()
    }
}
