// SPDX-License-Identifier: Apache-2.0
//! Rules as sets that the kernel looks up at once.
//!
//! An nftables set of ranges holds no two elements that overlap, and rules do. So they are in layers, each without an
//! overlap, and a packet goes through the layers in turn. Most rules are in the first one.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::cover::Cover;

/// Where a rule is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Way {
    /// Of what comes in clear.
    In,
    /// Of what would leave in clear.
    Out,
}

/// What becomes of a clear packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// It goes where it wants to.
    Pass,
    /// It has to come out of ESP or AH, or must not come at all.
    Drop,
}

/// A rule's number: which way it looks, of which core it is, and there.
pub type Id = (Way, u32, u64);
/// Among all rules the smallest decides.
type Order = (u64, Id);

/// A rule: its boxes, and its place among the others, the smallest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruled {
    pub covers: Vec<Cover>,
    pub order: u64,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub layer: usize,
    pub verdict: Verdict,
    order: Order,
}

/// An element of a layer's sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    pub layer: usize,
    pub verdict: Verdict,
    pub cover: Cover,
}

/// What has to change in the kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Everything is to be made anew: the rest says nothing.
    pub anew: bool,
    pub gone: Vec<Element>,
    pub new: Vec<Element>,
}

impl Changes {
    /// What goes and comes back stays, as between both the kernel would not have it. What goes into another layer does so
    /// with everything else.
    fn settle(&mut self) {
        let gone: HashMap<(Cover, Verdict), usize> =
            self.gone.iter().map(|element| ((element.cover, element.verdict), element.layer)).collect();
        let before = |element: &Element| gone.get(&(element.cover, element.verdict)).copied();
        self.anew = self.new.iter().any(|new| before(new).is_some_and(|layer| layer != new.layer));
        let stays: HashSet<Element> =
            self.new.iter().filter(|new| before(new) == Some(new.layer)).copied().collect();
        self.gone.retain(|element| !stays.contains(element));
        self.new.retain(|element| !stays.contains(element));
    }
}

#[derive(Debug, Default)]
pub struct Layers {
    rules: HashMap<Id, Ruled>,
    /// For each box the rules that have it, the one that decides first.
    holders: HashMap<Cover, BTreeMap<Order, Verdict>>,
    placed: HashMap<Cover, Placed>,
}

impl Layers {
    /// Gives rules by number another shape, or (`None`) takes them out.
    pub fn edit(&mut self, edits: impl IntoIterator<Item = (Id, Option<Ruled>)>) -> Changes {
        let mut touched = Vec::new();
        for (id, now) in edits {
            if let Some(old) = self.rules.remove(&id) {
                for cover in old.covers {
                    if let Some(holders) = self.holders.get_mut(&cover) {
                        holders.remove(&(old.order, id));
                    }
                    touched.push(cover);
                }
            }
            if let Some(rule) = now {
                for cover in &rule.covers {
                    self.holders.entry(*cover).or_default().insert((rule.order, id), rule.verdict);
                    touched.push(*cover);
                }
                self.rules.insert(id, rule);
            }
        }
        self.place(touched)
    }

    fn place(&mut self, touched: Vec<Cover>) -> Changes {
        let mut changes = Changes::default();
        let mut waiting: BTreeMap<Order, Vec<(Cover, Verdict)>> = BTreeMap::new();
        for cover in touched {
            let first = self.holders.get(&cover).and_then(|holders| holders.first_key_value());
            let first = first.map(|(order, verdict)| (*order, *verdict));
            let same = |placed: &Placed| first == Some((placed.order, placed.verdict));
            match (self.placed.get(&cover).copied(), first) {
                (Some(placed), _) if same(&placed) => continue,
                (Some(placed), _) => {
                    self.placed.remove(&cover);
                    changes.gone.push(Element { layer: placed.layer, verdict: placed.verdict, cover });
                }
                (None, _) => {}
            }
            match first {
                Some((order, verdict)) => {
                    let here = waiting.entry(order).or_default();
                    if !here.contains(&(cover, verdict)) {
                        here.push((cover, verdict));
                    }
                }
                None => {
                    self.holders.remove(&cover);
                }
            }
        }
        for (order, covers) in waiting {
            for (cover, verdict) in covers {
                let Some(layer) = self.layer_for(&cover, verdict, order) else {
                    return self.place_all();
                };
                self.placed.insert(cover, Placed { layer, verdict, order });
                changes.new.push(Element { layer, verdict, cover });
            }
        }
        changes.settle();
        changes
    }

    /// Everything anew, in order: then whatever is placed comes behind what it must not overtake.
    fn place_all(&mut self) -> Changes {
        self.placed.clear();
        let first = |(cover, holders): (&Cover, &BTreeMap<_, _>)| {
            holders.first_key_value().map(|(order, verdict)| (*order, *verdict, *cover))
        };
        let mut all: Vec<(Order, Verdict, Cover)> = self.holders.iter().filter_map(first).collect();
        all.sort_unstable_by_key(|(order, ..)| *order);
        for (order, verdict, cover) in all {
            if let Some(layer) = self.layer_for(&cover, verdict, order) {
                self.placed.insert(cover, Placed { layer, verdict, order });
            }
        }
        Changes { anew: true, ..Changes::default() }
    }

    /// The first layer in which nothing overlaps it, behind what overlaps it, says otherwise and comes first, and before
    /// what overlaps it, says otherwise and comes later. `None`: there is none.
    fn layer_for(&self, cover: &Cover, verdict: Verdict, order: Order) -> Option<usize> {
        let (mut low, mut high, mut taken) = (0, usize::MAX, Vec::new());
        for (other, placed) in self.placed.iter().filter(|(other, _)| other.overlaps(cover)) {
            taken.push(placed.layer);
            if placed.verdict == verdict {
                continue;
            }
            match placed.order < order {
                true => low = low.max(placed.layer + 1),
                false => high = high.min(placed.layer),
            }
            debug_assert_ne!(other, cover, "a box is placed once");
        }
        let free = (low..).find(|layer| !taken.contains(layer))?;
        (free < high).then_some(free)
    }

    /// All of them.
    pub fn elements(&self) -> impl Iterator<Item = Element> {
        self.placed.iter().map(|(cover, placed)| Element {
            layer: placed.layer,
            verdict: placed.verdict,
            cover: *cover,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Small boxes, so that many overlap.
    fn covers() -> impl Strategy<Value = Cover> {
        let side = (0..8u128, 0..4u128).prop_map(|(at, len)| (at, at + len));
        let ports =
            proptest::option::of((0..4u16, 0..3u16).prop_map(|(at, len)| [(at, at + len), (0, u16::MAX)]));
        (any::<bool>(), side.clone(), side, proptest::option::of(6..8u8), ports).prop_map(
            |(v6, source, destination, protocol, ports)| {
                let ports = ports.filter(|_| protocol.is_some());
                Cover { v6, source, destination, protocol, ports }
            },
        )
    }

    fn rule() -> impl Strategy<Value = Ruled> {
        let verdict = prop_oneof![Just(Verdict::Pass), Just(Verdict::Drop)];
        (proptest::collection::vec(covers(), 1..3), 0..6u64, verdict)
            .prop_map(|(covers, order, verdict)| Ruled { covers, order, verdict })
    }

    fn edits() -> impl Strategy<Value = Vec<Vec<(Id, Option<Ruled>)>>> {
        let edit = ((Just(Way::In), 0..2u32, 0..6u64), proptest::option::weighted(0.7, rule()));
        proptest::collection::vec(proptest::collection::vec(edit, 1..4), 1..12)
    }

    /// What sets in layers say of a packet.
    fn through(elements: &HashSet<(usize, Verdict, Cover)>, packet: &Cover) -> Option<Verdict> {
        let layers = elements.iter().map(|(layer, ..)| *layer).max().map_or(0, |last| last + 1);
        (0..layers).find_map(|layer| {
            let found: Vec<_> =
                elements.iter().filter(|(at, _, cover)| *at == layer && cover.overlaps(packet)).collect();
            assert!(found.len() < 2, "no two of a layer overlap: {found:?}");
            found.first().map(|(_, verdict, _)| *verdict)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn the_first_rule_decides_however_they_came(steps in edits(), packets in proptest::collection::vec((any::<bool>(), 0..10u128, 0..10u128, 6..8u8, 0..6u16), 20)) {
            let (mut layers, mut rules) = (Layers::default(), HashMap::new());
            let mut kernel: HashSet<(usize, Verdict, Cover)> = HashSet::new();
            for step in steps {
                for (id, rule) in &step {
                    match rule {
                        Some(rule) => rules.insert(*id, rule.clone()),
                        None => rules.remove(id),
                    };
                }
                let changes = layers.edit(step);
                let tuple = |element: Element| (element.layer, element.verdict, element.cover);
                if changes.anew {
                    kernel = layers.elements().map(tuple).collect();
                }
                for element in changes.gone.iter().filter(|_| !changes.anew).copied() {
                    prop_assert!(kernel.remove(&tuple(element)), "what goes was there");
                }
                for element in changes.new.iter().filter(|_| !changes.anew).copied() {
                    prop_assert!(kernel.insert(tuple(element)), "what is new was not there");
                }
                prop_assert_eq!(&kernel, &layers.elements().map(tuple).collect());
                for &(v6, source, destination, protocol, port) in &packets {
                    let packet = Cover {
                        v6,
                        source: (source, source),
                        destination: (destination, destination),
                        protocol: Some(protocol),
                        ports: Some([(port, port); 2]),
                    };
                    let first = rules
                        .iter()
                        .filter(|(_, rule)| rule.covers.iter().any(|cover| cover.overlaps(&packet)))
                        .min_by_key(|(id, rule)| (rule.order, **id))
                        .map(|(_, rule)| rule.verdict);
                    prop_assert_eq!(through(&kernel, &packet), first);
                }
            }
        }
    }
}
