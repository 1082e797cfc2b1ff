// SPDX-License-Identifier: Apache-2.0
//! Whatever is done to a file, what the reader makes of it is what somebody makes of it who reads it for the first time.

use proptest::prelude::*;

use super::*;

fn sa(number: u32, name: u32, key: u8) -> String {
    format!(
        "[[sa]]\nname = \"sa-{name}\"\nspi = {}\ndirection = \"out\"\nmode = \"tunnel\"\nlocal = \"192.0.2.1\"\n\
         remote = \"192.0.2.2\"\nselector = {{ dst = \"10.{}.{}.0/24\" }}\ncipher = \"aes-128-gcm-16\"\nkey = \"{:02x}{}\"\n",
        0x1000 + number,
        number >> 8,
        number & 255,
        key,
        format!("{number:04x}").repeat(10).get(..38).unwrap()
    )
}

/// What is wanted, without what two readers have in different words.
fn summary(reader: &mut Reader, text: &str) -> Result<Vec<String>, Vec<String>> {
    let (wanted, warnings) = reader.read("sas.toml", text).map_err(|errors| errors.0)?;
    let one = |sa: &WantedSa| format!("{:?} {:?}", sa.known.spec, wanted.policy);
    Ok(wanted.sas.iter().map(one).chain(warnings).collect())
}

fn installed(wanted: &Wanted) -> usize {
    wanted.sas.iter().filter(|sa| sa.spec.is_some()).count()
}

#[test]
fn of_many_sas_the_keys_of_what_changed_alone_are_read() {
    let all: Vec<String> = (0..1000).map(|n| sa(n, n, 1)).collect();
    let mut reader = Reader::new().unwrap();
    let (first, _) = reader.read("f", &all.concat()).unwrap();
    assert_eq!(installed(&first), 1000);
    let (same, _) = reader.read("f", &all.concat()).unwrap();
    assert_eq!((same.sas.len(), installed(&same)), (1000, 0));
    // One has another key, one is gone, one is new, two change places.
    let mut changed = all.clone();
    changed[5] = sa(5, 5, 2);
    changed.remove(9);
    changed.push(sa(2000, 2000, 1));
    changed.swap(20, 30);
    let (now, _) = reader.read("f", &changed.concat()).unwrap();
    assert_eq!((now.sas.len(), installed(&now)), (1000, 2));
    assert!(now.sas[5].spec.is_some() && now.sas[999].spec.is_some());
    assert_ne!(now.sas[5].known.prints.all, first.sas[5].known.prints.all);
    assert_eq!(now.sas[20].known.prints.all, first.sas[31].known.prints.all);
    // What was not installed is read whole.
    reader.forget();
    assert_eq!(installed(&reader.read("f", &changed.concat()).unwrap().0), 1000);
}

#[test]
fn what_collides_with_an_sa_that_was_read_before_is_refused_in_the_same_words() {
    let all: Vec<String> = (0..100).map(|n| sa(n, n, 1)).collect();
    let key = "key = \"01";
    let same_key = sa(500, 500, 1).replace(key, &format!("fresh_key = true\n{key}"));
    let same_key = same_key.replace(&"01f4".repeat(10)[..38], &"0007".repeat(10)[..38]);
    for (odd, word) in [
        (sa(500, 7, 1), "`name`"),
        (sa(7, 500, 9), "`spi`"),
        (sa(7, 500, 9).replace("spi = 4103", "spi = 9999"), "never used"),
        (same_key, "counter-mode key"),
        (sa(500, 500, 1).replace("spi = ", "spy = "), "spy"),
        (sa(500, 500, 1).replace("[[sa]]", "[[sa]]\n[more]"), "more"),
        (sa(500, 500, 1) + "default_policy = \"bypass\"\n", "default_policy"),
        ("x = [\n".to_owned(), "sas.toml:"),
    ] {
        let text = all.concat() + &odd;
        let mut reader = Reader::new().unwrap();
        reader.read("sas.toml", &all.concat()).unwrap();
        let again = summary(&mut reader, &text);
        assert_eq!(again, summary(&mut Reader::new().unwrap(), &text));
        let words = again.unwrap_or_else(|errors| errors).join("\n");
        assert!(words.contains(word), "{word}: {words}");
    }
}

proptest! {
    #[test]
    fn a_reader_that_has_read_before_reads_as_one_that_has_not(
        edits in prop::collection::vec((0..6u8, 0..60usize, 0..70u32, 0..3u8), 1..12),
    ) {
        let mut all: Vec<String> = (0..60).map(|n| sa(n, n, 1)).collect();
        let mut head = String::new();
        let mut reader = Reader::new().unwrap();
        reader.read("sas.toml", &all.concat()).unwrap();
        for (kind, at, number, key) in edits {
            let at = at % all.len().max(1);
            match kind {
                0 if !all.is_empty() => drop(all.remove(at)),
                1 => all.insert(at, sa(number, number, key)),
                2 if !all.is_empty() => all[at] = sa(number, 100 + number, key),
                3 => head = ["", "# nothing\n", "default_policy = \"bypass\"\n"][usize::from(key)].to_owned(),
                4 => all.push("note = '''\n[[sa]]\n'''\n".repeat(usize::from(key == 0))),
                _ => all.reverse(),
            }
            let text = head.clone() + &all.concat();
            prop_assert_eq!(summary(&mut reader, &text), summary(&mut Reader::new().unwrap(), &text));
        }
    }
}
