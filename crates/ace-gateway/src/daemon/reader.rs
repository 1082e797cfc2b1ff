// SPDX-License-Identifier: Apache-2.0
//! Reads the SA file again and again. What stands in it as it did before is not parsed again: of ten thousand SAs one
//! changes. Of an SA the reader has all but its keys.

use std::collections::HashMap;
use std::sync::Arc;

use ace_config::{Claimant, Claims, Pieces, SaFile, SaFileErrors};
use ace_ipsec::Policy;
use zeroize::Zeroizing;

use crate::core::{CoreError, Known, Print, Salt, Wanted, WantedSa};

/// Of more new SAs than one in so many the file is parsed as a whole.
const FEW: usize = 8;

pub struct Reader {
    salt: Salt,
    claimant: Claimant,
    before: Option<Before>,
}

/// The file as it was read last, without a warning.
struct Before {
    policy: Policy,
    head: Print,
    sas: HashMap<Print, Piece>,
}

#[derive(Clone)]
struct Piece {
    known: Arc<Known>,
    claims: Claims,
}

impl Reader {
    /// # Errors
    /// The operating system gave no randomness.
    pub fn new() -> Result<Self, CoreError> {
        Ok(Self { salt: Salt::new()?, claimant: Claimant::default(), before: None })
    }

    /// The SAs of a file, and what the user should know. SAs that stand there as they did the last time come without
    /// their keys.
    ///
    /// # Errors
    /// As of [`SaFile::parse`].
    pub fn read(&mut self, file: &str, text: &str) -> Result<(Wanted, Vec<String>), SaFileErrors> {
        let pieces = Pieces::of(text);
        if let Some(wanted) = pieces.as_ref().and_then(|pieces| self.changes(file, pieces)) {
            return Ok((wanted, Vec::new()));
        }
        self.before = None;
        let parsed = SaFile::parse(file, text)?;
        let warnings = parsed.warnings().to_vec();
        let claims: Vec<Claims> = parsed.sas().iter().map(|sa| self.claimant.of(sa)).collect();
        let wanted = Wanted::new(&self.salt, parsed);
        if let Some(pieces) = pieces.filter(|it| warnings.is_empty() && it.sas.len() == wanted.sas.len()) {
            let known = wanted.sas.iter().map(|sa| Arc::clone(&sa.known)).zip(claims);
            let sas = pieces.sas.iter().map(|piece| self.print(piece));
            let sas = sas.zip(known.map(|(known, claims)| Piece { known, claims })).collect();
            self.before = Some(Before { policy: wanted.policy, head: self.print(pieces.head), sas });
        }
        Ok((wanted, warnings))
    }

    /// What was read last is not what is installed: the next time all of it is read, keys too.
    pub fn forget(&mut self) {
        self.before = None;
    }

    fn print(&self, piece: &str) -> Print {
        self.salt.print(&[piece.as_bytes()])
    }

    /// `None`: the file has to be read as a whole, because of many changes, an error or a warning.
    fn changes(&mut self, file: &str, pieces: &Pieces<'_>) -> Option<Wanted> {
        let before = self.before.as_ref().filter(|before| before.head == self.print(pieces.head))?;
        let mut sas = HashMap::with_capacity(pieces.sas.len());
        let mut wanted = Vec::with_capacity(pieces.sas.len());
        let mut new = 0;
        for text in &pieces.sas {
            let print = self.print(text);
            let (piece, sa) = match before.sas.get(&print) {
                Some(piece) => (piece.clone(), WantedSa::again(&piece.known)),
                None => {
                    new += 1;
                    if new * FEW > pieces.sas.len() + FEW {
                        return None;
                    }
                    let alone = Zeroizing::new([pieces.head, text].concat());
                    let parsed = SaFile::parse(file, &alone).ok().filter(|it| it.warnings().is_empty())?;
                    let [sa] = <[_; 1]>::try_from(parsed.into_sas()).ok()?;
                    let claims = self.claimant.of(&sa);
                    let sa = WantedSa::new(&self.salt, sa);
                    (Piece { known: Arc::clone(&sa.known), claims }, sa)
                }
            };
            wanted.push(sa);
            sas.insert(print, piece);
        }
        if wanted.is_empty() || Claims::collide(sas.values().map(|piece| &piece.claims)) {
            return None;
        }
        // The same piece twice is the same name twice.
        if sas.len() != wanted.len() {
            return None;
        }
        let before = Before { policy: before.policy, head: before.head, sas };
        let policy = before.policy;
        self.before = Some(before);
        Some(Wanted::of_all(policy, wanted))
    }
}

#[cfg(test)]
mod tests;
