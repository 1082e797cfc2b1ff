// SPDX-License-Identifier: Apache-2.0
//! The security policy database (RFC 4301, 4.4.1): ordered rules, one list for each side. A rule stands whether or
//! not there is an SA for it.

mod cache;
mod index;

use std::marker::PhantomData;

use serde::Serialize;

use crate::id::{RuleId, SaId};
use crate::model::{Flow, Match, Selector};
use crate::side::Side;
use cache::FlowCache;
use index::Index;

/// What is done with the packets of a rule. Inside, `Protect` means: only through one of the rule's SAs. Outside it
/// means: only out of ESP or AH, so that in clear they are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Treatment {
    /// IPsec (RFC 4301, 4.4.1): see [`Treatment`] for what it asks of each side.
    Protect,
    /// The packet goes to the other side as it came.
    Bypass,
    /// The packet is dropped and counted.
    Discard,
}

/// What is done with packets that no rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// The packet goes to the other side as it came.
    Bypass,
    /// The packet is dropped and counted.
    Discard,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The packets that the rule is for, as they stand in clear.
    pub selector: Selector,
    /// What becomes of them.
    pub treatment: Treatment,
    /// Smaller goes first; of two that are equal the one that was added first.
    pub priority: u32,
    /// The interface whose packets it is for, as [`SaSpec::if_id`](crate::SaSpec::if_id).
    pub if_id: u32,
}

/// What the rules say about a packet; rules by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The rule at this place is for the packet, and no rule before it is.
    Rule(u32),
    /// The packet does not show what this rule asks for. It may be the rule's.
    Unknown(u32),
    /// No rule is for the packet; the [`Policy`] decides.
    Default,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub rule: Rule,
    order: u64,
    /// Inside: SAs for this rule, the one in use last.
    pub sas: Vec<SaId>,
    /// One of them had a selector of its own: whether it fits has to be looked at.
    pub choosy: bool,
    /// It was reported that there is none.
    pub acquiring: bool,
    /// A packet came and found none, and none has come since.
    pub wanting: bool,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

/// The rules of one side.
#[derive(Debug)]
pub struct Spd<S> {
    slots: Vec<Slot>,
    free: Vec<u32>,
    index: Index,
    cache: FlowCache,
    added: u32,
    /// Rules that came, changed or went since somebody looked; `None`: nobody wants to know.
    changes: Option<Vec<RuleId<S>>>,
    pub(crate) default: Policy,
    side: PhantomData<S>,
}

/// A rule that came, changed or went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleChange<S> {
    /// Which one.
    pub id: RuleId<S>,
    /// As it is now, and its place: of two rules that are for a packet the smaller one decides. `None`: it is gone.
    pub now: Option<(Rule, u64)>,
}

impl<S: Side> Spd<S> {
    /// A database without rules: every packet is treated as `default` says.
    pub fn new(default: Policy) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            index: Index::default(),
            cache: FlowCache::default(),
            added: 0,
            changes: None,
            default,
            side: PhantomData,
        }
    }

    /// Rules whose packets find no SA. One that no packet has come for waits, and nothing is missing.
    pub(crate) fn unserved(&self) -> usize {
        let entries = self.slots.iter().filter_map(|slot| slot.entry.as_ref());
        entries.filter(|entry| entry.wanting && entry.sas.is_empty()).count()
    }

    /// Adds a rule behind all rules of its priority.
    pub fn add(&mut self, rule: Rule) -> RuleId<S> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            // A rule takes more than a hundred bytes: 2^32 of them do not fit into memory.
            (self.slots.len() - 1) as u32
        });
        let order = u64::from(rule.priority) << 32 | u64::from(self.added);
        self.added = self.added.wrapping_add(1);
        self.index.add(&rule.selector, rule.if_id, order, slot);
        self.cache.forget();
        let mut generation = 0;
        if let Some(place) = self.slots.get_mut(slot as usize) {
            generation = place.generation;
            place.entry =
                Some(Entry { rule, order, sas: Vec::new(), choosy: false, acquiring: false, wanting: false });
        }
        let id = RuleId::new(slot, generation);
        self.changed(id);
        id
    }

    /// Gives back the SAs that the rule had.
    pub fn remove(&mut self, id: RuleId<S>) -> Option<Vec<SaId>> {
        self.get(id)?;
        let place = self.slots.get_mut(id.slot as usize)?;
        let entry = place.entry.take()?;
        self.index.remove(&entry.rule.selector, entry.rule.if_id, entry.order);
        self.cache.forget();
        if let Some(next) = place.generation.checked_add(1) {
            place.generation = next;
            self.free.push(id.slot);
        }
        self.changed(id);
        Some(entry.sas)
    }

    /// Gives a rule another place among the others; its SAs stay. False if there is no such rule.
    pub fn reorder(&mut self, id: RuleId<S>, priority: u32) -> bool {
        let added = self.added;
        let Some(slot) = self.slots.get_mut(id.slot as usize).filter(|slot| slot.generation == id.generation)
        else {
            return false;
        };
        let Some(entry) = &mut slot.entry else { return false };
        self.index.remove(&entry.rule.selector, entry.rule.if_id, entry.order);
        entry.rule.priority = priority;
        entry.order = u64::from(priority) << 32 | u64::from(added);
        self.index.add(&entry.rule.selector, entry.rule.if_id, entry.order, id.slot);
        self.added = added.wrapping_add(1);
        self.cache.forget();
        self.changed(id);
        true
    }

    /// Gives a rule another selector; its place and its SAs stay. False if there is no such rule.
    pub fn reselect(&mut self, id: RuleId<S>, selector: Selector) -> bool {
        let Some(slot) = self.slots.get_mut(id.slot as usize).filter(|slot| slot.generation == id.generation)
        else {
            return false;
        };
        let Some(entry) = &mut slot.entry else { return false };
        self.index.remove(&entry.rule.selector, entry.rule.if_id, entry.order);
        self.index.add(&selector, entry.rule.if_id, entry.order, id.slot);
        entry.rule.selector = selector;
        self.cache.forget();
        self.changed(id);
        true
    }

    /// From now on [`Spd::take_changes`] says what becomes of rules.
    pub fn record_changes(&mut self) {
        self.changes.get_or_insert_default();
    }

    /// Rules that came, changed or went since this was asked last, each once.
    pub fn take_changes(&mut self) -> Vec<RuleChange<S>> {
        let mut ids = self.changes.as_mut().map(std::mem::take).unwrap_or_default();
        ids.sort_unstable_by_key(|id| (id.slot, id.generation));
        ids.dedup();
        let now = |id: RuleId<S>| {
            let slot = self.slots.get(id.slot as usize).filter(|slot| slot.generation == id.generation)?;
            slot.entry.as_ref().map(|entry| (entry.rule.clone(), entry.order))
        };
        ids.into_iter().map(|id| RuleChange { id, now: now(id) }).collect()
    }

    fn changed(&mut self, id: RuleId<S>) {
        if let Some(changes) = &mut self.changes {
            changes.push(id);
        }
    }

    /// The rule, unless it was removed.
    pub fn get(&self, id: RuleId<S>) -> Option<&Rule> {
        let slot = self.slots.get(id.slot as usize).filter(|slot| slot.generation == id.generation)?;
        slot.entry.as_ref().map(|entry| &entry.rule)
    }

    pub(crate) fn is_wanting(&self, id: RuleId<S>) -> bool {
        let slot = self.slots.get(id.slot as usize).filter(|slot| slot.generation == id.generation);
        slot.and_then(|slot| slot.entry.as_ref()).is_some_and(|entry| entry.wanting && entry.sas.is_empty())
    }

    /// In no order.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn entry_mut(&mut self, id: RuleId<S>) -> Option<&mut Entry> {
        self.get(id)?;
        self.at_mut(id.slot).map(|(_, entry)| entry)
    }

    pub(crate) fn at_mut(&mut self, slot: u32) -> Option<(RuleId<S>, &mut Entry)> {
        let place = self.slots.get_mut(slot as usize)?;
        let id = RuleId::new(slot, place.generation);
        place.entry.as_mut().map(|entry| (id, entry))
    }

    /// The first rule that is for a packet of an interface, or may be.
    #[inline]
    pub fn decide(&mut self, if_id: u32, flow: &Flow) -> Decision {
        if flow.hides() {
            return self.decide_uncached(if_id, flow);
        }
        if let Some(decision) = self.cache.get(if_id, flow) {
            return decision;
        }
        let decision = self.decide_uncached(if_id, flow);
        self.cache.put(if_id, flow, decision);
        decision
    }

    /// As [`Spd::decide`], past the cache.
    pub fn decide_uncached(&self, if_id: u32, flow: &Flow) -> Decision {
        let matches = |slot: u32| {
            let entry = self.slots.get(slot as usize).and_then(|slot| slot.entry.as_ref());
            entry.map_or(Match::No, |entry| entry.rule.selector.matches(flow))
        };
        self.index.find(if_id, flow, matches)
    }
}

#[cfg(test)]
mod tests;
