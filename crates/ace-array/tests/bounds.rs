// SPDX-License-Identifier: Apache-2.0
//! Sets that are well-formed and reach for another's key, block, result or leftover are refused, and the simulated tile shows
//! that they would have answered with it. Of three sets every bit of every context is turned: what is not refused answers
//! the same whatever others' secrets are.

mod neighbours;

use ace_array::bounds::{self, Beyond, Place, Refusal, Why};
use ace_array::frontend::Program;
use ace_array::layout::{Field, Fields, Layout};
use ace_array::schedule::Effort;
use ace_array::set::Set;
use ace_array::shape::{Kind, Shape, Unit};
use ace_array::{Named, algorithms, compile};
use neighbours::Neighbours;

fn compiled(name: &str) -> Set {
    let named = Named::find(name).unwrap();
    let file = named.setup.map_or(named.served.file, |setup| setup.file);
    let program = algorithms::program(file).unwrap();
    compile(&program, &named.variant, &Shape::standard(), Effort::of(named.goal)).unwrap().set
}

/// A block exclusive-or a key.
fn probe() -> Set {
    probe_of(4)
}

/// Of so many words. As many as a cipher's take the contexts in which the slot brings them.
fn probe_of(words: usize) -> Set {
    let text = format!(
        "algorithm probe = 0x70;\nvariant probe {{}}\ninput block: word[{words}] little;\nkey k: word[{words}];\n\
         setup(s) {{ return [for i in 0..{words} : word(s[i])]; }}\n\
         run -> word[{words}] little {{ return [for i in 0..{words} : block[i] ^ k[i]]; }}\n"
    );
    let program = Program::parse("probe.ace", &text, &|_| None).unwrap();
    compile(&program, "probe", &Shape::standard(), Effort::default()).unwrap().set
}

/// Where a context says something, and the field that does.
struct Spot {
    context: usize,
    unit: Unit,
    fields: Fields,
}

/// The first context and element of a kind of which `which` is so.
fn find(set: &Set, kind: Kind, which: impl Fn(&dyn Fn(Field) -> u64, &Fields) -> bool) -> Spot {
    let layout = Layout::of(&Shape::standard());
    for (context, words) in set.contexts.iter().enumerate() {
        for (unit, fields) in layout.all().iter().filter(|(unit, _)| unit.kind == kind) {
            if which(&|field| words.get(field), fields) {
                return Spot { context, unit: *unit, fields: fields.clone() };
            }
        }
    }
    panic!("no {} is so", kind.name());
}

impl Spot {
    /// The set with another value of a field, modulo its width.
    fn with(&self, set: &Set, field: Field, change: impl Fn(u64) -> u64) -> Set {
        let mut set = set.clone();
        let context = &mut set.contexts[self.context];
        let value = change(context.get(field)) & ((1 << field.width) - 1);
        for bit in 0..field.width {
            context.0[(field.offset + bit) / 64] &= !(1 << ((field.offset + bit) % 64));
        }
        context.put(field, value);
        set
    }
}

/// The bytes of a set are refused, with a message that says all of `parts`; and the tile shows what is others'.
fn refused(good: &Set, forged: &Set, context: usize, parts: &[&str]) -> Beyond {
    let shape = Shape::standard();
    let message = Set::from_bytes(&forged.to_bytes(), &shape).unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "{message}\nwanted {part}");
    }
    let neighbours = Neighbours::of(&shape, &Set { contexts: good.contexts.clone(), ..forged.clone() });
    assert!(neighbours.shows(forged, context), "{message}: the tile shows nothing of others");
    match bounds::check(forged, &shape) {
        Err(Refusal::Beyond(beyond)) => beyond,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_is_the_own_blocks_and_no_word_longer() {
    let set = probe();
    let spot = find(&set, Kind::Alu, |get, fields| get(fields.key.unwrap()[3]) == 1);
    let [word, stage, ..] = spot.fields.key.unwrap();
    let address = set.contexts[spot.context].get(word) + 192;
    let forged = spot.with(&set, word, |word| word + 192);
    let element = format!("context {}, ALU {}, word {address} of the key", spot.context, spot.unit.index);
    let found = refused(&set, &forged, spot.context, &[&element, "declares 4 words"]);
    assert_eq!((found.place, found.why), (Place::Key(address as usize), Why::BeyondKey(4)));
    let forged = spot.with(&set, stage, |stage| stage + 1);
    let element = format!("context {}, ALU {}, word", spot.context, spot.unit.index);
    let found = refused(&set, &forged, spot.context, &[&element, "stages old is asked for"]);
    assert!(matches!(found.why, Why::OtherKey { .. }), "{found}");
    // A constant that the set has not is the other bank's, or a key's.
    let [_, _, constant, _] = spot.fields.key.unwrap();
    let forged = spot.with(&spot.with(&set, constant, |_| 1), word, |_| 100);
    let found = refused(&set, &forged, spot.context, &["constant 100", "the set has 0 constants"]);
    assert_eq!(found.why, Why::NoConstant(0));
}

#[test]
fn a_block_is_the_own_one() {
    let set = probe();
    // All contexts of this set read words of the block.
    let spot = find(&set, Kind::Input, |_, _| true);
    let field = spot.fields.read_address.unwrap();
    for by in [1u64, 100, 254, 255] {
        let forged = spot.with(&set, field, |at| at + by);
        let (at, unit) = (forged.contexts[spot.context].get(field), spot.unit.index);
        let element = format!("context {}, input {unit}, address {at}", spot.context);
        if bounds::check(&forged, &Shape::standard()).is_ok() {
            // The block's other row, which is its own as well.
            assert!(!Neighbours::of(&Shape::standard(), &forged).show(), "{by}");
            continue;
        }
        let found = refused(&set, &forged, spot.context, &[&element, "no word of the block's 4"]);
        assert!(matches!(found.why, Why::OtherInput { words: 4, .. }));
    }
}

#[test]
fn a_result_is_written_whole_and_nothing_else_is() {
    let set = probe();
    let spot = find(&set, Kind::Output, |get, fields| get(fields.write.unwrap()) == 1);
    let forged = spot.with(&set, spot.fields.write.unwrap(), |_| 0);
    let found = refused(&set, &forged, spot.context, &["output", "of the result is not written by slot"]);
    assert_eq!((found.context, found.element), (None, spot.unit));
    let field = spot.fields.write_address.unwrap();
    for by in [100u64, 128, 200] {
        let forged = spot.with(&set, field, |at| at + by);
        let (at, unit) = (forged.contexts[spot.context].get(field), spot.unit.index);
        let element = format!("context {}, output {unit}, address {at}", spot.context);
        let found = refused(&set, &forged, spot.context, &[&element, "no word of the block's own result"]);
        assert_eq!(found.why, Why::OtherOutput);
    }
    // It is read before it is there, and what was put out by then belongs to a block before.
    let mut forged = set.clone();
    forged.latency = 5;
    let found = refused(&set, &forged, 0, &["output", "no word of the block's own result"]);
    assert_eq!(found.why, Why::OtherOutput);
}

#[test]
fn what_is_read_back_the_block_has_stored() {
    let set = compiled("sm4_encrypt");
    let stored = |get: &dyn Fn(Field) -> u64, fields: &Fields| get(fields.write.unwrap()) == 1;
    let spot = find(&set, Kind::Memory, stored);
    let (write, at) = (spot.fields.write.unwrap(), spot.fields.write_address.unwrap());
    let forged = spot.with(&set, write, |_| 0);
    let found = refused(&set, &forged, spot.context, &["memory", "the block has stored nothing there"]);
    assert!(matches!((found.place, found.why), (Place::Address(_), Why::NotStored(_))), "{found}");
    // Somewhere else, and what is read is another's again.
    let forged = spot.with(&set, at, |at| at + 200);
    let found =
        refused(&set, &forged, spot.context, &["memory", "address", "the block has stored nothing there"]);
    assert!(found.context.is_some());
    // Fewer words are declared than there are: blocks lie over each other.
    let mut forged = set.clone();
    forged.memory_stride -= 1;
    assert!(bounds::check(&forged, &Shape::standard()).is_err());
    // All of them lie elsewhere, beyond what is declared.
    let mut forged = set.clone();
    for context in 0..set.ii() {
        for (unit, fields) in Layout::of(&Shape::standard()).all() {
            let spot = Spot { context, unit: *unit, fields: fields.clone() };
            if let (Kind::Memory, Some(write), Some(read)) =
                (unit.kind, fields.write_address, fields.read_address)
            {
                forged = spot.with(&spot.with(&forged, write, |at| at + 200), read, |at| at + 200);
            }
        }
    }
    let found = bounds::check(&forged, &Shape::standard());
    let why = |why: &Why| matches!(why, Why::BeyondMemory { word: 200.., .. });
    assert!(matches!(&found, Err(Refusal::Beyond(beyond)) if why(&beyond.why)), "{found:?}");
    // Nobody reads it: nothing is shown, and it is refused all the same.
    let idle = find(&set, Kind::Memory, |get, fields| !stored(get, fields));
    let forged = idle.with(&set, idle.fields.write.unwrap(), |_| 1);
    let message = Set::from_bytes(&forged.to_bytes(), &Shape::standard()).unwrap_err().to_string();
    assert!(message.contains(&format!("context {}, memory {}", idle.context, idle.unit.index)), "{message}");
}

#[test]
fn what_another_set_has_left_is_not_read() {
    let set = compiled("aes128_encrypt");
    // Its last round's tables are taken from it.
    let mut forged = set.clone();
    for lane in &mut forged.tables {
        lane[1].clear();
    }
    refused(&set, &forged, 0, &["quad", "table of lane", "page 1", "the set loads no such table"]);
    // An operand of a clock before the block began. A line reaches over an interval of five contexts.
    let set = probe_of(5);
    let shape = Shape::standard();
    let layout = Layout::of(&shape);
    assert!(set.ii() < shape.line);
    let (mut before, mut named, mut shown) = (0, 0, 0);
    let neighbours = Neighbours::of(&shape, &set);
    for (context, (unit, fields)) in (0..set.ii()).flat_map(|at| layout.all().iter().map(move |of| (at, of)))
    {
        for delay in &fields.delay {
            let spot = Spot { context, unit: *unit, fields: fields.clone() };
            // What was taken an interval before, which is the operand of the block before.
            let forged = spot.with(&set, *delay, |delay| delay + set.ii() as u64);
            if let Err(Refusal::Beyond(found @ Beyond { why: Why::Before(_), .. })) =
                bounds::check(&forged, &shape)
            {
                let message = Set::from_bytes(&forged.to_bytes(), &shape).unwrap_err().to_string();
                // The line itself reaches beyond the block, or the operation whose result it reaches was before it or asked
                // before it.
                let place = format!("context {context}, {} {}, port", unit.kind.name(), unit.index);
                let here = (found.context, found.element) == (Some(context), *unit);
                assert_eq!(message.contains(&place), here, "{message}");
                assert!(message.contains("is before the block begins"), "{message}");
                before += 1;
                named += usize::from(here);
                shown += usize::from(neighbours.shows(&forged, context));
            }
        }
    }
    assert!(before > 4 && named > 1 && 2 * shown > before, "{shown} shown and {named} named of {before}");
}

#[test]
fn a_number_that_the_slot_cuts_off_is_refused() {
    let shape = Shape::standard();
    let refused = |change: &dyn Fn(&mut Set), text: &str| {
        let mut set = probe();
        change(&mut set);
        let message = Set::from_bytes(&set.to_bytes(), &shape).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    };
    refused(&|set| set.input_words = 68, "words of a block = 68");
    refused(&|set| set.latency += 4096, "slots of latency");
    refused(&|set| set.key_words = 256, "256 words of a key");
    refused(&|set| set.key_words = 193, "193 words of a key");
}

/// What a line reaches back to is asked before the block begins, whether an input is read there, an operation or a key.
#[test]
fn nothing_is_asked_before_the_block_begins() {
    let (shape, set) = (Shape::standard(), probe());
    let layout = Layout::of(&shape);
    let mut places = Vec::new();
    for (context, (unit, fields)) in (0..set.ii()).flat_map(|at| layout.all().iter().map(move |of| (at, of)))
    {
        for (port, delay) in fields.delay.iter().enumerate() {
            let spot = Spot { context, unit: *unit, fields: fields.clone() };
            for (back, source) in
                (0..16u64).flat_map(|back| (0..shape.sources() as u64).map(move |of| (back, of)))
            {
                let taken = (context as i64 - 1 - back as i64).rem_euclid(set.ii() as i64) as usize;
                let taking = Spot { context: taken, unit: *unit, fields: fields.clone() };
                let forged = taking.with(&set, fields.select[port], |_| source);
                let forged = spot.with(&forged, *delay, |_| back);
                if let Err(Refusal::Beyond(Beyond { place, why: Why::Before(slot), .. })) =
                    bounds::check(&forged, &shape)
                {
                    assert!(slot < 0);
                    places.push(place);
                }
            }
            // Of a delay only those bits count that the line has.
            if shape.reach(unit.kind, port) == 16 {
                let same = spot.with(&set, *delay, |delay| delay ^ 16);
                assert_eq!(bounds::check(&same, &shape), Ok(()), "context {context}, {unit:?}, port {port}");
            }
        }
    }
    let is = |which: fn(&Place) -> bool| places.iter().any(which);
    assert!(is(|place| matches!(place, Place::Port(_))) && is(|place| matches!(place, Place::Address(_))));
    assert!(is(|place| matches!(place, Place::Operation)), "{places:?}");
}

/// A chain takes all four lanes, whatever its context says of lanes that are zero.
#[test]
fn a_chain_has_four_lanes() {
    let set = compiled("cast128_encrypt");
    let spot = find(&set, Kind::Quad, |get, fields| get(fields.op.unwrap()) >> 9 != 0);
    let zero = spot.with(&set, spot.fields.op.unwrap(), |op| op | 1);
    assert_eq!(bounds::check(&zero, &Shape::standard()), Ok(()));
    let (forged, delay) = (zero, spot.fields.delay[0]);
    // What lane 0 finds counts, whatever its flag says: not every slot has a word of the block's own for it.
    let refused = |by: &u64| bounds::check(&spot.with(&forged, delay, |_| *by), &Shape::standard()).is_err();
    assert!((0..16).any(|by| refused(&by)));
}

/// What turning every bit of every context of a set comes to.
#[derive(Debug, Default)]
struct Turned {
    refused: usize,
    taken: usize,
    /// Of some of those that are refused, those whose answers hang on others' secrets.
    tried: usize,
    shown: usize,
}

fn turn(name: &str) -> Turned {
    let shape = Shape::standard();
    let set = compiled(name);
    let neighbours = Neighbours::of(&shape, &set);
    assert!(!neighbours.show(), "{name} as it is");
    let mut turned = Turned::default();
    let mut changed = set.clone();
    for context in 0..set.ii() {
        for bit in 0..Layout::of(&shape).bits {
            changed.contexts[context].0[bit / 64] ^= 1 << (bit % 64);
            if bounds::check(&changed, &shape).is_ok() {
                turned.taken += 1;
                assert!(!neighbours.shows(&changed, context), "{name}: context {context}, bit {bit}");
            } else {
                turned.refused += 1;
                if turned.refused % 4 == 0 {
                    turned.tried += 1;
                    turned.shown += usize::from(neighbours.shows(&changed, context));
                }
            }
            changed.contexts[context].0[bit / 64] ^= 1 << (bit % 64);
        }
    }
    println!("{name}: {turned:?}");
    // The rule is of use, and refuses little that does no harm.
    assert!(turned.refused > 100 && turned.taken > 100, "{name}: {turned:?}");
    assert!(2 * turned.shown > turned.tried, "{name}: {turned:?}");
    turned
}

#[test]
fn every_bit_of_aes_is_refused_or_shows_nothing_of_others() {
    turn("aes128_encrypt");
}

#[test]
fn every_bit_of_cast_is_refused_or_shows_nothing_of_others() {
    turn("cast128_encrypt");
}

#[test]
fn every_bit_of_des_is_refused_or_shows_nothing_of_others() {
    turn("des_encrypt");
}

/// Hashes with an odd number of words, sets that expand keys, multipliers, and a set for latency.
#[test]
fn sets_of_the_compiler_show_nothing_of_others() {
    for name in [
        "md5",
        "sha1",
        "aes256_decrypt_keys",
        "twofish128_decrypt_keys",
        "rc6_encrypt",
        "sm4_encrypt_latency",
    ] {
        assert!(!Neighbours::of(&Shape::standard(), &compiled(name)).show(), "{name}");
    }
}
