// SPDX-License-Identifier: Apache-2.0
//! Bitstreams that the tools made.

use crate::common::{fixture, load};
use ace_ecp5::device::{LFE5U_25F, LFE5U_45F, LFE5U_85F};
use ace_ecp5::{ConfigMemory, ConfigPort, Emit, Reason, inspect};

#[test]
fn memory_is_what_ecpunpack_sees() {
    // Bits that `ecpunpack` lists as unknown, by frame and bit (tile grid of the Trellis database), and the
    // first and last words of both block RAMs.
    for (name, bits) in [
        ("25f", [(250, 156), (251, 156), (253, 156), (259, 156), (3, 390), (28, 392), (34, 395), (7, 428)]),
        ("45f", [(250, 120), (251, 120), (253, 120), (259, 120), (28, 464), (3, 498), (26, 531), (34, 539)]),
        (
            "85f",
            [
                (258, 120),
                (259, 120),
                (261, 120),
                (267, 120),
                (12870, 1135),
                (10220, 1135),
                (10326, 1135),
                (10432, 1135),
            ],
        ),
    ] {
        let memory = load(&fixture(name)).expect("a good bitstream");
        for (frame, bit) in bits {
            assert_eq!(memory.bit(frame, bit), Some(true), "{name}: frame {frame} bit {bit}");
        }
        let words =
            |id, from: usize| -> Vec<_> { (from..from + 4).map(|w| memory.ebr_word(id, w)).collect() };
        assert_eq!(memory.ebr().map(|(id, _)| id).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(words(3, 0), [0x000, 0x007, 0x01c, 0x03f].map(Some));
        assert_eq!(words(3, 2044), [0x08f, 0x0c0, 0x0e3, 0x0f8].map(Some));
        assert_eq!(words(4, 0), [0x011, 0x000, 0x114, 0x000].map(Some));
        assert_eq!(words(4, 2044), [0x00b, 0x005, 0x10e, 0x005].map(Some));
        assert_eq!(memory.ebr_word(2, 0), None);
    }
}

#[test]
fn however_the_bits_come_the_memory_is_the_same() {
    for (plain, compressed) in [
        ("25f", "25f_compressed"),
        ("25f", "25f_options"),
        ("45f", "45f_compressed"),
        ("85f", "85f_compressed"),
    ] {
        let (a, b) = (load(&fixture(plain)).expect("plain"), load(&fixture(compressed)).expect("compressed"));
        assert!(a.frames().eq(b.frames()) && a.ebr().eq(b.ebr()), "{compressed}");
        assert_eq!(a.digest_without_registers(), b.digest_without_registers());
        // One of them was told other registers.
        assert_eq!(a.digest() == b.digest(), compressed != "25f_options", "{compressed}");
    }
    let digests: Vec<_> = ["25f", "45f", "85f", "45f_seed2_compressed", "45f_background"]
        .map(|name| load(&fixture(name)).expect("good").digest())
        .into();
    for (i, digest) in digests.iter().enumerate() {
        assert!(!digests[..i].contains(digest));
    }
}

#[test]
fn what_is_emitted_is_what_ecppack_wrote() {
    for name in ["25f", "25f_compressed", "45f", "45f_background", "45f_compressed", "85f", "85f_compressed"]
    {
        let bytes = fixture(name);
        let described = inspect(&bytes).expect("good");
        let emit = Emit { compress: name.ends_with("compressed"), comment: described.comment };
        assert!(emit.whole(&load(&bytes).expect("good")) == bytes, "{name}");
    }
}

#[test]
fn a_port_is_used_again() {
    let (small, packed) = (fixture("25f"), fixture("25f_options"));
    let [first, second] = [&small, &packed].map(|bytes| load(bytes).expect("good"));
    let mut port = ConfigPort::new(&LFE5U_25F);
    for round in 0..3 {
        port.reset();
        assert_eq!(port.finish().expect_err("nothing came").reason, Reason::NoPreamble);
        // A load that fails in the middle leaves nothing behind.
        let mut broken = small.clone();
        broken[300_000] ^= 1;
        assert!(port.push(&broken).is_err() && port.push(&small).is_err() && port.finish().is_err());
        port.reset();
        port.push(&packed).expect("good");
        let memory = port.finish().expect("done");
        assert_eq!(memory.digest(), second.digest(), "round {round}");
        assert!(memory.frames().eq(first.frames()), "round {round}");
        assert_eq!(port.bytes(), packed.len() as u64);
    }
}

#[test]
fn a_delta_turns_one_design_into_the_other() {
    let (from, to) = (fixture("45f"), load(&fixture("45f_seed2_compressed")).expect("good"));
    let mut port = ConfigPort::new(&LFE5U_45F);
    port.push(&from).expect("good");
    port.rearm();
    port.push(&fixture("45f_delta")).expect("good");
    let memory = port.finish().expect("done");
    assert!(memory.frames().eq(to.frames()));
    // A delta says nothing about block RAM; here both designs hold the same.
    assert_eq!(memory.digest(), to.digest());

    // Our own delta: one command for frames that are neighbours, in any order.
    let before = load(&from).expect("good");
    let changed: Vec<usize> =
        (0..LFE5U_45F.frames).rev().filter(|n| before.frame(*n) != to.frame(*n)).collect();
    let delta = Emit::default().frames(&to, &changed).expect("addresses are known");
    assert!(delta.len() < fixture("45f_delta").len());
    port.reset();
    port.push(&from).expect("good");
    port.rearm();
    port.push(&delta).expect("good");
    assert_eq!(port.finish().expect("done").digest(), to.digest());
    assert_eq!(port.seen().frames, changed.len());

    let elsewhere = ConfigMemory::new(&LFE5U_25F);
    assert_eq!(Emit::default().frames(&elsewhere, &[0]), None);
    assert_eq!(Emit::default().frames(&to, &[LFE5U_45F.frames]), None);
}

#[test]
fn another_device_is_refused_by_name() {
    for (name, port) in [("25f", &LFE5U_45F), ("45f_compressed", &LFE5U_85F), ("85f", &LFE5U_25F)] {
        let error = ConfigPort::new(port).push(&fixture(name)).expect_err("not this device");
        assert!(matches!(error.reason, Reason::WrongDevice { .. }));
        let text = error.to_string();
        assert!(text.contains(port.name) && text.contains(&name[..2]), "{text}");
    }
}

#[test]
fn an_inspection_tells_what_there_is() {
    let i = inspect(&fixture("25f_options")).expect("good");
    assert_eq!((i.device, i.idcode.as_str(), i.usercode.as_str()), ("LFE5U-25F", "41111043", "CAFE1234"));
    assert_eq!((i.frames, i.device_frames, i.frame_bytes, i.compressed), (7562, 7562, 74, true));
    assert_eq!((i.control0.as_str(), i.spi_mode.as_deref(), i.security), ("40000038", Some("59"), false));
    assert_eq!(i.comment, ["Part: LFE5U-25F-6CABGA381"]);
    assert_eq!(i.ebr_blocks, [3, 4]);
    // The same frames with other registers are another memory.
    assert_ne!(i.memory_sha256, inspect(&fixture("25f")).expect("good").memory_sha256);
    let both =
        ["25f", "25f_options"].map(|name| load(&fixture(name)).expect("good").digest_without_registers());
    assert_eq!(both[0], both[1]);
    assert!(i.frames_used > 0 && i.bits_set >= i.frames_used as u64);
    assert_eq!(inspect(&fixture("45f_background")).expect("good").control0, "6E000000");
    assert!(inspect(b"").is_err() && inspect(&fixture("25f_options")[1..]).is_ok());
}
