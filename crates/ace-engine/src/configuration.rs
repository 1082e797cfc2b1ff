// SPDX-License-Identifier: Apache-2.0
//! Configurations by number, and tables that are indexed by them alone.

use std::fmt;
use std::ops::{Index, IndexMut};

use serde::Serialize;

/// A configuration, by its place in the catalogue that it belongs to: engines, policies and traces name it so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ConfigurationId(u32);

impl ConfigurationId {
    /// The one at this place of the catalogue, from 0.
    pub const fn from_index(index: usize) -> Self {
        // A catalogue of 2^32 configurations does not fit into memory.
        Self(if index > u32::MAX as usize { u32::MAX } else { index as u32 })
    }

    /// Its place in the catalogue.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ConfigurationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something of each configuration of a catalogue, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Table<T>(Vec<T>);

impl<T> Table<T> {
    /// The same of each of so many configurations.
    pub fn filled(value: T, configurations: usize) -> Self
    where
        T: Clone,
    {
        Self(vec![value; configurations])
    }

    /// That of one, if the catalogue has it.
    pub fn get(&self, configuration: ConfigurationId) -> Option<&T> {
        self.0.get(configuration.index())
    }

    /// That of one, to be changed.
    pub fn get_mut(&mut self, configuration: ConfigurationId) -> Option<&mut T> {
        self.0.get_mut(configuration.index())
    }

    /// That of one, for which the table grows by defaults where it ends before.
    pub fn entry(&mut self, configuration: ConfigurationId) -> &mut T
    where
        T: Default,
    {
        let index = configuration.index();
        if self.0.len() <= index {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }

    /// Adds that of the next configuration.
    pub fn push(&mut self, value: T) -> ConfigurationId {
        self.0.push(value);
        ConfigurationId::from_index(self.0.len() - 1)
    }

    /// Leaves those of which this is so, which then have other numbers.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }

    /// All of it, in the catalogue's order.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// How many configurations there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The configurations.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ConfigurationId> + ExactSizeIterator + use<T> {
        (0..self.0.len()).map(ConfigurationId::from_index)
    }

    /// What there is of them, in the catalogue's order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// Each with its configuration.
    pub fn pairs(&self) -> impl Iterator<Item = (ConfigurationId, &T)> {
        self.ids().zip(&self.0)
    }

    /// The first configuration of which this is so.
    pub fn position(&self, is: impl FnMut(&T) -> bool) -> Option<ConfigurationId> {
        self.0.iter().position(is).map(ConfigurationId::from_index)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for Table<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T, const N: usize> From<[T; N]> for Table<T> {
    fn from(values: [T; N]) -> Self {
        Self(values.into())
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T> IntoIterator for Table<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Table<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<'a, T> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> Index<ConfigurationId> for Table<T> {
    type Output = T;

    fn index(&self, configuration: ConfigurationId) -> &T {
        &self.0[configuration.index()]
    }
}

impl<T> IndexMut<ConfigurationId> for Table<T> {
    fn index_mut(&mut self, configuration: ConfigurationId) -> &mut T {
        &mut self.0[configuration.index()]
    }
}
