// SPDX-License-Identifier: Apache-2.0
//! Why packets are dropped, and how many were: per security association and over all.

use std::fmt;
use std::ops::AddAssign;

use serde::ser::{Serialize, SerializeMap, Serializer};

macro_rules! causes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $sentence:literal;)*) => {
        /// Why a packet was dropped. The names ([`Cause::name`]) are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Cause { $($(#[$doc])* $variant,)* }

        impl Cause {
            /// Every cause, in the order of listings.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant,)*];

            /// The stable name, in snake case: what reports and JSON use.
            pub fn name(self) -> &'static str {
                match self { $(Cause::$variant => $name,)* }
            }
        }

        impl fmt::Display for Cause {
            /// One sentence for people.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Cause::$variant => $sentence,)* })
            }
        }
    };
}

causes! {
    /// Version, header length or total length do not fit the bytes.
    MalformedPacket "malformed_packet" "not a whole IPv4 or IPv6 packet";
    /// Only packets that end here (ESP for one of our SAs) are checked.
    BadIpChecksum "bad_ip_checksum" "the IPv4 header checksum is wrong";
    /// Nothing matches and the default policy is `discard`.
    PolicyDiscard "policy_discard" "no security association matches and the default policy is discard";
    /// RFC 4301, 4.4.1: a rule stands without its SA.
    NoSa "no_sa" "the packet has to be protected and there is no security association for it";
    /// RFC 4301, 5.2: what an inbound SA covers must not arrive in clear.
    Unprotected "unprotected" "the packet arrived in clear though an inbound security association covers it";
    /// ESP for one of our addresses with an SPI we do not know.
    UnknownSpi "unknown_spi" "no inbound security association has this destination and SPI";
    /// Reassembly comes before ESP and AH: whoever gives packets to the data plane does it, or nobody.
    EspFragment "esp_fragment" "an ESP or AH packet arrived as an IP fragment";
    /// A selector with protocol or ports cannot be decided for this packet; it might have to be protected.
    PortsUnknown "ports_unknown" "the selector names a protocol or ports and the packet does not show them";
    /// RFC 4303, 3.3.4: transport mode takes whole datagrams only.
    Fragment "fragment" "transport mode does not protect IP fragments";
    /// RFC 4303, 3.3.3: the sequence number never wraps.
    SequenceExhausted "sequence_exhausted" "the sequence numbers of the security association are used up";
    /// A number is used when it is written down that it may be (docs/gateway-security.md, "What outlives it").
    SequenceWithheld "sequence_withheld" "that its sequence number is used could not be written down";
    /// A hard limit of bytes, packets or seconds.
    LifetimeExceeded "lifetime_exceeded" "the hard lifetime of the security association is over";
    /// An IP packet has at most 65535 bytes; an IPv6 one so many behind its header.
    TooBig "too_big" "the protected packet would be longer than an IP packet can be";
    /// RFC 4301, 8.2: whoever sent it has to hear of it.
    PathMtu "path_mtu" "the protected packet is too long for the way to the other end and must not be fragmented";
    /// [`IvError`](crate::IvError): nothing is sent with an IV that may be guessed.
    IvUnavailable "iv_unavailable" "no randomness for an initialisation vector";
    /// No configuration computes what the SA needs.
    NoConfiguration "no_configuration" "no configuration computes what the security association needs";
    /// The configuration exists and was refused or could not be loaded.
    LoadFailed "load_failed" "the configuration that the packet needed could not be loaded";
    /// The slot or engine answered with an error, or not at all, or with a result of the wrong length.
    EngineFailed "engine_failed" "the engine did not deliver a result";
    /// More waits for the engine than it takes.
    Overload "overload" "the queue of the engine is full";
    /// An SA's packets have at least what its suite always needs (RFC 4303, 2).
    EspTooShort "esp_too_short" "the ESP packet is shorter than header, IV, trailer and ICV";
    /// RFC 4302, 2.2: the length field has one value for a suite. Options in front must fit their header.
    BadAh "bad_ah" "the AH header does not have the length of the suite, or what is in front of it is wrong";
    /// RFC 4302, 3.3.3.1: the ICV covers the destination at which the packet arrives.
    SourceRoute "source_route" "AH does not protect packets whose source route is not at its end";
    /// The ciphertext is not whole blocks.
    BadLength "bad_length" "the encrypted part is not a whole number of cipher blocks";
    /// Sequence number 0 is never sent.
    SequenceZero "sequence_zero" "the sequence number is zero";
    /// RFC 4303, 3.4.3: the number is in the replay window and marked as seen.
    Replayed "replayed" "a packet with this sequence number was received before";
    /// To the left of the replay window.
    TooOld "too_old" "the sequence number is to the left of the replay window";
    /// RFC 4303, 3.4.4.1, and RFC 4302, 3.4.4: the packet was changed, or sealed with another key.
    IcvMismatch "icv_mismatch" "the integrity check value is wrong";
    /// RFC 4303, 2.4: 1, 2, 3, …
    BadPadding "bad_padding" "the padding is not 1, 2, 3, … or longer than the packet";
    /// Tunnel mode carries IPv4 and IPv6 only.
    WrongNextHeader "wrong_next_header" "a tunnel carries something that is not an IP packet";
    /// RFC 4303, 2.6: next header 59.
    Dummy "dummy" "a dummy packet, sent to hide traffic";
    /// A tunnel carried what is cut off or malformed.
    BadInnerPacket "bad_inner_packet" "the decrypted packet is not a whole IP packet";
    /// RFC 4301, 5.2: selectors are checked again after decryption.
    SelectorMismatch "selector_mismatch" "the decrypted packet does not match the selector";
    /// RFC 6040, 4.2: congestion was signalled on a packet whose sender would not understand it.
    Congestion "congestion" "congestion was marked on a packet that cannot carry the mark";
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Dropped packets by cause. Serialises as a map of the causes that occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drops([u64; Cause::ALL.len()]);

impl Default for Drops {
    fn default() -> Self {
        Self([0; Cause::ALL.len()])
    }
}

impl Drops {
    /// Packets dropped for this cause.
    pub fn get(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    /// Packets dropped, whatever the cause.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The causes that occurred, in the order of [`Cause::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Cause, u64)> + '_ {
        Cause::ALL.iter().map(|&cause| (cause, self.get(cause))).filter(|&(_, count)| count > 0)
    }

    pub(crate) fn count(&mut self, cause: Cause) {
        self.0[cause as usize] += 1;
    }
}

impl FromIterator<(Cause, u64)> for Drops {
    fn from_iter<I: IntoIterator<Item = (Cause, u64)>>(counted: I) -> Self {
        let mut drops = Self::default();
        counted.into_iter().for_each(|(cause, count)| drops.0[cause as usize] += count);
        drops
    }
}

impl AddAssign<&Drops> for Drops {
    fn add_assign(&mut self, other: &Drops) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, more)| *sum += more);
    }
}

impl Serialize for Drops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (cause, count) in self.iter() {
            map.serialize_entry(cause.name(), &count)?;
        }
        map.end()
    }
}

/// Packets and their bytes (whole IP packets).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// Number of packets.
    pub packets: u64,
    /// Their bytes, from the first byte of the IP header.
    pub bytes: u64,
}

impl Traffic {
    pub(crate) fn count(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// What the whole data plane did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// What came in.
    pub accepted: Traffic,
    /// ESP packets that left.
    pub protected: Traffic,
    /// Decapsulated packets that left.
    pub decapsulated: Traffic,
    /// Packets that left as they came.
    pub bypassed: Traffic,
    /// What was dropped, by cause.
    pub dropped: Drops,
}

/// What one security association did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SaCounters {
    /// What this SA took in.
    pub accepted: Traffic,
    /// What left: ESP of an outbound SA, decapsulated packets of an inbound one.
    pub forwarded: Traffic,
    /// What was dropped, by cause.
    pub dropped: Drops,
}
