// SPDX-License-Identifier: Apache-2.0
//! What of an SA this gateway can do, whether the SA stands in a file or comes by XFRM.

use ace_config::gateway::{Encapsulation, GatewayConfig};

use super::boundary::Settings;
use super::interfaces::Interfaces;

/// How the gateway is made, as far as it matters to SAs.
#[derive(Clone, Debug)]
pub struct Can {
    /// ESP goes in UDP.
    pub udp: bool,
    /// Devices inside.
    pub interfaces: Interfaces,
    /// Packets of an SA may carry a mark of its own.
    pub marks: bool,
}

impl Can {
    /// Of a core.
    pub fn of(settings: &Settings) -> Self {
        let Settings { encapsulation, interfaces, marks, .. } = settings;
        Self { udp: *encapsulation == Encapsulation::Udp, interfaces: interfaces.clone(), marks: *marks }
    }

    /// Of the gateway that a configuration makes.
    pub fn of_config(config: &GatewayConfig) -> Self {
        Self {
            udp: config.outside.encapsulation == Encapsulation::Udp,
            interfaces: Interfaces::of(config),
            marks: marks(config),
        }
    }
}

/// A mark takes CAP_NET_ADMIN for each packet, which whoever became another user has no more. And where the gateway's
/// packets are told from others by their mark, another one would lead them back into it.
pub fn marks(config: &GatewayConfig) -> bool {
    config.user.is_none() && config.outside.mark.is_none()
}
