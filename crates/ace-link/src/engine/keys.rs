// SPDX-License-Identifier: Apache-2.0
//! Frames of keys that were expanded lately: to expand one takes longer than to send it.

use std::collections::HashMap;
use std::time::Duration;

use ace_board::array::Loadable;
use ace_board::frame::HMAC_KEY_MAX;
use ace_board::pass::{Pass, Task};
use ace_engine::compute;
use zeroize::Zeroizing;

/// A key that was not used for so long is expanded anew.
const UNUSED: Duration = Duration::from_secs(10);
const MOST: usize = 256;

type Frame = Zeroizing<Vec<u8>>;

/// Frames, by set and key.
#[derive(Default)]
pub struct Keys(HashMap<(usize, u64), (Duration, Frame)>);

impl Keys {
    /// The frame of the key of a task, for a set. `None` if the set's source expands no such key.
    pub fn frame(
        &mut self,
        place: (usize, u64),
        set: &mut Loadable,
        task: &Task,
        now: Duration,
    ) -> Option<Frame> {
        if let Some((used, frame)) = self.0.get_mut(&place) {
            *used = now;
            return Some(frame.clone());
        }
        let frame = set.key(&secret(task)?)?;
        self.0.retain(|_, (used, _)| now < *used + UNUSED);
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(place, (now, frame.clone()));
        Some(frame)
    }

    /// Wipes what was not used lately.
    pub fn clean(&mut self, now: Duration) {
        self.0.retain(|_, (used, _)| now < *used + UNUSED);
    }
}

/// What a set's source expands: the key, or the digest of a long one of HMAC (RFC 2104, 3).
fn secret(task: &Task) -> Option<Zeroizing<Vec<u8>>> {
    let key = task.pass.key()?;
    match &task.pass {
        Pass::Hmac { algorithm, .. } if key.len() > HMAC_KEY_MAX => {
            compute::digest(algorithm, key.as_bytes()).ok().map(Zeroizing::new)
        }
        _ => Some(Zeroizing::new(key.as_bytes().to_vec())),
    }
}
