// SPDX-License-Identifier: Apache-2.0
//! Who computes a packet, by what it has cost lately: wall time alone, a pure function of figures and the time. A board
//! that is simulated costs what its simulation takes; modelled time never comes here.

use std::collections::HashMap;
use std::time::Duration;

use ace_engine::{Need, Operation};
use serde::{Deserialize, Serialize};

/// How much cheaper the other one has to be before a class of packets changes over.
const CLEARLY: f64 = 1.25;
/// Whoever does not compute a class is asked again when it would cost at most one part in so many of the time.
const PROBES: f64 = 100.0;
/// Weight of what was measured last.
const LAST: f64 = 0.25;

/// Packets that cost about the same: what they need, and the power of two that their length has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    needs: (Need, Option<Need>),
    bin: u32,
}

impl Class {
    pub fn of(operation: &Operation) -> Self {
        Self {
            needs: operation.action.needs(),
            bin: operation.buffer.len().checked_ilog2().unwrap_or_default(),
        }
    }

    pub fn needs(&self) -> (Need, Option<Need>) {
        self.needs
    }
}

/// Where packets of a class are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// This processor.
    #[default]
    Cpu,
    /// The board.
    Board,
}

/// Who computes a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Cpu,
    Board,
    /// This processor; the board gets a copy, of which only the time counts. No packet waits for a measurement.
    CpuAndMeasure,
}

/// What is known of one class; nanoseconds of wall time for a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    cpu: Option<f64>,
    board: Option<f64>,
    /// Where packets go, chosen or not.
    at: Place,
    /// When the one that does not compute was asked last.
    probed: Option<Duration>,
    /// The board has failed this class: where there is a choice it is not asked again.
    barred: bool,
    by_cpu: u64,
    by_board: u64,
}

/// A class as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CostView {
    /// What packets of the class need, as [`Need`] is written; two needs with a comma between them.
    pub operation: String,
    /// Packets of at least so many bytes, and less than twice as many.
    pub bytes: u64,
    /// Nanoseconds of wall time for a packet here, averaged over the last ones; `None`: never measured.
    pub cpu_ns: Option<f64>,
    /// Nanoseconds of wall time for a packet on the board, by the same rule.
    pub board_ns: Option<f64>,
    /// Where packets of the class go now.
    pub at: Place,
    /// The board failed the class, and gets no more of it.
    pub barred: bool,
    /// Packets that this processor computed.
    pub by_cpu: u64,
    /// Packets that the board computed.
    pub by_board: u64,
}

/// Every class that was met.
#[derive(Debug, Default)]
pub struct Costs {
    rows: Vec<(Class, Figures)>,
    places: HashMap<Class, usize>,
    last: usize,
}

impl Costs {
    /// The place of a class. Packets of one kind follow each other, so the last one is tried first.
    pub fn row(&mut self, class: Class) -> usize {
        if self.rows.get(self.last).is_none_or(|(last, _)| *last != class) {
            self.last = *self.places.entry(class).or_insert_with(|| {
                self.rows.push((class, Figures::default()));
                self.rows.len() - 1
            });
        }
        self.last
    }

    /// Who computes the next packet of a class. `waiting`: packets that wait for the board.
    pub fn choose(&mut self, row: usize, now: Duration, waiting: usize) -> Choice {
        self.rows.get_mut(row).map_or(Choice::Cpu, |(_, figures)| decide(figures, now, waiting))
    }

    /// Counts a packet that was given to somebody.
    pub fn count(&mut self, row: usize, place: Place) {
        let Some((_, figures)) = self.rows.get_mut(row) else { return };
        match place {
            Place::Cpu => figures.by_cpu += 1,
            Place::Board => figures.by_board += 1,
        }
    }

    /// Nothing is chosen for this class: there is one place for its packets.
    pub fn settle(&mut self, row: usize, place: Place) {
        if let Some((_, figures)) = self.rows.get_mut(row) {
            figures.at = place;
        }
    }

    pub fn knows_cpu(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|(_, figures)| figures.cpu.is_some())
    }

    /// A packet of a class took so many nanoseconds.
    pub fn measured(&mut self, row: usize, place: Place, ns: f64) {
        let Some((_, figures)) = self.rows.get_mut(row) else { return };
        let known = match place {
            Place::Cpu => &mut figures.cpu,
            Place::Board => &mut figures.board,
        };
        *known = Some(known.map_or(ns, |known| known + (ns - known) * LAST));
    }

    /// The board cannot do it after all.
    pub fn bar(&mut self, row: usize) {
        if let Some((_, figures)) = self.rows.get_mut(row) {
            figures.barred = true;
        }
    }

    /// The board is another one: what is known of it says nothing.
    pub fn forget_board(&mut self) {
        for (_, figures) in &mut self.rows {
            (figures.board, figures.barred, figures.at, figures.probed) = (None, false, Place::Cpu, None);
        }
    }

    pub fn view(&self) -> Vec<CostView> {
        let one = |(class, figures): &(Class, Figures)| CostView {
            operation: match class.needs {
                (first, Some(second)) => format!("{first}, {second}"),
                (only, None) => only.to_string(),
            },
            bytes: 1 << class.bin,
            cpu_ns: figures.cpu,
            board_ns: figures.board,
            at: figures.at,
            barred: figures.barred,
            by_cpu: figures.by_cpu,
            by_board: figures.by_board,
        };
        self.rows.iter().map(one).collect()
    }
}

fn decide(figures: &mut Figures, now: Duration, waiting: usize) -> Choice {
    // First it is known what this processor takes.
    let Some(cpu) = figures.cpu.filter(|_| !figures.barred) else {
        figures.at = Place::Cpu;
        return Choice::Cpu;
    };
    let due = |cost: f64| {
        figures.probed.is_none_or(|last| now.saturating_sub(last).as_nanos() as f64 >= cost * PROBES)
    };
    let Some(board) = figures.board else {
        // One at a time: whoever has no figure yet has not answered yet.
        if figures.probed.is_some() || waiting > 0 {
            return Choice::Cpu;
        }
        figures.probed = Some(now);
        return Choice::CpuAndMeasure;
    };
    let there = board * (waiting + 1) as f64;
    match figures.at {
        Place::Cpu if there * CLEARLY < cpu => figures.at = Place::Board,
        Place::Board if cpu * CLEARLY < there => figures.at = Place::Cpu,
        _ => {}
    }
    let (choice, other, cost) = match figures.at {
        Place::Cpu => (Choice::Cpu, Choice::CpuAndMeasure, board),
        Place::Board => (Choice::Board, Choice::Cpu, cpu),
    };
    // A board that works is measured anyway.
    if due(cost) && (figures.at == Place::Board || waiting == 0) {
        figures.probed = Some(now);
        return other;
    }
    choice
}

#[cfg(test)]
mod tests {
    use ace_engine::algorithm::AES;
    use ace_engine::{Direction, Key, Mode};

    use super::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn class(bytes: usize) -> Class {
        let key = Key::cipher(&AES, Mode::Cbc, &[1; 16]).expect("a key");
        let text = vec![0; bytes];
        Class::of(&Operation::cipher(key, Direction::Encrypt, &[2; 16], &text).expect("an operation"))
    }

    fn known(cpu: f64, board: f64) -> (Costs, usize) {
        let mut costs = Costs::default();
        let row = costs.row(class(64));
        costs.measured(row, Place::Cpu, cpu);
        assert_eq!(costs.choose(row, at(0), 0), Choice::CpuAndMeasure, "the board is asked once");
        assert_eq!(costs.choose(row, at(0), 1), Choice::Cpu, "and not again before it has answered");
        costs.measured(row, Place::Board, board);
        (costs, row)
    }

    #[test]
    fn lengths_that_cost_about_the_same_are_one_class() {
        let mut costs = Costs::default();
        let rows = [64, 80, 112, 128, 1424, 64].map(|bytes| costs.row(class(bytes)));
        assert_eq!(rows, [0, 0, 0, 1, 2, 0]);
    }

    #[test]
    fn nothing_is_decided_before_the_processor_is_known() {
        let mut costs = Costs::default();
        let row = costs.row(class(64));
        assert!((0..9).all(|ms| costs.choose(row, at(ms), 0) == Choice::Cpu));
    }

    #[test]
    fn a_slow_board_is_asked_for_a_hundredth_of_the_time() {
        // A simulation: a millisecond, where the processor takes a microsecond.
        let (mut costs, row) = known(1e3, 1e6);
        let asked = (1..=1000).filter(|ms| costs.choose(row, at(*ms), 0) == Choice::CpuAndMeasure).count();
        assert_eq!(asked, 10, "ten milliseconds of a second");
        assert!((1000..3000).all(|ms| costs.choose(row, at(ms), 1) == Choice::Cpu), "never when it is busy");
    }

    #[test]
    fn a_fast_board_takes_over_until_its_queue_costs_more() {
        let (mut costs, row) = known(20e3, 2e3);
        assert_eq!(costs.choose(row, at(1), 0), Choice::Board);
        // The processor is asked now and then as well.
        let asked = (1..=100).filter(|ms| costs.choose(row, at(*ms), 1) == Choice::Cpu).count();
        assert!((45..=55).contains(&asked), "{asked}: each takes 20 us, two milliseconds are between them");
        let changes = (0..40).map(|waiting| costs.choose(row, at(101), waiting)).collect::<Vec<_>>();
        assert!(changes[..12].iter().filter(|place| **place == Choice::Board).count() >= 11, "{changes:?}");
        assert!(changes[14..].iter().all(|place| *place == Choice::Cpu), "{changes:?}");
    }

    #[test]
    fn about_as_cheap_changes_nothing() {
        for (cpu, board) in [(1000.0, 900.0), (1000.0, 1100.0)] {
            let (mut costs, row) = known(cpu, board);
            let at_board =
                (0..1000).filter(|us| costs.choose(row, Duration::from_micros(*us), 0) == Choice::Board);
            assert_eq!(at_board.count(), 0);
        }
    }

    #[test]
    fn a_board_that_fails_is_left_alone_until_it_is_another_one() {
        let (mut costs, row) = known(20e3, 2e3);
        costs.bar(row);
        assert!((0..1000).all(|ms| costs.choose(row, at(ms), 0) == Choice::Cpu));
        costs.forget_board();
        assert_eq!(costs.choose(row, at(1000), 0), Choice::CpuAndMeasure);
    }
}
