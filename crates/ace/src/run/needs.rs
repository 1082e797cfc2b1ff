// SPDX-License-Identifier: Apache-2.0
//! What SAs will need of an engine, known before the first packet.

use ace_engine::{Aead, Direction as Way, Engine, EngineError, Mac, Need};
use ace_esp::model::CipherKind;
use ace_esp::{Direction, SaSpec};

/// What the engine cannot do, a sentence for each SA that needs it.
pub fn missing(sas: &[SaSpec], engine: &dyn Engine) -> Vec<String> {
    let can = engine.capabilities();
    let of = |sa: &SaSpec| {
        let lacking: Vec<Need> = needs(sa).into_iter().filter(|need| !can.can(need)).collect();
        let name = sa.name.clone();
        let why = |need| format!("SA {name}: {}", engine.explain(&EngineError::NoConfiguration { need }));
        lacking.into_iter().map(why).collect::<Vec<_>>()
    };
    sas.iter().flat_map(of).collect()
}

fn needs(sa: &SaSpec) -> Vec<Need> {
    let direction = if sa.direction == Direction::Out { Way::Encrypt } else { Way::Decrypt };
    let key_len = sa.cipher.key_len;
    let cipher = match sa.cipher.kind {
        CipherKind::Null => None,
        CipherKind::Block(algorithm, mode) => Some(Need::Cipher { algorithm, mode, direction, key_len }),
        CipherKind::Aead(aead) => Some(Need::Aead { aead, direction, key_len }),
        CipherKind::Gmac => Some(Need::Aead { aead: Aead::Gcm, direction, key_len }),
    };
    let mac = sa.auth.mac.map(|mac| match mac {
        Mac::Hmac(algorithm) => Need::Hmac { algorithm },
        Mac::Xcbc => Need::Xcbc,
        Mac::Cmac => Need::Cmac { key_len: sa.auth.key_len },
    });
    cipher.into_iter().chain(mac).collect()
}
