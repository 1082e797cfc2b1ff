// SPDX-License-Identifier: Apache-2.0
//! What routers may change in IP headers, which AH therefore takes for zero (RFC 4302, 3.3.3.1 and appendix A).

use super::ip::{IPV4_MIN, IPV6_LEN, Version};
use super::protocol;
use crate::counters::Cause;

/// Clears the mutable fields of the headers in front of AH.
///
/// # Errors
/// [`Cause::SourceRoute`] if a source route is not at its end, because the destination will change;
/// [`Cause::BadAh`] if options or extension headers do not fit.
pub fn clear(headers: &mut [u8], version: Version) -> Result<(), Cause> {
    match version {
        Version::V4 => clear_v4(headers),
        Version::V6 => clear_v6(headers),
    }
    .unwrap_or(Err(Cause::BadAh))
}

/// `None` if something is not there.
fn clear_v4(header: &mut [u8]) -> Option<Result<(), Cause>> {
    // Type of service; flags and fragment offset; time to live; checksum.
    for at in [1, 6, 7, 8, 10, 11] {
        *header.get_mut(at)? = 0;
    }
    let mut options = header.get_mut(IPV4_MIN..)?;
    while let Some(&kind) = options.first() {
        match kind {
            0 => break,
            1 => options = options.get_mut(1..)?,
            kind => {
                let len = usize::from(*options.get(1)?);
                let (option, behind) = options.split_at_mut_checked(len).filter(|_| len >= 2)?;
                // Loose and strict source routes: type, length, pointer (RFC 791).
                if matches!(kind, 131 | 137) && usize::from(*option.get(2)?) <= len {
                    return Some(Err(Cause::SourceRoute));
                }
                // Security, extended and commercial security, router alert, multi-destination: appendix A1.
                if !matches!(kind, 130 | 133 | 134 | 148 | 149) {
                    option.fill(0);
                }
                options = behind;
            }
        }
    }
    Some(Ok(()))
}

/// As [`clear_v4`].
fn clear_v6(headers: &mut [u8]) -> Option<Result<(), Cause>> {
    let (header, mut rest) = headers.split_at_mut_checked(IPV6_LEN)?;
    // Traffic class and flow label; hop limit.
    *header.get_mut(0)? &= 0xf0;
    header.get_mut(1..4)?.fill(0);
    *header.get_mut(7)? = 0;
    let mut kind = *header.get(6)?;
    while !rest.is_empty() {
        let len = match kind {
            protocol::FRAGMENT => 8,
            _ => (usize::from(*rest.get(1)?) + 1) * 8,
        };
        let (extension, behind) = rest.split_at_mut_checked(len)?;
        match kind {
            protocol::HOP_BY_HOP | protocol::DESTINATION_OPTIONS => clear_options(extension.get_mut(2..)?)?,
            protocol::ROUTING if *extension.get(3)? != 0 => return Some(Err(Cause::SourceRoute)),
            _ => {}
        }
        kind = *extension.first()?;
        rest = behind;
    }
    Some(Ok(()))
}

/// Data of options whose third bit says that they may change (RFC 8200, 4.2).
fn clear_options(mut options: &mut [u8]) -> Option<()> {
    while let Some(&kind) = options.first() {
        if kind == 0 {
            options = options.get_mut(1..)?;
            continue;
        }
        let changes = kind & 0x20 != 0;
        let len = usize::from(*options.get(1)?);
        let (data, behind) = options.get_mut(2..)?.split_at_mut_checked(len)?;
        if changes {
            data.fill(0);
        }
        options = behind;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ipv4() {
        let mut header: Vec<u8> = (0x40..0x54).collect();
        header.extend([148, 4, 1, 2, 7, 7, 4, 9, 9, 9, 9, 1, 0, 88, 88, 88]);
        let mut cleared = header.clone();
        assert_eq!(clear(&mut cleared, Version::V4), Ok(()));
        for at in [1, 6, 7, 8, 10, 11].into_iter().chain(24..31) {
            header[at] = 0;
        }
        assert_eq!(cleared, header, "router alert stays, record route goes, behind the end nothing changes");
        for (options, expected) in [
            (&[131, 7, 4, 1, 1, 1, 1, 0][..], Err(Cause::SourceRoute)),
            (&[137, 7, 8, 1, 1, 1, 1, 0], Ok(())),
            (&[7, 9, 0, 0], Err(Cause::BadAh)),
            (&[7, 1, 0, 0], Err(Cause::BadAh)),
            (&[1, 1, 1, 7], Err(Cause::BadAh)),
        ] {
            let mut with = [&[0; 20], options].concat();
            assert_eq!(clear(&mut with, Version::V4), expected, "{options:?}");
        }
        assert_eq!(clear(&mut [0; 19], Version::V4), Err(Cause::BadAh));
    }

    #[test]
    fn of_ipv6() {
        let mut header = vec![0x6a; 40];
        header[6] = protocol::HOP_BY_HOP;
        header.extend([protocol::ROUTING, 0, 0x3e, 2, 7, 7, 0, 0]);
        header.extend([protocol::DESTINATION_OPTIONS, 0, 0, 0, 1, 2, 3, 4]);
        header.extend([51, 0, 0x1e, 3, 7, 7, 7, 0]);
        let mut cleared = header.clone();
        assert_eq!(clear(&mut cleared, Version::V6), Ok(()));
        header[0] = 0x60;
        for at in [1, 2, 3, 7, 44, 45] {
            header[at] = 0;
        }
        assert_eq!(cleared, header);
        let mut routed = header.clone();
        routed[51] = 1;
        assert_eq!(clear(&mut routed, Version::V6), Err(Cause::SourceRoute));
        let mut long = header.clone();
        long[57] = 1;
        assert_eq!(clear(&mut long, Version::V6), Err(Cause::BadAh));
        let mut option = header;
        option[59] = 6;
        assert_eq!(clear(&mut option, Version::V6), Err(Cause::BadAh));
    }
}
