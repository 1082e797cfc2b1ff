// SPDX-License-Identifier: Apache-2.0
//! Rules and SAs of a shard: put in, changed, taken out, while packets are under way.

use super::{Event, Shard};
use crate::id::{RuleId, SaId};
use crate::model::{Direction, Flow, SaSpec, Selector, Time};
use crate::sad::association::{Edit, Update};
use crate::sad::grant::Grant;
use crate::sad::{Association, SaStatus, SadError, Share};
use crate::side::{Inside, Outside};
use crate::spd::{Rule, RuleChange};

impl Shard {
    /// Adds a rule for what comes from inside.
    pub fn add_inside(&mut self, rule: Rule) -> RuleId<Inside> {
        self.inside.add(rule)
    }

    /// Adds a rule for what comes from outside in clear.
    pub fn add_outside(&mut self, rule: Rule) -> RuleId<Outside> {
        self.outside.add(rule)
    }

    /// Gives a rule for what comes from inside another priority. False if there is no such rule.
    pub fn reorder_inside(&mut self, rule: RuleId<Inside>, priority: u32) -> bool {
        self.inside.reorder(rule, priority)
    }

    /// Gives a rule for what comes from outside another priority. False if there is no such rule.
    pub fn reorder_outside(&mut self, rule: RuleId<Outside>, priority: u32) -> bool {
        self.outside.reorder(rule, priority)
    }

    /// Removes a rule and with it those of its SAs that no other rule has. False if there is no such rule.
    pub fn remove_inside(&mut self, rule: RuleId<Inside>) -> bool {
        let Some(sas) = self.inside.remove(rule) else { return false };
        for id in sas {
            let Some(sa) = self.sad.get_mut(id) else { continue };
            sa.rules.retain(|other| *other != rule);
            if sa.rules.is_empty() {
                self.remove(id);
            }
        }
        true
    }

    /// Removes a rule. False if there is no such rule.
    pub fn remove_outside(&mut self, rule: RuleId<Outside>) -> bool {
        self.outside.remove(rule).is_some()
    }

    /// From now on [`Shard::rule_changes`] says what becomes of rules.
    pub fn record_rule_changes(&mut self) {
        self.outside.record_changes();
        self.inside.record_changes();
    }

    /// Rules that came, changed or went since this was asked last: for what comes from outside in clear, and for what comes
    /// from inside.
    pub fn rule_changes(&mut self) -> (Vec<RuleChange<Outside>>, Vec<RuleChange<Inside>>) {
        (self.outside.take_changes(), self.inside.take_changes())
    }

    /// Installs an inbound SA.
    ///
    /// # Errors
    /// [`SadError`]; nothing has changed then.
    pub fn install_inbound(&mut self, now: Time, spec: &SaSpec) -> Result<SaId, SadError> {
        self.install_inbound_within(now, spec, Grant::default())
    }

    /// The same, of an SA that counts as far as it is granted to.
    ///
    /// # Errors
    /// As there.
    pub fn install_inbound_within(
        &mut self,
        now: Time,
        spec: &SaSpec,
        grant: Grant,
    ) -> Result<SaId, SadError> {
        if spec.direction != Direction::In {
            return Err(SadError::Rule);
        }
        self.tick(now);
        let id = self.sad.insert(Association::new(spec, None, self.now, grant)?)?;
        self.watch(id);
        Ok(id)
    }

    /// Installs an outbound SA for a rule. From now on packets of the rule go through it; an older one stays until it
    /// is removed, and is used again if the new one is removed first.
    ///
    /// # Errors
    /// [`SadError`]; nothing has changed then.
    pub fn install_outbound(
        &mut self,
        now: Time,
        spec: &SaSpec,
        rule: RuleId<Inside>,
    ) -> Result<SaId, SadError> {
        self.install_outbound_within(now, spec, rule, Grant::default())
    }

    /// The same, of an SA that counts as far as it is granted to.
    ///
    /// # Errors
    /// As there.
    pub fn install_outbound_within(
        &mut self,
        now: Time,
        spec: &SaSpec,
        rule: RuleId<Inside>,
        grant: Grant,
    ) -> Result<SaId, SadError> {
        if spec.direction != Direction::Out {
            return Err(SadError::Rule);
        }
        self.tick(now);
        self.link(Association::new(spec, Some(rule), self.now, grant)?, rule)
    }

    /// Installs an SA that carries nothing until it is joined to rules (outbound) or selectors (inbound), as many as one
    /// likes: one counter, one window. The selector of its own, if it is not for everything, holds besides.
    ///
    /// # Errors
    /// [`SadError`]; nothing has changed then.
    pub fn install_apart(&mut self, now: Time, spec: &SaSpec, grant: Grant) -> Result<SaId, SadError> {
        self.tick(now);
        let id = self.sad.insert(Association::new(spec, None, self.now, grant)?.apart())?;
        self.watch(id);
        Ok(id)
    }

    /// Packets of a rule go through an outbound SA from now on; those of its other rules still do.
    ///
    /// # Errors
    /// [`SadError`]; nothing has changed then.
    pub fn join(&mut self, id: SaId, rule: RuleId<Inside>) -> Result<(), SadError> {
        let sa = self.sad.get_mut(id).ok_or(SadError::Unknown)?;
        if sa.fixed.direction != Direction::Out || sa.rules.contains(&rule) {
            return Err(SadError::Rule);
        }
        let entry = self.inside.entry_mut(rule).ok_or(SadError::Rule)?;
        sa.rules.push(rule);
        entry.sas.push(id);
        entry.choosy |= sa.own.is_some();
        (entry.acquiring, entry.wanting) = (false, false);
        Ok(())
    }

    /// Packets of a rule go through an SA no longer. False if they did not.
    pub fn part_from(&mut self, id: SaId, rule: RuleId<Inside>) -> bool {
        let Some(sa) = self.sad.get_mut(id) else { return false };
        let before = sa.rules.len();
        sa.rules.retain(|other| *other != rule);
        if let Some(entry) = self.inside.entry_mut(rule) {
            entry.sas.retain(|sa| *sa != id);
        }
        self.sad.get(id).is_some_and(|sa| sa.rules.len() < before)
    }

    /// Packets that fit this one, too, may come out of an inbound SA.
    ///
    /// # Errors
    /// [`SadError`]; nothing has changed then.
    pub fn add_selector(&mut self, id: SaId, selector: Selector) -> Result<(), SadError> {
        self.sad.get_mut(id).ok_or(SadError::Unknown)?.selectors.push(selector);
        Ok(())
    }

    /// The reverse of [`Shard::add_selector`], once. False if there is no such selector.
    pub fn remove_selector(&mut self, id: SaId, selector: &Selector) -> bool {
        let Some(sa) = self.sad.get_mut(id) else { return false };
        let Some(at) = sa.selectors.iter().position(|other| other == selector) else { return false };
        sa.selectors.swap_remove(at);
        true
    }

    /// Puts an SA's numbers forward: all up to this one count as sent or received. They never go back.
    ///
    /// # Errors
    /// [`SadError`]: there is no such SA, its numbers are further, or it has no such number or no leave for it.
    pub fn advance(&mut self, id: SaId, sequence: u64) -> Result<(), SadError> {
        self.sad.get_mut(id).ok_or(SadError::Unknown)?.advance(sequence)
    }

    /// Whether a number of an inbound SA counts as received.
    pub fn was_received(&self, id: SaId, sequence: u64) -> bool {
        self.sad.get(id).is_some_and(|sa| sa.was_received(sequence))
    }

    /// Installs a share in an outbound SA of another core, for the same rule here.
    ///
    /// # Errors
    /// [`SadError`]; nothing has changed then.
    pub fn install_share(&mut self, now: Time, share: Share, rule: RuleId<Inside>) -> Result<SaId, SadError> {
        self.tick(now);
        self.link(Association::of_share(share, rule), rule)
    }

    fn link(&mut self, association: Association, rule: RuleId<Inside>) -> Result<SaId, SadError> {
        let entry = self.inside.entry_mut(rule).ok_or(SadError::Rule)?;
        let id = self.sad.insert(association)?;
        entry.sas.push(id);
        (entry.acquiring, entry.wanting) = (false, false);
        self.watch(id);
        Ok(id)
    }

    /// For [`Shard::install_share`] of another core; `None` if it is not an outbound SA.
    pub fn share(&self, id: SaId) -> Option<Share> {
        self.sad.get(id).and_then(Association::share)
    }

    /// Changes what may change.
    ///
    /// # Errors
    /// [`SadError`]: there is no such SA, or its lifetime is not this core's alone.
    pub fn update(&mut self, now: Time, id: SaId, update: Update) -> Result<(), SadError> {
        self.tick(now);
        self.sad.get_mut(id).ok_or(SadError::Unknown)?.update(update)?;
        self.watch(id);
        Ok(())
    }

    /// Changes what people may change of an SA. Its numbers, its window and what it has carried stay.
    ///
    /// # Errors
    /// [`SadError`]; nothing has changed then.
    pub fn edit(&mut self, now: Time, id: SaId, edit: Edit) -> Result<(), SadError> {
        let Edit { name, selector, lifetime } = edit;
        let rules = self.sad.get(id).ok_or(SadError::Unknown)?.rules.clone();
        let update =
            Update { selector: Some(selector.clone()), lifetime: Some(lifetime), ..Update::default() };
        self.update(now, id, update)?;
        if let Some(association) = self.sad.get_mut(id) {
            association.name = name;
        }
        for rule in rules {
            self.inside.reselect(rule, selector.clone());
        }
        Ok(())
    }

    /// Gives a rule for what comes from outside in clear another selector. False if there is no such rule.
    pub fn reselect_outside(&mut self, rule: RuleId<Outside>, selector: Selector) -> bool {
        self.outside.reselect(rule, selector)
    }

    /// Takes an SA out of use and tells how it stood. Its rule stays: without another SA its packets are dropped.
    /// Packets under way still leave; keys are wiped behind the last of them.
    pub fn remove(&mut self, id: SaId) -> Option<SaStatus> {
        let association = self.sad.remove(id)?;
        let status = association.status(id);
        for rule in &association.rules {
            if let Some(entry) = self.inside.entry_mut(*rule) {
                entry.sas.retain(|sa| *sa != id);
            }
        }
        self.sad.tidy(id.slot());
        Some(status)
    }

    /// Every SA in use.
    pub fn sas(&self) -> impl Iterator<Item = SaStatus> + '_ {
        self.sad.iter().map(|(id, association)| association.status(id))
    }

    /// One SA; `None` if it was removed.
    pub fn sa(&self, id: SaId) -> Option<SaStatus> {
        self.sad.get(id).map(|association| association.status(id))
    }

    /// From now on the next packet for a rule without an SA is told of, whether or not one was before.
    pub fn acquire_again(&mut self, rule: RuleId<Inside>) {
        if let Some(entry) = self.inside.entry_mut(rule) {
            entry.acquiring = false;
        }
    }

    /// Whether a packet came for a rule and found no SA, and none has come since.
    pub fn is_wanting(&self, rule: RuleId<Inside>) -> bool {
        self.inside.is_wanting(rule)
    }

    /// A packet came for a rule without an SA.
    pub(super) fn acquire(&mut self, rule: u32, flow: Flow) {
        let Some((id, entry)) = self.inside.at_mut(rule) else { return };
        entry.wanting = true;
        if !std::mem::replace(&mut entry.acquiring, true) {
            self.events.push_back(Event::Acquire { rule: id, flow });
        }
    }
}
