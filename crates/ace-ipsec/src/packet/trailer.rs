// SPDX-License-Identifier: Apache-2.0
//! The ESP header and trailer (RFC 4303, 2).

use super::be32;

/// Bytes before the IV.
pub const HEADER_LEN: usize = 8;
/// Pad length and next header.
pub const TRAILER_LEN: usize = 2;

/// SPI and the sequence number's low half: all that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EspHeader {
    /// The Security Parameters Index (RFC 4303, 2.1).
    pub spi: u32,
    /// The low 32 bits of the sequence number (RFC 4303, 2.2).
    pub sequence: u32,
}

impl EspHeader {
    /// From the first eight bytes; `None` when there are fewer.
    pub fn parse(esp: &[u8]) -> Option<Self> {
        Some(Self { spi: be32(esp, 0)?, sequence: be32(esp, 4)? })
    }

    /// As they stand in the packet, big-endian.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&self.spi.to_be_bytes());
        bytes[4..].copy_from_slice(&self.sequence.to_be_bytes());
        bytes
    }
}

/// Fills what is behind the payload with 1, 2, 3, …, pad length and next header (RFC 4303, 2.4 to 2.6).
pub fn write_trailer(place: &mut [u8], next_header: u8) {
    let Some(pad_len) = place.len().checked_sub(TRAILER_LEN) else { return };
    for (byte, value) in place.iter_mut().zip(1..=u8::MAX) {
        *byte = value;
    }
    if let [.., length, next] = place {
        // Callers ask for at most 255 bytes of padding.
        (*length, *next) = (pad_len as u8, next_header);
    }
}

/// Splits decrypted bytes into payload and trailer: (payload length, next header). `None` when the padding is
/// longer than the packet or is not 1, 2, 3, ….
pub fn split_trailer(plaintext: &[u8]) -> Option<(usize, u8)> {
    let [rest @ .., pad_len, next_header] = plaintext else { return None };
    let payload_len = rest.len().checked_sub(usize::from(*pad_len))?;
    let padding = rest.get(payload_len..)?;
    // All of it is looked at, wherever it goes wrong.
    let wrong =
        padding.iter().zip(1..=u8::MAX).fold(0, |wrong, (&found, expected)| wrong | (found ^ expected));
    (wrong == 0).then_some((payload_len, *next_header))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_of_every_length_come_back() {
        for pad_len in 0..=255 {
            let mut bytes = b"payload".to_vec();
            bytes.resize(7 + pad_len + TRAILER_LEN, 0xee);
            write_trailer(&mut bytes[7..], 6);
            assert_eq!(split_trailer(&bytes), Some((7, 6)));
        }
    }

    #[test]
    fn wrong_padding_is_seen() {
        assert_eq!(split_trailer(&[]), None);
        assert_eq!(split_trailer(&[0]), None);
        assert_eq!(split_trailer(&[0, 6]), Some((0, 6)));
        assert_eq!(split_trailer(&[1, 6]), None, "longer than the packet");
        assert_eq!(split_trailer(&[1, 2, 2, 6]), Some((0, 6)));
        for at in 0..2 {
            for bit in 0..8 {
                let mut bytes = [1, 2, 2, 6];
                bytes[at] ^= 1 << bit;
                assert_eq!(split_trailer(&bytes), None);
            }
        }
    }
}
