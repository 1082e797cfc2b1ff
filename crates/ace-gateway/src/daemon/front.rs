// SPDX-License-Identifier: Apache-2.0
//! What moves packets: one lane in the thread that does all else, or several, each in its own.

use std::time::Duration;

use ace_config::SaFile;
use serde_json::{Value, json};

use super::crew::Crew;
use super::lane::Lane;
use crate::core::{CoreError, Reloaded, SaView};

pub enum Front {
    One(Box<Lane>),
    Crew(Crew),
}

impl Front {
    /// Where there is but one core.
    pub fn lane(&mut self) -> Option<&mut Lane> {
        match self {
            Front::One(lane) => Some(lane),
            Front::Crew(_) => None,
        }
    }

    pub fn load(&mut self, now: Duration, file: &SaFile) -> Result<Reloaded, CoreError> {
        match self {
            Front::One(lane) => lane.core.load(now, file),
            Front::Crew(crew) => crew.load(now, file),
        }
    }

    pub fn sas(&self) -> Vec<SaView> {
        match self {
            Front::One(lane) => lane.core.sas(),
            Front::Crew(crew) => crew.sas(),
        }
    }

    pub fn sa_count(&self) -> usize {
        match self {
            Front::One(lane) => lane.core.sa_count(),
            Front::Crew(crew) => crew.sa_count(),
        }
    }

    pub fn figures(&self) -> Value {
        match self {
            Front::One(lane) => {
                let mut all = figures(lane);
                if let Value::Object(all) = &mut all {
                    all.insert("peers".to_owned(), json!(lane.core.peers()));
                }
                all
            }
            Front::Crew(crew) => crew.figures(),
        }
    }

    pub fn poll_event(&mut self) -> Option<String> {
        match self {
            Front::One(lane) => lane.core.poll_event(),
            Front::Crew(crew) => crew.poll_event(),
        }
    }

    /// What was taken is sent.
    pub fn finish(&mut self, now: Duration) {
        match self {
            Front::One(lane) => {
                lane.core.finish(now);
                lane.send(now);
            }
            Front::Crew(crew) => crew.stop(),
        }
    }
}

/// What a lane counts, for `status`.
pub fn figures(lane: &Lane) -> Value {
    json!({
        "engine": lane.core.engine_name(),
        "packets": lane.core.packets(),
        "gateway": lane.core.counters(),
        "losses": lane.losses,
    })
}

/// Numbers are added, one by one; of all else the first is as good as any.
pub fn sum(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => (a.as_u64().unwrap_or(0) + b.as_u64().unwrap_or(0)).into(),
        (Value::Object(mut a), Value::Object(b)) => {
            for (key, value) in b {
                let before = a.remove(&key);
                a.insert(key, before.map_or(value.clone(), |before| sum(before, value)));
            }
            Value::Object(a)
        }
        (a, _) => a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_added() {
        let (a, b) =
            (json!({"a": 1, "b": {"c": 2}, "e": "cpu"}), json!({"a": 3, "b": {"c": 4, "d": 5}, "e": "cpu"}));
        assert_eq!(sum(a, b), json!({"a": 4, "b": {"c": 6, "d": 5}, "e": "cpu"}));
    }
}
