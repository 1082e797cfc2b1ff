// SPDX-License-Identifier: Apache-2.0
//! A library whose streams are made anew.

use super::library::Library;
use crate::codec::Tables;
use crate::error::ImageError;

impl Library {
    /// The same configurations, manifests and proofs over the same bases, encoded with another dictionary.
    ///
    /// # Errors
    /// When what is stored is not what was stored.
    pub fn recoded(&self, tables: impl Into<Tables>) -> Result<Self, ImageError> {
        let mut next = Self { version: self.version, sets: self.sets.clone(), ..Self::new(tables) };
        let (bases, others): (Vec<_>, Vec<_>) = self.images.iter().partition(|image| image.base.is_none());
        for image in bases.iter().chain(&others) {
            let texts = (image.manifest.clone(), image.proof.clone());
            let over: Vec<&str> = image.base.as_deref().into_iter().collect();
            next.insert(&image.name, &self.memory(&image.name)?, texts, &over)?;
        }
        for base in bases {
            next.settle(&base.name)?;
        }
        Ok(next)
    }
}
