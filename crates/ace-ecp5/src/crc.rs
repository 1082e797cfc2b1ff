// SPDX-License-Identifier: Apache-2.0
//! The CRC of configuration data: 16 bits, polynomial 0x8005, most significant bit first, starting at 0,
//! not inverted ("CRC-16/BUYPASS"). Sixteen bytes at a time, because the board loads megabytes per switch.

const POLYNOMIAL: u16 = 0x8005;

/// `TABLES[k][b]`: the CRC of byte `b` followed by `k` zero bytes.
static TABLES: [[u16; 256]; 16] = tables();

const fn tables() -> [[u16; 256]; 16] {
    let mut t = [[0u16; 256]; 16];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ POLYNOMIAL };
            bit += 1;
        }
        t[0][byte] = crc;
        byte += 1;
    }
    let mut k = 1;
    while k < 16 {
        let mut byte = 0;
        while byte < 256 {
            let before = t[k - 1][byte];
            t[k][byte] = (before << 8) ^ t[0][(before >> 8) as usize];
            byte += 1;
        }
        k += 1;
    }
    t
}

/// The CRC after `bytes`, when it was `crc` before them.
pub(crate) fn update(mut crc: u16, bytes: &[u8]) -> u16 {
    let (chunks, rest) = bytes.as_chunks::<16>();
    for chunk in chunks {
        let [high, low] = crc.to_be_bytes();
        let mut next = TABLES[15][usize::from(chunk[0] ^ high)] ^ TABLES[14][usize::from(chunk[1] ^ low)];
        for (k, byte) in chunk[2..].iter().enumerate() {
            next ^= TABLES[13 - k][usize::from(*byte)];
        }
        crc = next;
    }
    for byte in rest {
        crc = (crc << 8) ^ TABLES[0][usize::from((crc >> 8) as u8 ^ byte)];
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: one bit at a time.
    fn by_definition(bytes: &[u8]) -> u16 {
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).fold(0u16, |crc, bit| {
            let carry = (crc >> 15) as u8 ^ bit;
            (crc << 1) ^ (POLYNOMIAL * u16::from(carry))
        })
    }

    #[test]
    fn equals_the_definition() {
        // The check value of CRC-16/BUYPASS.
        assert_eq!(update(0, b"123456789"), 0xfee8);
        let bytes: Vec<u8> = (0..200u32).map(|i| (i * i * 7 + 3) as u8).collect();
        for end in 0..bytes.len() {
            assert_eq!(update(0, &bytes[..end]), by_definition(&bytes[..end]));
            let (a, b) = bytes[..end].split_at(end / 3);
            assert_eq!(update(update(0, a), b), by_definition(&bytes[..end]));
        }
    }
}
