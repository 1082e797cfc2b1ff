// SPDX-License-Identifier: Apache-2.0
//! What a variant leaves open it computes as its base does, and what it closes is refused as by a slot that has not
//! got it; in RTL and netlist.

use std::collections::BTreeMap;

use crate::common::{Random, algorithms, built, compute, with_netlists};
use ace_board::board::SharedObjects;
use ace_board::capability::HashOperation;
use ace_board::frame::{self, KeySection, Status};
use ace_board::model::{Frame, Options, SlotModel};
use ace_board::pass::{Pass, Task};
use ace_board::{Configuration, ModelSource, Models};

/// The answer of a variant to an operation that its base computes, by what its manifest says that it can do.
fn expected(variant: &Configuration, pass: &Pass) -> Status {
    let need = pass.need();
    let of_code = variant.can.iter().filter(|c| c.code == pass.algorithm().code);
    let mut can = of_code.peekable();
    if can.peek().is_none() {
        return Status::UnknownAlgorithm;
    }
    let open = can.any(|c| match pass {
        Pass::Cipher { mode, direction, .. } => {
            c.modes.contains(mode) && (!mode.has_direction() || c.directions.contains(direction))
        }
        Pass::Aead { aead, direction, .. } => c.aeads.contains(aead) && c.directions.contains(direction),
        Pass::Hash { .. } => c.operations.contains(&HashOperation::Hash),
        Pass::Hmac { .. } => c.operations.contains(&HashOperation::HmacKey),
    });
    match open {
        false => Status::UnknownOperation,
        true if variant.serves(&need) => Status::Ok,
        true => Status::BadKeyLength,
    }
}

fn what_is_closed_is_refused(models: Models) {
    // Whole domains have netlists.
    let catalogue = if models == Models::Netlist { with_netlists() } else { built() };
    let variants = catalogue.configurations.iter().filter_map(|c| Some((c, c.variant_of.as_ref()?)));
    for (variant, base) in variants {
        let base = catalogue.configurations.iter().find(|c| c.name == *base);
        let base = base.unwrap_or_else(|| panic!("the base of {} is not there", variant.name));
        let mut model = SharedObjects.open(variant, models).unwrap();
        let mut random = Random(41);
        let mut seen: BTreeMap<u8, usize> = BTreeMap::new();
        // Of another algorithm than the base's nothing that the base computes is open.
        let open = algorithms(variant).iter().any(|a| algorithms(base).contains(a));
        for tag in 0..150 {
            let operation = loop {
                let algorithm = *random.pick(&algorithms(base));
                let operation = random.operation(algorithm, 200);
                let long_key = matches!(&operation.pass, Pass::Hmac { key, .. } if key.len() > 64);
                let need = operation.pass.need();
                // Every other one is open.
                if base.serves(&need) && !long_key && (tag % 2 == 0 || !open || variant.serves(&need)) {
                    break operation;
                }
            };
            let status = expected(variant, &operation.pass);
            *seen.entry(status as u8).or_default() += 1;
            answers(model.as_mut(), &operation, tag, status, &variant.name);
        }
        assert!(seen.keys().any(|s| *s != Status::Ok as u8), "{}: nothing is closed", variant.name);
        assert_eq!(seen.contains_key(&(Status::Ok as u8)), open, "{}", variant.name);
    }
}

fn answers(model: &mut dyn SlotModel, operation: &Task, tag: u16, status: Status, name: &str) {
    let key = operation.pass.key().map_or(KeySection::Kept, |key| KeySection::Fresh(key.as_bytes()));
    let request = frame::request(operation, key, tag).to_vec();
    let mut frames = [Frame::new(request.clone(), request.len() + 64)];
    model.run(&mut frames, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let answer = frame::response(&frames[0].response).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!((answer.tag, answer.status), (tag, status), "{name}: {:?}", operation.pass.need());
    let result = if status == Status::Ok { compute(operation.clone()).unwrap() } else { Vec::new() };
    assert_eq!(answer.result, &result[..], "{name}");
}

#[test]
fn what_is_closed_is_refused_by_the_rtl() {
    what_is_closed_is_refused(Models::Rtl);
}

#[test]
fn what_is_closed_is_refused_by_the_netlist() {
    what_is_closed_is_refused(Models::Netlist);
}
