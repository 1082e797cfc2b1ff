// SPDX-License-Identifier: Apache-2.0
//! What the two ends of a pair say: the one that counts asks, the standby answers. A message is one frame of the channel.
//! Integers are little endian.
//!
//! | request | first byte | behind it |
//! |---|---|---|
//! | hello | 1 | salt (32), term (8), 1 if attached |
//! | write | 2 | parts: place (8), length (4), bytes |
//! | attach | 3 | 1 if strict |
//! | beat | 4 | |
//! | goodbye | 5 | |
//!
//! | answer | first byte | behind it |
//! |---|---|---|
//! | done | 1 | |
//! | leaving | 2 | |
//! | counting | 3 | term (8) |
//! | refused | 4 | why, UTF-8 |

/// Bytes of the parts of one request.
pub const MOST_PARTS: usize = 48 << 10;

/// Bytes of a state file, and their place.
pub type Part = (u64, Vec<u8>);

/// What the gateway that counts asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The first one: whose keys these are, how often they were taken over, and whether nothing was used since that the
    /// standby does not have.
    Hello { salt: [u8; 32], term: u64, attached: bool },
    /// Behind [`Request::Hello`] parts of the whole file, behind [`Request::Attach`] what changes.
    Write(Vec<Part>),
    /// The file is complete. From here on the standby has everything.
    Attach { strict: bool },
    /// Nothing has happened.
    Beat,
    /// This one does not count any more, for good.
    Goodbye,
}

/// What the standby answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is done, and outlives a crash.
    Done,
    /// It will not take over, and outlives a crash as such; what was asked was not done.
    Leaving,
    /// It counts itself.
    Counting { term: u64 },
    /// Not done.
    Refused(String),
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

impl Request {
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Hello { salt, term, attached } => {
                [&[1][..], salt, &term.to_le_bytes(), &[u8::from(*attached)]].concat()
            }
            Self::Write(parts) => {
                let mut bytes = vec![2];
                for (at, part) in parts {
                    bytes.extend_from_slice(&at.to_le_bytes());
                    bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
                    bytes.extend_from_slice(part);
                }
                bytes
            }
            Self::Attach { strict } => vec![3, u8::from(*strict)],
            Self::Beat => vec![4],
            Self::Goodbye => vec![5],
        }
    }

    /// `None`: it is none.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let request = match kind {
            1 => Self::Hello {
                salt: take(&mut rest)?,
                term: u64::from_le_bytes(take(&mut rest)?),
                attached: take::<1>(&mut rest)? != [0],
            },
            2 => {
                let mut parts = Vec::new();
                while !rest.is_empty() {
                    let at = u64::from_le_bytes(take(&mut rest)?);
                    let len = u32::from_le_bytes(take(&mut rest)?) as usize;
                    let (part, behind) = rest.split_at_checked(len)?;
                    parts.push((at, part.to_vec()));
                    rest = behind;
                }
                Self::Write(parts)
            }
            3 => Self::Attach { strict: take::<1>(&mut rest)? != [0] },
            4 => Self::Beat,
            5 => Self::Goodbye,
            _ => return None,
        };
        rest.is_empty().then_some(request)
    }
}

impl Reply {
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Done => vec![1],
            Self::Leaving => vec![2],
            Self::Counting { term } => [&[3][..], &term.to_le_bytes()].concat(),
            Self::Refused(why) => [&[4][..], why.as_bytes()].concat(),
        }
    }

    /// `None`: it is none.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        let reply = match kind {
            1 => Self::Done,
            2 => Self::Leaving,
            3 => Self::Counting { term: u64::from_le_bytes(take(&mut rest)?) },
            4 => return Some(Self::Refused(String::from_utf8_lossy(rest).into_owned())),
            _ => return None,
        };
        rest.is_empty().then_some(reply)
    }
}

/// Parts in as few requests as hold them.
pub fn writes(parts: impl IntoIterator<Item = Part>) -> Vec<Request> {
    let (mut all, mut one, mut len) = (Vec::new(), Vec::new(), 0);
    for (at, bytes) in parts {
        for (n, piece) in bytes.chunks(MOST_PARTS).enumerate() {
            if len + piece.len() + 12 > MOST_PARTS + 12 {
                all.push(Request::Write(std::mem::take(&mut one)));
                len = 0;
            }
            len += piece.len() + 12;
            one.push((at + (n * MOST_PARTS) as u64, piece.to_vec()));
        }
    }
    if !one.is_empty() {
        all.push(Request::Write(one));
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80), kind in 0..7_u8) {
            let bytes = [&[kind][..], &bytes].concat();
            for bytes in [&bytes[..], &bytes[1..]] {
                if let Some(request) = Request::of(bytes) {
                    prop_assert_eq!(Request::of(&request.to_bytes()), Some(request));
                }
                if let Some(reply) = Reply::of(bytes) {
                    prop_assert_eq!(Reply::of(&reply.to_bytes()), Some(reply));
                }
            }
        }

        #[test]
        fn parts_come_as_they_were_in_frames_that_fit(lengths in prop::collection::vec(0..200_000_usize, 0..6)) {
            let parts: Vec<Part> = lengths.iter().map(|len| (*len as u64 * 7, vec![1; *len])).collect();
            let all = writes(parts);
            let mut sum = 0;
            for request in &all {
                let bytes = request.to_bytes();
                prop_assert!(bytes.len() < 60_000);
                prop_assert_eq!(Request::of(&bytes), Some(request.clone()));
                let Request::Write(parts) = request else { panic!("{request:?}") };
                sum += parts.iter().map(|(_, part)| part.len()).sum::<usize>();
            }
            prop_assert_eq!(sum, lengths.iter().sum::<usize>());
        }
    }
}
