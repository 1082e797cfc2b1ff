// SPDX-License-Identifier: Apache-2.0
//! Sets are what their sources say, for all keys and blocks; others are not, and say so.

use ace_array::frontend::{Built, Program};
use ace_array::layout::{Field, Fields, Layout};
use ace_array::schedule::Effort;
use ace_array::set::Set;
use ace_array::shape::{Kind, Shape};
use ace_array::validate::{Turned, Unlike, turned, validate};
use ace_array::{Named, compile};

fn all() -> bool {
    std::env::var_os("ACE_TESTS").is_some_and(|value| value == "all")
}

/// A set as the compiler makes it, and what its source says.
fn of(name: &str) -> (Set, Built) {
    let shape = Shape::standard();
    let named = Named::find(name).unwrap();
    let sets = named.sets(&shape).unwrap();
    let (_, compiled) = sets.into_iter().find(|(of, _)| of.name == name).unwrap();
    (compiled.set, named.built().unwrap())
}

fn program(run: &str) -> (Set, Built) {
    let text = format!(
        "algorithm probe = 112;\nvariant probe {{ }}\ninput block: word[4] little;\nkey k: word[4];\n\
         setup(s) {{ return [for i in 0..4 : word(s[i])]; }}\nrun -> word[4] little {{ {run} }}\n"
    );
    let program = Program::parse("probe.ace", &text, &|_| None).unwrap();
    let compiled = compile(&program, "probe", &Shape::standard(), Effort::default()).unwrap();
    (compiled.set, program.build("probe").unwrap())
}

const XORED: &str = "return [for i in 0..4 : block[i] ^ k[i]];";

/// The same value of a field in all contexts of all elements of a kind, `change` of what it was, where `which` is so.
fn changed(
    set: &Set,
    kind: Kind,
    which: impl Fn(&dyn Fn(Field) -> u64, &Fields) -> bool,
    field: impl Fn(&Fields) -> Field,
    change: impl Fn(u64) -> u64,
) -> Set {
    let (layout, mut set) = (Layout::of(&Shape::standard()), set.clone());
    for context in &mut set.contexts {
        for (_, fields) in layout.all().iter().filter(|(unit, _)| unit.kind == kind) {
            let before = context.clone();
            if which(&|field| before.get(field), fields) {
                let field = field(fields);
                let value = change(context.get(field));
                for bit in field.offset..field.offset + field.width {
                    context.0[bit / 64] &= !(1 << (bit % 64));
                }
                context.put(field, value);
            }
        }
    }
    set
}

#[test]
fn sets_of_the_compiler_are_what_their_sources_say() {
    let some =
        ["aes128_encrypt", "des_encrypt", "md5", "twofish128_decrypt_keys", "rc6_encrypt", "cast128_decrypt"];
    let every: Vec<String> = Named::first().chain(Named::setups()).map(|named| named.name).collect();
    let names = if all() { every } else { some.map(str::to_owned).to_vec() };
    for name in names {
        let (set, built) = of(&name);
        let validated = validate(&set, &built, &Shape::standard()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(validated.words, usize::from(set.output_words), "{name}");
    }
}

/// Sets that are well-formed and show another association's key, plaintext or result: the validator alone refuses them.
#[test]
fn forged_sets_are_refused() {
    let (set, built) = program(XORED);
    let shape = Shape::standard();
    assert!(validate(&set, &built, &shape).is_ok());
    let keyed = |get: &dyn Fn(Field) -> u64, fields: &Fields| get(fields.key.unwrap()[3]) == 1;
    let every = |_: &dyn Fn(Field) -> u64, _: &Fields| true;
    let input = |by: u64| {
        changed(
            &set,
            Kind::Input,
            every,
            |fields| fields.read_address.unwrap(),
            move |at| at.wrapping_add(by) & 255,
        )
    };
    let mut forged = vec![
        ("another key", changed(&set, Kind::Alu, keyed, |fields| fields.key.unwrap()[0], |word| word + 192)),
        (
            "the key of the block before",
            changed(&set, Kind::Alu, keyed, |fields| fields.key.unwrap()[1], |stage| stage + 1),
        ),
        ("another packet's block", input(100)),
        ("the block before", input(254)),
        ("no result", changed(&set, Kind::Output, every, |fields| fields.write.unwrap(), |_| 0)),
    ];
    forged.push(("a result that is read too early", Set { latency: set.latency - 1, ..set.clone() }));
    forged.push((
        "a later block's result",
        Set { latency: set.latency + 130 * set.ii() as u16, ..set.clone() },
    ));
    for (what, forged) in forged {
        let found = validate(&forged, &built, &shape);
        assert!(matches!(found, Err(Unlike::Foreign { .. })), "{what}: {found:?}");
    }
}

#[test]
fn a_set_of_another_source_is_refused() {
    let shape = Shape::standard();
    let (set, _) = program(XORED);
    for other in [
        "return [for i in 0..4 : block[i] ^ k[3 - i]];",
        "return [for i in 0..4 : block[i] + k[i]];",
        "return [for i in 0..4 : (block[i] ^ k[i]) | (block[0] & ~block[0])] ;",
    ] {
        let (_, built) = program(other);
        let same = other.contains('|');
        let found = validate(&set, &built, &shape);
        assert_eq!(found.is_ok(), same, "{other}: {found:?}");
        assert!(same || matches!(found, Err(Unlike::Other { .. })), "{other}: {found:?}");
    }
    let (encrypts, decrypts) = (of("des_encrypt"), of("des_decrypt"));
    let found = validate(&encrypts.0, &decrypts.1, &shape);
    assert_eq!(found, Err(Unlike::Header { what: "direction" }));
    let mut forged = encrypts.0.clone();
    forged.tables[2][1][17] ^= 1 << 9;
    let found = validate(&forged, &encrypts.1, &shape);
    // One entry of one table: no random block may show it, and it is not accepted.
    assert!(matches!(found, Err(Unlike::Other { .. } | Unlike::Open { .. })), "{found:?}");
}

/// What differs for one word in 2^32 is not taken for the same.
#[test]
fn a_rare_difference_is_not_accepted() {
    let shape = Shape::standard();
    let rare = "let t = block[0] * (block[1] + 1); let r = [for i in 0..4 : block[i] ^ k[i]];\
                let a = r[0]; let b = block[2] & block[3] & k[0] & k[1] & k[2] & k[3] & t & block[0] & block[1];";
    let (set, _) = program(&format!("{rare} return [a ^ b, r[1], r[2], r[3]];"));
    let (_, built) = program(&format!("{rare} return [a ^ (b & (b >> 1) & (b >> 2)), r[1], r[2], r[3]];"));
    let found = validate(&set, &built, &shape);
    assert!(matches!(found, Err(Unlike::Other { .. } | Unlike::Open { .. })), "{found:?}");
}

fn controls(name: &str, step: usize) -> Turned {
    let (set, built) = of(name);
    let found = turned(&set, &built, &Shape::standard(), step).unwrap();
    println!("{name}: {found:?}");
    assert_eq!(found.wrong, 0, "{name}: {found:?}");
    assert!(found.different > 0 && found.equal > 0 && found.beyond > 0, "{name}: {found:?}");
    found
}

/// Every bit of the contexts of three sets: refused, or what the source says.
#[test]
fn no_bit_is_accepted_that_makes_a_difference() {
    let step = if all() { 1 } else { 23 };
    for name in ["aes128_encrypt", "cast128_encrypt", "des_encrypt"] {
        controls(name, step);
    }
}
