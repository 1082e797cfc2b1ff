// SPDX-License-Identifier: Apache-2.0
//! Any text as a source of the array's compiler, or any bytes as a context set (bit 0 of the first byte), the latter
//! under a length and a CRC that are right: an error with its place, or what can be used; never a panic.
#![no_main]

use ace_array::frontend::Program;
use ace_array::schedule::Goal;
use ace_array::set::{MAGIC, Set};
use ace_array::shape::Shape;
use ace_array::{algorithms, passes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((kind, data)) = data.split_first() else { return };
    if kind & 1 == 0 {
        source(&String::from_utf8_lossy(data));
    } else {
        set(data);
    }
});

fn source(text: &str) {
    let program = Program::parse("a.ace", text, &|name| algorithms::file(name).map(str::to_owned));
    match program.and_then(|program| program.build(&program.variants[0].clone())) {
        Ok(built) => {
            let shape = Shape::standard();
            for goal in [Goal::Throughput, Goal::Latency] {
                let graph = passes::all(&built.graph, &shape, goal);
                let (block, key) = (vec![0x9E37_79B9; graph.inputs], vec![0x7F4A_7C15; graph.keys]);
                assert_eq!(built.graph.evaluate(&block, &key), graph.evaluate(&block, &key));
            }
        }
        Err(error) => assert!(error.to_string().contains(".ace:"), "{error}"),
    }
}

fn set(data: &[u8]) {
    let shape = Shape::standard();
    // Magic, version and length in front; the CRC behind.
    let mut bytes = MAGIC.to_vec();
    bytes.extend(shape.version().to_le_bytes());
    let words = 3 + data.len() / 8;
    bytes.extend((words as u32).to_le_bytes());
    bytes.extend(&data[..data.len() / 8 * 8]);
    bytes.extend(u64::from(crc32fast::hash(&bytes)).to_le_bytes());
    if let Ok(set) = Set::from_bytes(&bytes, &shape) {
        assert_eq!(Set::from_bytes(&set.to_bytes(), &shape).expect("what was read is written"), set);
        assert!(set.writes().len() >= set.contexts.len());
    }
}
