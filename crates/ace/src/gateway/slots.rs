// SPDX-License-Identifier: Apache-2.0
//! `ace gateway slots`: what slots hold and have done, how the cable to them is, and who computes what.

use ace_gateway::engines::{BoardView, CostView, LinkView, Place, View};
use ace_report::{Page, say};

/// What is to be said of a board, and of whoever computes beside it.
pub fn slots(page: &mut Page, answer: &View) {
    let Some(board) = &answer.board else {
        say!(page, "This gateway has no board: `kind` of [engine] is \"cpu\".");
        return;
    };
    let library = board.library.as_deref().unwrap_or("none");
    match &board.link {
        None => {
            let (policy, seconds) = (&board.policy, board.modelled_seconds);
            say!(page, "Library: {library}. Policy: {policy}. Modelled time: {seconds:.6} s.\n");
            simulated(page, board);
        }
        Some(link) => {
            say!(page, "Library: {library}. The board is behind {}.\n", link.interface);
            behind_a_cable(page, board, link);
        }
    }
    for one in &board.configurations {
        if let Some(why) = &one.refused {
            say!(page, "\n{} is not loaded any more: {why}", one.name);
        }
    }
    if !answer.costs.is_empty() {
        costs(page, &answer.costs);
    }
    let sum = |of: fn(&CostView) -> u64| answer.costs.iter().map(of).sum::<u64>();
    if sum(|cost| cost.by_cpu) > 0 && sum(|cost| cost.by_board) == 0 {
        say!(page, "\n{ALL_CPU}");
    }
    say!(page);
    for (what, count) in [
        ("taken over", answer.taken_over),
        ("spilled", answer.spilled),
        ("refused", answer.refused),
        ("switched", answer.switched),
    ] {
        if count > 0 {
            say!(page, "{what}: {count}");
        }
    }
    if answer.board_lost {
        say!(page, "board lost: true");
    }
    if let Some(why) = &answer.board_fails {
        say!(page, "every operation on the board has failed so far: {why}");
    }
}

/// There is a board, and it has computed nothing.
const ALL_CPU: &str = "Everything was computed by the CPU so far.";

/// Slots whose times are modelled.
fn simulated(page: &mut Page, board: &BoardView) {
    say!(
        page,
        "| slot | kind | holds | has held | loads | operations | executing, modelled s | loading, modelled s |"
    );
    say!(page, "|---|---|---|---|--:|--:|--:|--:|");
    for slot in &board.slots {
        say!(
            page,
            "| {} | {} | {} | {} | {} | {} | {:.6} | {:.6} |",
            slot.name,
            slot.kind,
            slot.resident.as_deref().unwrap_or("nothing"),
            slot.loaded.join(", "),
            slot.loads,
            slot.operations,
            slot.modelled_execute_seconds,
            slot.modelled_load_seconds
        );
    }
}

/// Slots whose times nobody models, and the way to them.
fn behind_a_cable(page: &mut Page, board: &BoardView, link: &LinkView) {
    say!(page, "| slot | kind | holds | has held | loads | by name | operations |");
    say!(page, "|---|---|---|---|--:|--:|--:|");
    for slot in &board.slots {
        let holds = slot.resident.as_deref().unwrap_or("nothing");
        let (name, kind, had) = (&slot.name, &slot.kind, slot.loaded.join(", "));
        let (loads, by_name, operations) = (slot.loads, slot.loads_by_name, slot.operations);
        say!(page, "| {name} | {kind} | {holds} | {had} | {loads} | {by_name} | {operations} |");
    }
    say!(page, "\n| link | |\n|---|--:|");
    say!(page, "| session | {} |", link.loss.as_deref().unwrap_or("open"));
    let trip = link.round_trip_seconds.map_or_else(String::new, |trip| format!("{:.1} us", trip * 1e6));
    say!(page, "| round trip | {trip} |");
    for (what, count) in [
        ("operations with a result", board.completed),
        ("operations that failed", board.failed),
        ("loads over the cable", link.loads_by_cable),
        ("loads by name", link.loads_by_name),
        ("loads by name that the store did not have", link.refused_recalls),
        ("loads that were refused", board.refused_loads),
        ("words of the store", link.store_words),
        ("words of it that sets have", link.store_filled),
        ("sessions lost", link.sessions_lost),
        ("sessions begun anew, which empties banks", link.sessions_renewed),
        ("keys sent", link.keys),
        ("slots' frames sent", link.frames),
        ("sent again", link.resent),
        ("data that came back stale", link.stale),
        ("frames that belonged to nothing", link.strange),
    ] {
        say!(page, "| {what} | {count} |");
    }
}

fn costs(page: &mut Page, costs: &[CostView]) {
    say!(page, "\nWho computes, by wall time for a packet:\n");
    say!(page, "| operation | bytes from | processor us | board us | now | by processor | by board |");
    say!(page, "|---|--:|--:|--:|---|--:|--:|");
    let micros = |ns: Option<f64>| ns.map_or_else(String::new, |ns| format!("{:.2}", ns / 1e3));
    for cost in costs {
        let at = if cost.at == Place::Board { "board" } else { "cpu" };
        let now = if cost.barred { format!("{at} (the board failed)") } else { at.to_owned() };
        say!(
            page,
            "| {} | {} | {} | {} | {now} | {} | {} |",
            cost.operation,
            cost.bytes,
            micros(cost.cpu_ns),
            micros(cost.board_ns),
            cost.by_cpu,
            cost.by_board
        );
    }
}

#[cfg(test)]
mod tests {
    use ace_gateway::engines::SlotView;
    use ace_report::Style;

    use super::*;

    fn text(view: &View) -> String {
        let mut page = Page::new();
        slots(&mut page, view);
        page.render(Style::Md)
    }

    fn costs_of(by_cpu: &[u64], by_board: &[u64]) -> View {
        let cost = |(by_cpu, by_board): (&u64, &u64)| CostView {
            by_cpu: *by_cpu,
            by_board: *by_board,
            ..CostView::default()
        };
        let costs = by_cpu.iter().zip(by_board).map(cost).collect();
        View { board: Some(BoardView::default()), costs, ..View::default() }
    }

    #[test]
    fn it_says_when_all_was_the_cpu_and_only_then() {
        for (by_cpu, by_board, all) in [
            (&[3, 0][..], &[0, 0][..], true),
            // Something else went to the board.
            (&[3, 0], &[0, 1], false),
            (&[3], &[1], false),
            (&[0], &[5], false),
            // Nothing was computed by anybody.
            (&[0, 0], &[0, 0], false),
            (&[], &[], false),
        ] {
            let text = text(&costs_of(by_cpu, by_board));
            assert_eq!(text.contains(ALL_CPU), all, "{by_cpu:?} {by_board:?}: {text}");
        }
        assert!(!text(&View::default()).contains(ALL_CPU), "there is no board");
    }

    #[test]
    fn a_board_behind_a_cable_has_no_modelled_time_and_says_what_became_of_its_sessions() {
        let slot = SlotView {
            loads: 2,
            loads_by_name: 1,
            operations: 17,
            loaded: vec!["des".to_owned()],
            ..SlotView::default()
        };
        let link = LinkView {
            interface: "eth1".to_owned(),
            sessions_lost: 3,
            sessions_renewed: 4,
            resent: 5,
            loads_by_cable: 6,
            loads_by_name: 7,
            store_filled: 8,
            round_trip_seconds: Some(0.000_25),
            ..LinkView::default()
        };
        let mut view = costs_of(&[], &[]);
        let Some(board) = &mut view.board else { panic!("it has one") };
        (board.slots, board.link) = (vec![slot], Some(link));
        let all = text(&view);
        assert!(!all.contains("odelled"), "{all}");
        for row in [
            "des | 2 | 1 | 17 |",
            "loads over the cable | 6 |",
            "loads by name | 7 |",
            "sets have | 8 |",
            "behind eth1",
            "| open |",
            "250.0 us",
            "lost | 3 |",
            "banks | 4 |",
            "again | 5 |",
        ] {
            assert!(all.contains(row), "{row}: {all}");
        }
        let Some(board) = &mut view.board else { panic!("it has one") };
        if let Some(link) = &mut board.link {
            link.loss = Some("the board does not answer".to_owned());
        }
        assert!(text(&view).contains("the board does not answer"));
        view.board = Some(BoardView::default());
        assert!(text(&view).contains("executing, modelled s"));
    }
}
