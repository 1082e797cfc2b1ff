// SPDX-License-Identifier: Apache-2.0
//! Which other ends policies name, whether or not there are SAs for them.

use std::net::IpAddr;

use ace_ipsec::Shard;

use super::Xfrm;
use super::database::OUT;

impl Xfrm {
    /// Of the templates of outbound policies whose packets find no SA: a trap that waits for its first packet wants nobody.
    pub fn wanted(&self, plane: &Shard) -> impl Iterator<Item = IpAddr> {
        let outbound = self.database.policies.iter().filter(|(key, _)| key.way == OUT);
        let wanting = outbound.filter(|(_, policy)| policy.rule.is_some_and(|rule| plane.is_wanting(rule)));
        wanting.filter_map(|(_, policy)| policy.wants?.destination)
    }
}
