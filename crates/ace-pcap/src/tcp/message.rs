// SPDX-License-Identifier: Apache-2.0
//! From the bytes of a stream to messages (RFC 9329, 3 and 4).

/// What whoever opened the connection says first.
pub(super) const PREFIX: &[u8] = b"IKETCP";
/// A message says how long it is, itself included.
const LENGTH: usize = 2;

/// What is wrong with a length.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLength;

/// What bytes were, one behind the other.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    /// Messages of ESP.
    pub esp: Vec<Vec<u8>>,
    /// Messages that are neither ESP nor IKE nor a keepalive.
    pub short: u64,
}

/// Bytes of a message that is not whole.
#[derive(Debug, Default)]
pub(super) struct Messages {
    begun: Vec<u8>,
}

impl Messages {
    pub fn size(&self) -> usize {
        self.begun.capacity()
    }

    /// Whether a message has begun that may be ESP.
    pub fn may_be_esp(&self) -> bool {
        !self.begun.is_empty() && !self.is_ike()
    }

    /// Whether four zeros stand where an SPI would (RFC 9329, 3).
    fn is_ike(&self) -> bool {
        self.begun.get(LENGTH..LENGTH + 4) == Some(&[0; 4])
    }

    /// What is there of the prefix, or instead of it: `None` while that cannot be said.
    pub fn prefix(&mut self, bytes: &[u8]) -> Option<bool> {
        self.begun.extend_from_slice(bytes);
        if self.begun.starts_with(PREFIX) {
            self.begun.drain(..PREFIX.len());
            return Some(true);
        }
        if PREFIX.starts_with(&self.begun) {
            return None;
        }
        self.begun = Vec::new();
        Some(false)
    }

    /// Cuts what follows.
    pub fn cut(&mut self, bytes: &[u8]) -> Result<Cut, (Cut, BadLength)> {
        let mut cut = Cut::default();
        self.begun.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let rest = self.begun.get(at..).unwrap_or_default();
            let Some(length) = rest.first_chunk().map(|length| usize::from(u16::from_be_bytes(*length)))
            else {
                break;
            };
            if length < LENGTH {
                self.begun = Vec::new();
                return Err((cut, BadLength));
            }
            let Some(message) = rest.get(LENGTH..length) else { break };
            match message {
                [0xff] | [0, 0, 0, 0, ..] => {}
                [_, _, _, _, ..] => cut.esp.push(message.to_vec()),
                _ => cut.short += 1,
            }
            at += length;
        }
        self.begun.drain(..at);
        self.begun.shrink_to_fit();
        Ok(cut)
    }

    pub fn clear(&mut self) {
        self.begun = Vec::new();
    }
}
