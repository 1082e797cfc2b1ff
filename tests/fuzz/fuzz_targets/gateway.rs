// SPDX-License-Identifier: Apache-2.0
//! Any bytes as the text of a gateway's configuration: a configuration or errors with their line, never a panic.
#![no_main]

use ace_config::gateway::GatewayConfig;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match GatewayConfig::parse("GATEWAY.toml", text) {
        Ok(config) => {
            assert!((576..=9000).contains(&config.inside.mtu));
            assert!(!config.inside.tun.is_empty() && config.inside.tun.len() < 16);
        }
        Err(errors) => {
            assert!(!errors.0.is_empty());
            assert!(errors.0.iter().all(|error| error.starts_with("GATEWAY.toml:")));
        }
    }
});
