// SPDX-License-Identifier: Apache-2.0
//! The array behind `ace gateway`: live traffic through context sets.

use std::fs;

use crate::gateway_engines::{B, ask, gateway, pair, sas, write_sas};
use crate::netns::{World, shown, until};
use serde_json::Value;

/// Two SAs with AES-128-GCM, four octets of whose keys are the nonce's.
fn combined(who: u8, net: u8) -> String {
    pair(who, net, "aes-128-gcm-16", "00000000", |_| String::new())
}

/// Whether the context sets of AES and SHA-1 are built, which the library names.
fn sets_ready() -> bool {
    let built = |name: &&str| {
        crate::common::root().join("build/array/sets").join(name).join("manifest.json").exists()
    };
    let missing = ["aes128_encrypt", "aes128_decrypt", "aes128_gcm_encrypt", "aes128_gcm_decrypt", "sha1"]
        .iter()
        .find(|name| !built(name));
    let Some(missing) = missing else { return true };
    assert!(
        std::env::var_os("ACE_REQUIRE_BUILD").is_none(),
        "not built: {missing}; `ace array build` makes it"
    );
    eprintln!("{missing} is not built; nothing was checked");
    false
}

/// A board that holds the array, described in a file, as the gateway's engine.
fn array_board(world: &World) -> String {
    let library = crate::common::root().join("library/ace.lib").canonicalize().expect("it is there");
    let text = format!(
        "slots = 1\n[controller]\nlibrary = {library:?}\n[slot]\nkind = \"array\"\ntiles = 1\nbanks = 2\n"
    );
    fs::write(world.path("board.toml"), text).expect("it is ours");
    let sets = crate::common::root().join("build/array/sets");
    format!("kind = \"board\"\nboard = \"board.toml\"\nconfigurations = {sets:?}\n")
}

/// An AEAD is one operation a packet; what no frame can hold is refused by its name.
#[test]
fn aes_gcm_is_computed_by_an_array_board_and_gmac_is_refused_there() {
    if !sets_ready() {
        return;
    }
    let Some(world) = World::new() else { return };
    let engine = array_board(&world);
    let id = gateway(&world, 1, &engine, &combined(1, 0));
    gateway(&world, 2, "kind = \"cpu\"\n", &combined(2, 0));
    let (answered, seen) = world.watch(|| world.ping("a", B, 10));
    assert_eq!((answered, shown(&seen)), (10, 0), "answers, and packets in clear; {}", world.read("a.log"));
    until("all operations are counted", || ask(&world, "a", "slots")["board"]["completed"] == 20);
    let slots = ask(&world, "a", "slots");
    assert_eq!((&slots["board"]["failed"], &slots["refused"]), (&0.into(), &0.into()), "{slots}");
    let loaded = slots["board"]["configurations"].as_array().expect("a list");
    for stem in ["aes128_gcm_encrypt", "aes128_gcm_decrypt"] {
        let of = |one: &&Value| one["name"].as_str().is_some_and(|name| name.starts_with(stem));
        let operations: u64 = loaded.iter().filter(of).filter_map(|one| one["operations"].as_u64()).sum();
        assert_eq!(operations, 10, "{stem}: {slots}");
    }
    // A packet as associated data has no room in a frame: the file that asks for it changes nothing.
    write_sas(&world, "a", &combined(1, 0).replace("aes-128-gcm-16", "aes-128-gmac"));
    world.signal(id, "-HUP");
    until("GMAC is refused", || {
        let logged = world.read("a.log");
        logged.contains("not reloaded") && logged.contains("no configuration for aes-128-gmac encrypt")
    });
    assert_eq!(world.ping("a", B, 3), 3, "what was there goes on");
}

/// AES-CCM is two passes of AES, of which the host makes one answer.
#[test]
fn aes_ccm_is_two_passes_on_an_array_board() {
    if !sets_ready() {
        return;
    }
    let Some(world) = World::new() else { return };
    let engine = array_board(&world);
    let sas = |who| pair(who, 0, "aes-128-ccm-16", "000000", |_| String::new());
    gateway(&world, 1, &engine, &sas(1));
    gateway(&world, 2, "kind = \"cpu\"\n", &sas(2));
    let (answered, seen) = world.watch(|| world.ping("a", B, 10));
    assert_eq!((answered, shown(&seen)), (10, 0), "answers, and packets in clear; {}", world.read("a.log"));
    until("both passes are counted", || ask(&world, "a", "slots")["board"]["completed"] == 40);
    let slots = ask(&world, "a", "slots");
    let loaded = slots["board"]["configurations"].as_array().expect("a list");
    let of = |one: &&Value| one["name"].as_str().is_some_and(|name| name.starts_with("aes128_encrypt"));
    let passes: u64 = loaded.iter().filter(of).filter_map(|one| one["operations"].as_u64()).sum();
    assert_eq!((passes, &slots["board"]["failed"]), (40, &0.into()), "{slots}");
}

#[test]
fn context_sets_compute_live_traffic_on_an_array_board() {
    if !sets_ready() {
        return;
    }
    let Some(world) = World::new() else { return };
    let engine = array_board(&world);
    gateway(&world, 1, &engine, &sas(1, 0, "aes-128-cbc"));
    gateway(&world, 2, "kind = \"cpu\"\n", &sas(2, 0, "aes-128-cbc"));
    let (answered, seen) = world.watch(|| world.ping("a", B, 10));
    assert_eq!((answered, shown(&seen)), (10, 0), "answers, and packets in clear; {}", world.read("a.log"));
    // Ten requests and ten answers, each a pass of the cipher and one of the hash.
    until("all passes are counted", || ask(&world, "a", "slots")["board"]["completed"] == 40);
    let slots = ask(&world, "a", "slots");
    let board = &slots["board"];
    assert_eq!((&board["failed"], &slots["refused"]), (&0.into(), &0.into()));
    let banks = board["slots"].as_array().expect("a list");
    let names: Vec<&str> = banks.iter().filter_map(|bank| bank["name"].as_str()).collect();
    assert_eq!(names, ["slot 0, bank 0", "slot 0, bank 1"]);
    for bank in banks {
        assert!(bank["loads"].as_u64() > Some(0) && bank["operations"].as_u64() > Some(0), "{bank}");
    }
    let sum = |of: &Value, what: &str| -> u64 {
        of.as_array().expect("a list").iter().filter_map(|one| one[what].as_u64()).sum()
    };
    let loaded = &board["configurations"];
    assert_eq!((sum(&board["slots"], "operations"), sum(loaded, "operations")), (40, 40), "{slots}");
    assert_eq!(Some(sum(&board["slots"], "loads")), board["loads"].as_u64());
    let all = loaded.as_array().expect("a list");
    for stem in ["aes128_encrypt", "aes128_decrypt", "sha1"] {
        let of = |one: &&Value| one["name"].as_str().is_some_and(|name| name.starts_with(stem));
        let operations: u64 = all.iter().filter(of).filter_map(|one| one["operations"].as_u64()).sum();
        assert_eq!(operations, if stem == "sha1" { 20 } else { 10 }, "{stem}: {slots}");
    }
    assert!(slots["costs"].as_array().expect("a list").iter().all(|cost| cost["at"] == "board"), "{slots}");
}
