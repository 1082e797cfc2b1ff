// SPDX-License-Identifier: Apache-2.0
//! Why nothing in a catalogue computes what is needed, and what does.

use ace_array::Named;
use ace_engine::{Need, software};

use crate::array::signed;
use crate::catalogue::{Catalogue, candidates};
use crate::config::SlotKind;
use crate::frame::{AEAD_AAD_MAX, AEAD_NONCE, AEAD_ROOM, AEAD_TAGS};

/// As many configurations are named in an error; of more it says how many there are.
const NAMED: usize = 8;

/// What the flow's other steps take for a configuration that the library holds: taking it out, its digest, its manifest.
const FLOW_SECONDS: f64 = 5.0;

impl Catalogue {
    /// Whether it is of a board that has slots of this kind.
    fn is_of(&self, kind: SlotKind) -> bool {
        let only_sets =
            !self.configurations.is_empty() && self.configurations.iter().all(|one| one.context_set);
        self.sets_folder.is_some() || only_sets == (kind == SlotKind::Array)
    }

    /// What makes that `need` can be served: the library holds a configuration, of which a model is missing.
    fn what_makes_it(&self, need: &Need, device: &str) -> Option<String> {
        // A slot that holds the array takes none of the library's configurations.
        if !self.is_of(SlotKind::Fabric) {
            return None;
        }
        let stored = self.store.as_deref()?.configurations();
        let found = &stored[*candidates(&stored, need, device).first()?];
        let price = match found.model_seconds {
            Some(seconds) => format!(
                ", in about {:.0} s of one core (what it took when the library was made; more where sources have \
                 changed since, or tools are still to be set up)",
                seconds.ceil().max(1.0) + FLOW_SECONDS
            ),
            None => String::new(),
        };
        Some(format!("`make models NAMES=\"{}\"` builds one that does{price}", found.name))
    }

    /// What of the library, or of this machine, computes `need` where these slots do not: slots of the other kind, and this
    /// processor. What has to be made first is no remedy for whoever wants to use it.
    fn elsewhere(&self, need: &Need, device: &str) -> String {
        let store = self.store.as_deref();
        let set = |name: &str| {
            Named::find(name).filter(|named| named.setup.is_none()).is_some_and(|named| {
                signed::can(named.served, named.decrypt).iter().any(|can| can.serves(need))
            })
        };
        let mut ways = Vec::new();
        if !self.is_of(SlotKind::Array)
            && store.is_some_and(|s| s.library().sets().iter().any(|it| set(it.name())))
        {
            ways.push("slots that hold the array do (--slots array, or fabric=2,array=1; of a board's description kind under [slot])");
        }
        if !self.is_of(SlotKind::Fabric)
            && store.is_some_and(|store| !candidates(&store.configurations(), need, device).is_empty())
        {
            ways.push("slots of fabric do (--slots fabric, or fabric=2,array=1; of a board's description kind under [slot])");
        }
        if store.is_none() {
            ways.push("without a library nobody knows what else there is: `make models` builds it");
        }
        if software::can(need) {
            ways.push("this processor does (--engine cpu, or auto beside a board)");
        }
        match ways.is_empty() {
            true => {
                "nothing else that is here does; an algorithm.toml is where it would get a configuration \
                     (docs/adding-an-algorithm.md)"
                    .to_owned()
            }
            false => ways.join("; "),
        }
    }

    /// Why [`Catalogue::candidates`] found nothing, and what can be done.
    pub fn why_none(&self, need: &Need, device: &str) -> String {
        let folder = self.folder.display();
        let others: Vec<&str> =
            self.configurations.iter().filter(|c| c.serves(need)).map(|c| c.name.as_str()).collect();
        let elsewhere = || self.elsewhere(need, device);
        let mut reason = if matches!(need, Need::Aead { .. }) && !self.candidates(need, device).is_empty() {
            format!(
                "slots have frames for nonces of {AEAD_NONCE} bytes, tags of {} and at most {AEAD_AAD_MAX} bytes of AAD, where \
                 AAD in whole blocks and text are at most {AEAD_ROOM} bytes together, as a slot holds a text until it knows \
                 the tag; with --engine auto this processor does the others",
                AEAD_TAGS.map(|bytes| bytes.to_string()).join(", "),
            )
        } else if let Need::Gmac { .. } = need {
            format!(
                "GMAC's associated data are whole packets, and slots have frames for at most {AEAD_AAD_MAX} bytes of AAD; \
                 {}",
                elsewhere()
            )
        } else if !others.is_empty() {
            format!("{} is for another device than {device}", others.join(", "))
        } else if let Some(what) = self.what_makes_it(need, device) {
            format!("none in {folder} computes {need}; {what}")
        } else if let Some(sets) = &self.sets_folder {
            let (sets_here, here): (Vec<_>, Vec<_>) =
                self.configurations.iter().partition(|one| one.context_set);
            format!(
                "neither the {} configurations in {folder} nor the {} context sets in {} compute {need}; {}",
                here.len(),
                sets_here.len(),
                sets.display(),
                elsewhere()
            )
        } else if self.configurations.is_empty() && self.store.is_none() {
            format!("no configurations in {folder}; build them with `make models`")
        } else if self.configurations.iter().any(|one| one.context_set) {
            format!(
                "none of the {} context sets computes {need}; {}{}",
                self.configurations.len(),
                // The library has all.
                match self.store.as_deref().is_some_and(|store| !store.library().sets().is_empty()) {
                    true => String::new(),
                    false => format!("`ace array build` makes all that there are, in {folder}; "),
                },
                elsewhere()
            )
        } else {
            let names: Vec<&str> =
                self.configurations.iter().map(|c| c.name.as_str()).take(NAMED + 1).collect();
            let names = match names.len() {
                0 => "nothing".to_owned(),
                count if count > NAMED => format!("none of the {} configurations", self.configurations.len()),
                _ => format!("none of {}", names.join(", ")),
            };
            format!("{names} in {folder} computes {need}; {}", elsewhere())
        };
        if !self.problems.is_empty() {
            reason = format!("{reason} (unusable: {})", self.problems.join("; "));
        }
        reason
    }
}
