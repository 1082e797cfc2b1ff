// SPDX-License-Identifier: Apache-2.0
//! Random contexts are random in all of their fields: what one never says nobody compares.

use std::collections::BTreeSet;

use ace_array::layout::{Context, Field, Layout};
use ace_array::set::Target;
use ace_array::shape::Shape;
use ace_array::trace;

/// Written contexts of a trace: address, word of the context, and what is in it.
fn written(text: &str) -> impl Iterator<Item = (usize, usize, u64)> {
    text.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let context = fields[0] == (Target::Context as u8).to_string();
        let number = |at: usize| fields[at].parse().unwrap();
        context.then(|| (number(3), number(2), u64::from_str_radix(fields[4], 16).unwrap()))
    })
}

#[test]
fn every_select_and_every_operation_occurs() {
    let shape = Shape::standard();
    let layout = Layout::of(&shape);
    let named = layout.all().iter().flat_map(|(unit, fields)| {
        let ports = fields.select.iter().chain(&fields.delay);
        let all = ports.chain(&fields.op).chain(fields.key.iter().flatten()).chain(&fields.write);
        all.map(move |field| (*unit, *field))
    });
    let narrow: Vec<_> = named.filter(|(_, field): &(_, Field)| field.width <= 5).collect();
    assert!(narrow.len() > 30);
    let mut seen = vec![BTreeSet::new(); narrow.len()];
    let mut contexts = vec![Context::new(&layout); shape.contexts];
    for (at, lane, data) in written(&trace::random(&shape, 1, 20_000).text) {
        contexts[at].0[lane] = data;
        for (seen, (_, field)) in seen.iter_mut().zip(&narrow) {
            seen.insert(contexts[at].get(*field));
        }
    }
    for (seen, (unit, field)) in seen.iter().zip(&narrow) {
        assert_eq!(seen.len(), 1 << field.width, "{unit:?}, {field:?} is never other than {seen:?}");
    }
}
