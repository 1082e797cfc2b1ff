// SPDX-License-Identifier: Apache-2.0
//! The first lines of the page: what the paper claims, and what of it stands.

use super::{Study, vpn};
use crate::marks::{Opening, range};

pub fn opening(study: &Study) -> Opening {
    let Study { table2, cascade, paper, figure7, port, sealing, ttcp_paper, ttcp, related, .. } = study;
    let unrolled = || table2.iter().filter(|row| !row.pipelined);
    let published =
        |least: u64| unrolled().filter_map(move |row| row.paper.as_ref().filter(|p| p.rounds >= least));
    let won = |protocol: &str| {
        range(ttcp_paper.iter().filter(|t| t.protocol == protocol).map(vpn::Throughput::won), 0)
    };
    let predicted = |protocol: &str| {
        range(ttcp.predicted.iter().filter(|p| p.protocol == protocol).map(|p| p.won_percent), 1)
    };
    let mut holds = vec![format!(
        "rounds between registers hardly change throughput: ours has {} Mb/s with 1 to 16 of them, the paper's {} with 2 to 16.",
        range(unrolled().map(|row| row.mbps), 0),
        range(published(2).map(|p| p.mbps), 0)
    )];
    if let Some(c) = cascade {
        holds.push(format!(
            "three cores in cascade reach {:.1} Mb/s in whole clocks of {:.0} MHz, more than the paper's {}.",
            c.mbps, c.machine_mhz, paper.mbps
        ));
    }
    holds.push(format!(
        "the interface is no bottleneck in reading: a moment that is computed hides {} % of it. It has {} LUT4.",
        range(study.goals.iter().filter(|g| g.what.starts_with("reading")).filter_map(|g| g.figure), 1),
        port.lut4
    ));
    holds.push(format!(
        "the paper's accelerator on its machine, with no figure of Table 4 in the model, wins {} % in TCP (paper: {} %).",
        predicted("TCP"),
        won("TCP")
    ));
    let ours = table2.iter().map(|row| row.mbps).fold(0.0, f64::max);
    let ahead: Vec<&str> =
        related.iter().filter(|r| !r.is_triple() && r.mbps > ours).map(|r| r.name.as_str()).collect();
    let kinds = |machine: &str| {
        range(
            ttcp.replays
                .replayed
                .iter()
                .filter(|r| r.machine.starts_with(machine))
                .filter_map(vpn::Replayed::share),
            1,
        )
    };
    let fails = vec![
        format!("in UDP the same model wins {} %, where the paper has {} %.", predicted("UDP"), won("UDP")),
        format!(
            "{} Mb/s do not come out of whole clocks: a word takes {:.0} clocks of {:.0} MHz, which is {:.1} Mb/s.",
            paper.mbps,
            paper.clocks(),
            paper.machine_mhz,
            paper.whole_mbps()
        ),
        format!(
            "Figure 7: of three fits of one cost {} meets both statements of the text.",
            match figure7.both() {
                0 => "none".to_owned(),
                1 => "one".to_owned(),
                n => n.to_string(),
            }
        ),
        format!(
            "our fastest DES, {ours:.0} Mb/s on a part of today, is {}.",
            if ahead.is_empty() { "ahead of all rows of 1997 to 2002".into() } else { format!("behind {}", ahead.join(" and ")) }
        ),
        format!(
            "half of the time is not encryption there; in our data plane {:.1} % is (portable software), so what an accelerator may win \
             is another question. Processor and board together have {} % of the better one alone on this machine, {} % on a P-III.",
            100.0 * sealing.alpha[1],
            kinds("this machine"),
            kinds("P-III")
        ),
        "there is no kernel module. The data plane and OpenSSL's provider are in user space, and no accelerator is behind the provider."
            .into(),
    ];
    Opening {
        claimed: vec![format!(
            "DES does about 400 Mb/s with 2 to 16 rounds between registers. Three cores of sixteen in cascade are triple DES in CBC at {} \
             Mb/s, three times the software. A VPN gains {} % in TCP and {} % in UDP.",
            paper.mbps,
            won("TCP"),
            won("UDP")
        )],
        built: vec![
            "the DES core with 1 to 16 rounds in a clock and with sixteen pipelined rounds, the cascade, and the interface of 248 words \
             with raw keys, all as RTL, placed and routed."
                .into(),
            "two gateways with the paper's suite, measured with and without IPsec, recorded, and replayed with processor, board and both."
                .into(),
        ],
        holds,
        fails,
        fitted: vec![
            "Figure 7 alone: what a call or a block costs the paper's host, one cost from one point. Table 4's prediction uses the first \
             of these fits."
                .into(),
        ],
    }
}
