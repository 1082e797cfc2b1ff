// SPDX-License-Identifier: Apache-2.0
//! Which other ends policies name, whether or not there are SAs for them.

use std::net::IpAddr;

use super::Xfrm;
use super::database::OUT;

impl Xfrm {
    /// Of the templates of outbound policies.
    pub fn wanted(&self) -> impl Iterator<Item = IpAddr> {
        let outbound = self.database.policies.iter().filter(|(key, _)| key.way == OUT);
        outbound.filter_map(|(_, policy)| policy.wants?.destination)
    }
}
