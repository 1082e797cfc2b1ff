// SPDX-License-Identifier: Apache-2.0
//! What SAs will need of an engine, known before the first packet.

use ace_engine::{Engine, EngineError, Need};
use ace_ipsec::SaSpec;

/// What the engine cannot do, a sentence for each SA that needs it.
pub fn missing(sas: &[SaSpec], engine: &dyn Engine) -> Vec<String> {
    let can = engine.capabilities();
    let of = |sa: &SaSpec| {
        let lacking: Vec<Need> = sa.needs().into_iter().filter(|need| !can.can(need)).collect();
        let name = sa.name.clone();
        let why = |need| format!("SA {name}: {}", engine.explain(&EngineError::NoConfiguration { need }));
        lacking.into_iter().map(why).collect::<Vec<_>>()
    };
    sas.iter().flat_map(of).collect()
}
