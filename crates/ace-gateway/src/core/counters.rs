// SPDX-License-Identifier: Apache-2.0
//! What the gateway itself counts.

use crate::counted::counted;

counted! {
    /// What the gateway itself counts; packets are counted by the data plane.
    Counters {
        /// Keepalives (RFC 3948, 2.3) to peers that nothing else was sent to.
        keepalives_sent,
        /// Keepalives of peers; nothing else comes of them.
        keepalives_received,
        /// Datagrams that are IKE's (RFC 3948, 2.2), for which there is nobody here.
        ike_ignored,
        /// Datagrams too short to be anything.
        datagrams_malformed,
        /// ESP in UDP with an SPI that no inbound SA has.
        datagrams_unknown_spi,
        /// Protected packets for an end that no peer is known for.
        no_peer,
        /// Clear packets that no rule protects.
        clear_dropped,
        /// Endpoints that moved behind two authentic packets.
        endpoint_moves,
        /// ICMP errors, and words of our own kernel, behind which an SA's packets are shorter.
        path_mtu_lowered,
        /// ICMP errors about packets that no SA here sent lately, or that said nothing new.
        path_mtu_ignored,
        /// Ends to which long packets were swallowed while short ones were answered.
        path_mtu_swallowed,
        /// ICMP errors to the inside, about packets that are too long for their SA's way.
        too_big_answered,
        /// Packets that the engine gave up without a word.
        engine_lost,
    }
}
