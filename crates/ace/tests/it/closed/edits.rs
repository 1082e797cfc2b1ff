// SPDX-License-Identifier: Apache-2.0
//! Changes that a reading passed over once, or could: each is refused, and the reason names the place.

use std::collections::BTreeMap;

use ace_ecp5::ConfigMemory;
use ace_ecp5_netlist::{BitFlipSensitivity, Change, NetlistError, Reading, Verdict, follow};

use super::Images;

/// A tile, what is changed in it, and what the reason has to say.
type Edit<'a> = ((i16, i16, &'a str), Change<'a>, &'a [&'a str]);

const UPPER: (i16, i16, &str) = (0, 11, "PIOT0");
const LOGIC: (i16, i16, &str) = (1, 11, "PICT0");
const SYSTEM: (i16, i16, &str) = (71, 4, "EFB0_PICB0");

/// One change each of what is no logic: everything that is off and has to stay off, and the pads.
const EDITS: [Edit<'_>; 29] = [
    // Global reset, and when a device wakes up.
    (SYSTEM, Change::Set("GSR.GSRMODE", "ACTIVE_HIGH"), &["R71C4:EFB0_PICB0", "F88B1", "GSR.GSRMODE"]),
    (SYSTEM, Change::Set("GSR.GSRMODE", "ACTIVE_LOW"), &["GSR.GSRMODE"]),
    (SYSTEM, Change::Set("SYSCONFIG.GSRPHASE", "T3"), &["R71C4:EFB0_PICB0", "SYSCONFIG.GSRPHASE"]),
    (SYSTEM, Change::Set("SYSCONFIG.BACKGROUND_RECONFIG", "ON"), &["SYSCONFIG.BACKGROUND_RECONFIG"]),
    (SYSTEM, Change::Set("SYSCONFIG.TRANSFR", "ON"), &["SYSCONFIG.TRANSFR"]),
    (SYSTEM, Change::Set("SYSCONFIG.DONE_EX", "ON"), &["SYSCONFIG.DONE_EX"]),
    // The configuration clock as an output of the circuit.
    ((71, 5, "EFB1_PICB1"), Change::Set("CCLK.MODE", "USRMCLK"), &["R71C5:EFB1_PICB1", "F40B1", "CCLK.MODE"]),
    ((71, 7, "EFB3_PICB1"), Change::Set("CCLK.MODE", "USRMCLK"), &["R71C7:EFB3_PICB1", "F40B1", "CCLK.MODE"]),
    ((70, 7, "CIB_EFB1"), Change::Arc("JA4", 3), &["R70C7:CIB_EFB1", "JA4"]),
    // JTAG: its registers, and the two wires on which a circuit could answer.
    (SYSTEM, Change::Set("JTAG.ER1", "ENABLED"), &["JTAG.ER1"]),
    (SYSTEM, Change::Set("JTAG.ER2", "ENABLED"), &["JTAG.ER2"]),
    ((70, 6, "CIB_EFB0"), Change::Arc("JA4", 2), &["R70C6:CIB_EFB0", "JA4"]),
    ((70, 6, "CIB_EFB0"), Change::Arc("JB4", 2), &["R70C6:CIB_EFB0", "JB4"]),
    // The oscillator, a PLL, the error detector's and the thermometer's tiles, a delay line, clock dividers.
    ((71, 5, "EFB1_PICB1"), Change::Set("OSC.MODE", "OSCG"), &["OSC.MODE"]),
    ((71, 2, "PLL0_LL"), Change::Set("MODE", "EHXPLLL"), &["PLL0_LL", "MODE"]),
    ((34, 2, "ECLK_L"), Change::Set("CLKDIV_L0.DIV", "2.0"), &["ECLK_L", "CLKDIV_L0"]),
    // Pads: outputs off, open drain, another voltage, pull, speed or drive; a register in a pad.
    (UPPER, Change::Remove("PIOA.BASE_TYPE", "OUTPUT_LVCMOS33"), &["R0C11:PIOT0", "clear", "PIOA"]),
    (LOGIC, Change::Remove("PIOA.BASE_TYPE", "OUTPUT_LVCMOS33"), &["R1C11:PICT0", "clear", "PIOA.BASE_TYPE"]),
    (UPPER, Change::Set("PIOA.OPENDRAIN", "ON"), &["R0C11:PIOT0", "PIOA.OPENDRAIN"]),
    (UPPER, Change::Set("PIOA.BASE_TYPE", "OUTPUT_LVCMOS12"), &["R0C11:PIOT0", "PIOA"]),
    (UPPER, Change::Set("PIOA.PULLMODE", "UP"), &["R0C11:PIOT0", "PIOA.PULLMODE"]),
    (UPPER, Change::Set("PIOA.SLEWRATE", "FAST"), &["R0C11:PIOT0", "PIOA.SLEWRATE"]),
    (UPPER, Change::Set("PIOA.DRIVE", "16"), &["R0C11:PIOT0", "PIOA.DRIVE"]),
    (LOGIC, Change::Set("IOLOGICA.MODE", "IDDRX1_ODDRX1"), &["R1C11:PICT0", "IOLOGICA.MODE"]),
    (LOGIC, Change::Set("PIOA.TRIMUX_TSREG", "IOLTO"), &["R1C11", "a register in a pad"]),
    // An input with another threshold, a bank with another supply.
    ((12, 0, "PICL1"), Change::Remove("PIOA.HYSTERESIS", "ON"), &["R12C0:PICL1", "PIOA"]),
    ((0, 3, "BANKREF0"), Change::Set("BANK.VCCIO", "2V5"), &["R0C3:BANKREF0", "BANK.VCCIO"]),
    // Bits without a name.
    ((20, 20, "PLC2"), Change::Flip(0, 11), &["R20C20:PLC2", "F0B11", "no name"]),
    ((10, 3, "PVT_COUNT2"), Change::Flip(2, 0), &["R10C3:PVT_COUNT2", "F2B0", "short list"]),
];

fn refused(images: &Images, memory: &ConfigMemory, words: &[&str]) {
    let Err(error) = images.read(memory) else { panic!("not refused: {words:?}") };
    let error = error.to_string();
    for word in words {
        assert!(error.contains(word), "{word} is not in: {error}");
    }
}

#[test]
fn what_is_off_stays_off() {
    let Some(images) = Images::new(&["des"]) else { return };
    let good = images.memory("des");
    for (tile, change, words) in EDITS {
        let mut memory = good.clone();
        assert!(images.database.change(&mut memory, tile, change), "{tile:?} {change:?}");
        assert!(memory != good, "{tile:?} {change:?}");
        refused(&images, &memory, words);
    }
}

#[test]
fn registers_on_the_global_reset_are_refused() {
    let Some(images) = Images::new(&["des"]) else { return };
    let good = images.memory("des");
    let mut seen = 0;
    for (row, col) in images.database.places("PLC2") {
        for slice in ["SLICEA.GSR", "SLICEB.GSR", "SLICEC.GSR", "SLICED.GSR"] {
            let mut memory = good.clone();
            images.database.change(&mut memory, (row, col, "PLC2"), Change::Remove(slice, "DISABLED"));
            // Where nothing is in use the bit is clear.
            if memory == good || seen == 8 {
                continue;
            }
            seen += 1;
            let place = format!("R{row}C{col} slice {}", &slice[5..6]);
            refused(&images, &memory, &[&place, "global reset"]);
        }
    }
    assert_eq!(seen, 8);
}

/// Every setting of every tile in use gets every other value that it may have: it is refused, or another circuit. Of those
/// that no other bit is beside, some; with ACE_TESTS=all one in seven. Block memories are where pins are that nothing uses.
#[test]
fn no_setting_is_passed_over() {
    let all = std::env::var_os("ACE_TESTS").is_some_and(|value| value == "all");
    for (name, kind, step) in
        [("des", "", if all { 7 } else { 193 }), ("aes", "MIB_EBR", if all { 1 } else { 5 })]
    {
        let Some(images) = Images::new(&[name]) else { return };
        let good = images.memory(name);
        let reading = Reading::new(&good, &images.database, &images.pins).expect("it is read");
        let mut flips = BitFlipSensitivity::new(&reading).expect("no circle");
        let width = good.device().frame_bits;
        let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
        let settings = images.database.settings(&good).into_iter().filter(|(tile, _)| tile.2.contains(kind));
        for (tile, change) in settings.step_by(step) {
            let mut memory = good.clone();
            assert!(images.database.change(&mut memory, tile, change), "{tile:?} {change:?}");
            let frames = (0..good.device().frames).filter(|at| memory.frame(*at) != good.frame(*at));
            let bits: Vec<u32> = frames
                .flat_map(|frame| (0..width).map(move |bit| (frame, bit)))
                .filter(|(frame, bit)| memory.bit(*frame, *bit) != good.bit(*frame, *bit))
                .map(|(frame, bit)| (frame * width + bit) as u32)
                .collect();
            if bits.is_empty() {
                continue;
            }
            let verdict = if let [one] = bits[..] { flips.flip(one) } else { flips.again(&bits) };
            let verdict = verdict.expect("the solver has an answer");
            // By name, as the reading takes them: a pin at the edge to which nothing is routed is 1, and the setting says 1. Whether
            // silicon reads such a pin as 1 nobody has looked up.
            let says_one = matches!(change, Change::Set(name, "1") if name.starts_with("CIB.J"));
            if matches!(verdict, Verdict::Same | Verdict::Equal) {
                assert!(says_one, "{name}: {tile:?} {change:?} is passed over: {verdict:?}");
                println!(
                    "{name}: {tile:?} {change:?}: {verdict:?}, the reading takes the pin as 1 as before"
                );
            }
            *counts.entry(verdict).or_default() += 1;
        }
        println!("{name}: settings {kind}: {counts:?}");
        assert!(counts.get(&Verdict::Different).is_some_and(|count| *count > 9), "{counts:?}");
    }
}

/// For each of many multiplexers that are in use: with the bits of any other arc added, the image is refused.
#[test]
fn a_second_arc_is_refused() {
    let Some(images) = Images::new(&["des"]) else { return };
    let good = images.memory("des");
    let (mut known, mut refusals) = (0, 0);
    for (row, col) in images.database.places("PLC2").into_iter().step_by(97) {
        for (name, number) in [("A0", 0), ("B5", 3), ("V02N0001", 1), ("H06E0003", 2), ("E1_H02E0701", 0)] {
            let mut memory = good.clone();
            let tile = (row, col, "PLC2");
            if !images.database.change(&mut memory, tile, Change::Arc(name, number)) || memory == good {
                continue;
            }
            known += 1;
            let Err(error) = images.read(&memory) else { panic!("R{row}C{col} {name} {number}") };
            refusals += usize::from(matches!(&error, NetlistError::Arcs(..)));
            assert!(error.to_string().contains(&format!("R{row}C{col}")), "{error}");
        }
    }
    assert!(known > 20 && refusals > 0, "{known} {refusals}");
}

#[test]
fn registers_and_contents_are_compared() {
    let Some(images) = Images::new(&["des"]) else { return };
    let good = images.memory("des");
    for bit in (0..32).step_by(5) {
        let mut memory = good.clone();
        memory.set_control0(good.control0() ^ 1 << bit);
        refused(&images, &memory, &["CTRL0", &format!("{:#010x}", 1u32 << bit)]);
        let mut memory = good.clone();
        memory.set_usercode(1 << bit);
        refused(&images, &memory, &["USERCODE"]);
    }
    let mut memory = good.clone();
    assert!(memory.set_ebr(5, &[0; ace_ecp5::memory::EBR_BYTES]));
    refused(&images, &memory, &["block memory 5"]);
    // The circuit alone is the same: it is the rest that is refused.
    assert!(follow(&memory, &images.database, &images.pins).is_ok());
}

const INPUTS_OF_A: [&str; 4] = ["SLICEA.A0MUX", "SLICEA.B0MUX", "SLICEA.C0MUX", "SLICEA.D0MUX"];
const INPUTS_OF_C: [&str; 4] = ["SLICEC.A0MUX", "SLICEC.B0MUX", "SLICEC.C0MUX", "SLICEC.D0MUX"];

/// One of ones as well: the table is that of a LUT that is not in use, and the inputs are constant.
#[test]
fn one_source_of_ones_may_have_no_reader() {
    let Some(images) = Images::new(&["des"]) else { return };
    let mut memory = images.beside(include_bytes!("echo.bit.gz"));
    let before = images.read(&memory).unwrap().count();
    let tile = (28, 44, "PLC2");
    let set = |memory: &mut ConfigMemory, name| {
        assert!(images.database.change(memory, tile, Change::Set(name, "1")), "{name}");
    };
    for name in &INPUTS_OF_A[..3] {
        set(&mut memory, name);
    }
    refused(&images, &memory, &["R28C44"]);
    set(&mut memory, INPUTS_OF_A[3]);
    assert_eq!(images.read(&memory).unwrap().count(), before);
    for name in ["SLICEB.A0MUX", "SLICEB.B0MUX", "SLICEB.C0MUX", "SLICEB.D0MUX"] {
        set(&mut memory, name);
    }
    refused(&images, &memory, &["R28C44", "a second source of a constant"]);
}

/// A LUT of zeros that nothing reads is nextpnr's; anything like it that is not just that is refused.
#[test]
fn one_source_of_zeros_may_have_no_reader() {
    let Some(images) = Images::new(&["des"]) else { return };
    let echo = images.beside(include_bytes!("echo.bit.gz"));
    let netlist = images.read(&echo).expect("it is read to the last bit");
    let counts = netlist.count();
    // What synthesis made of it, and no cell for the source of zeros.
    assert_eq!((counts["TRELLIS_FF"], counts["LUT4"], netlist.cells.len()), (74, 12, 86));
    // Another entry of its table, an input that is not constant.
    let tile = (28, 44, "PLC2");
    for change in [Change::Flip(70, 10), Change::Remove("SLICEC.A0MUX", "1"), Change::Flip(31, 3)] {
        let mut memory = echo.clone();
        assert!(images.database.change(&mut memory, tile, change) && memory != echo, "{change:?}");
        refused(&images, &memory, &["R28C44"]);
    }
    // A second one, which alone would do.
    let mut other = echo.clone();
    for change in
        (10..26).map(|frame| Change::Flip(frame, 10)).chain(INPUTS_OF_A.map(|name| Change::Set(name, "1")))
    {
        assert!(images.database.change(&mut other, tile, change), "{change:?}");
    }
    refused(&images, &other, &["R28C44", "a second source of a constant"]);
    for change in
        (64..80).map(|frame| Change::Flip(frame, 10)).chain(INPUTS_OF_C.map(|name| Change::Remove(name, "1")))
    {
        assert!(images.database.change(&mut other, tile, change), "{change:?}");
    }
    assert_eq!(images.read(&other).expect("it is read to the last bit"), netlist);
}
