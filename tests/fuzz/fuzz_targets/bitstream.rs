// SPDX-License-Identifier: Apache-2.0
//! Any bytes into a configuration port, and valid bitstreams with some bytes changed. Nothing panics; where
//! the stream is cut into pieces makes no difference; a single wrong bit never changes the memory unseen; a
//! memory that a stream made can be written and read back.
#![no_main]

use std::sync::{LazyLock, Mutex, PoisonError};

use ace_ecp5::device::{Device, EBR_IDS, LFE5U_25F, LFE5U_45F};
use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{BitstreamError, ConfigMemory, ConfigPort, Emit};
use libfuzzer_sys::fuzz_target;

/// Valid bitstreams: a whole compressed image with block RAM, one of a few frames, and one of those that are used.
static VALID: LazyLock<[(Vec<u8>, [u8; 32]); 3]> = LazyLock::new(|| {
    let numbers = [7561, 7560, 4711, 0];
    let memory = |device: &'static Device| {
        let mut memory = ConfigMemory::new(device);
        for (number, fill) in numbers.into_iter().zip([0x01, 0x3c, 0xa5, 0xff]) {
            memory.set_frame(number, &vec![fill; device.frame_bytes()]);
        }
        memory
    };
    let emit = Emit { compress: true, comment: vec!["fuzz".into()] };
    let mut whole = memory(&LFE5U_25F);
    whole.set_ebr(3, &[0x5a; EBR_BYTES]);
    let memory = memory(&LFE5U_45F);
    let few = Emit::default().frames(&memory, &numbers).expect("addresses are known");
    let used = emit.used(&memory).expect("addresses are known");
    [emit.whole(&whole), few, used].map(|bytes| {
        let mut port = ConfigPort::for_any_device();
        let digest = load(&mut port, &bytes, usize::MAX).expect("valid").digest();
        (bytes, digest)
    })
});

/// Allocations of configuration memory would take most of the time.
static PORTS: LazyLock<Mutex<[ConfigPort; 2]>> =
    LazyLock::new(|| Mutex::new([ConfigPort::for_any_device(), ConfigPort::for_any_device()]));

fn load<'a>(
    port: &'a mut ConfigPort,
    bytes: &[u8],
    piece: usize,
) -> Result<&'a ConfigMemory, BitstreamError> {
    port.reset();
    for piece in bytes.chunks(piece) {
        port.push(piece)?;
    }
    port.finish()
}

fuzz_target!(|data: &[u8]| {
    let [kind, piece, rest @ ..] = data else { return };
    let (bytes, valid) = match VALID.get(usize::from(kind % 4)) {
        None => (rest.to_vec(), None),
        Some((valid, digest)) => {
            let mut bytes = valid.clone();
            // A place counted from the start or, its first bit set, from the end, and the bits to flip.
            for edit in rest.chunks_exact(4).take(16) {
                let place =
                    usize::from(edit[0] & 0x7f) << 16 | usize::from(edit[1]) << 8 | usize::from(edit[2]);
                let place = place % bytes.len();
                let place = if edit[0] & 0x80 == 0 { place } else { bytes.len() - 1 - place };
                bytes[place] ^= edit[3];
            }
            let wrong: u32 = bytes.iter().zip(valid).map(|(a, b)| (a ^ b).count_ones()).sum();
            (bytes, (wrong <= 1).then_some((wrong, *digest)))
        }
    };
    let mut ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
    let [one, other] = &mut *ports;
    // A whole image is long; pieces of a few bytes are for the short ones.
    let piece = (usize::from(*piece) + 1) * if bytes.len() > 10_000 { 64 } else { 1 };
    let whole = load(one, &bytes, usize::MAX);
    let pieces = load(other, &bytes, piece);
    assert!(whole == pieces, "{:?} {:?}", whole.as_ref().err(), pieces.as_ref().err());
    match (whole, valid) {
        (Err(error), wrong) => {
            assert!(error.offset <= bytes.len() as u64);
            assert!(wrong.is_none_or(|(bits, _)| bits > 0), "{error}");
        }
        (Ok(memory), Some((_, digest))) => assert_eq!(memory.digest(), digest),
        (Ok(memory), None) => {
            assert!(memory.ebr().len() <= usize::from(EBR_IDS));
            if kind & 0x40 != 0 {
                let again = Emit { compress: kind & 0x80 != 0, comment: Vec::new() }.whole(memory);
                let digest = memory.digest();
                assert_eq!(load(other, &again, usize::MAX).map(ConfigMemory::digest), Ok(digest));
            }
        }
    }
});
