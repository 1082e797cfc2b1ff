// SPDX-License-Identifier: Apache-2.0
//! What stands below the help of each command: examples of it, and below that of `ace` the exit codes.

use clap::Command;

use ace_report::EXIT_CODES;

/// Examples by command. A command without one is a fault that a test finds, as is an example that is no call of its command.
/// The names of files are those that one example writes and the next one reads.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("", &["ace run in.pcap --sas sas.toml -o out.pcap --engine cpu"]),
    (
        "run",
        &[
            "ace run in.pcap --sas sas.toml -o out.pcap --engine cpu",
            "ace run in.pcap --sas sas.toml -o out.pcap --slots array --report report",
        ],
    ),
    ("array compile", &["ace array compile sm4 --variant sm4_encrypt -o sm4_encrypt.set"]),
    ("array show", &["ace array show sm4 --variant sm4_encrypt -o sm4.svg"]),
    (
        "array run",
        &["ace array run sm4 --variant sm4_encrypt --key 0123456789abcdeffedcba9876543210 \
             0123456789abcdeffedcba9876543210"],
    ),
    ("array verify", &["ace array verify sm4_encrypt --blocks 1000"]),
    ("array check", &["ace array check sm4_encrypt.set"]),
    ("array validate", &["ace array validate sm4_encrypt", "ace array validate mine.set --source mine.ace"]),
    ("array graph", &["ace array graph sm4"]),
    ("array table", &["ace array table sm4"]),
    ("array trace", &["ace array trace sm4 --variant sm4_encrypt -o sm4.trace"]),
    ("array explore", &["ace array explore des:des_encrypt --most 2"]),
    ("array build", &["ace array build sm4_encrypt -o sets", "ace array build --source mine.ace -o sets"]),
    ("array rtl", &["ace array rtl"]),
    ("kat", &["ace kat aes aes.csv --engine cpu", "ace kat aes aes.csv --slots array"]),
    ("configurations", &["ace configurations"]),
    ("inspect", &["ace inspect aes/aes.bit"]),
    ("netlist", &["ace netlist aes/aes.bit -o aes.v"]),
    ("prove", &["ace prove design.bit --rtl top.sv --top top --lpf pins.lpf"]),
    ("certificate", &["ace certificate clauses.cnf proof.lrat"]),
    ("proof base", &["ace proof base --files"]),
    ("proof records", &["ace proof records"]),
    ("rekey", &["ace rekey idea.bit --places places.json --key 00010002000300040005000600070008"]),
    ("compare", &["ace compare in.pcap back.pcap"]),
    ("bench", &["ace bench aes --seconds 0.1"]),
    ("bench dataplane", &["ace bench dataplane aes-128-gcm --seconds 0.1"]),
    ("bench crossover", &["ace bench crossover aes sha1"]),
    ("bench study", &["ace bench study --seconds 0.1"]),
    ("bench profile", &["ace bench profile --seconds 0.01"]),
    ("dispatch explain", &["ace dispatch explain --sas sas.toml"]),
    ("study ace-2000", &["ace study ace-2000 --table 1"]),
    ("study drp-2006", &["ace study drp-2006"]),
    ("study molen-2003", &["ace study molen-2003"]),
    ("study idea-2004", &["ace study idea-2004"]),
    ("study pilchard-2002", &["ace study pilchard-2002"]),
    ("study scheduling", &["ace study scheduling --quick"]),
    ("library build", &["ace library build --sets sets --library my.lib --secret my.key"]),
    ("library list", &["ace library list"]),
    ("library show", &["ace library show aes", "ace library show --sets sm4_encrypt"]),
    ("library extract", &["ace library extract aes --out ."]),
    ("library loader", &["ace library loader aes des-cbc:3des --out loader"]),
    (
        "library add",
        &["ace library add aes --configurations build/configurations --library my.lib --secret my.key"],
    ),
    ("library remove", &["ace library remove aes --library my.lib --secret my.key"]),
    ("library recode", &["ace library recode --from library/ace.lib --library my.lib --secret my.key"]),
    ("library verify", &["ace library verify"]),
    ("library prove", &["ace library prove aes"]),
    ("library stats", &["ace library stats"]),
    ("library domains", &["ace library domains"]),
    ("library rounds", &["ace library rounds"]),
    ("library keygen", &["ace library keygen my.key"]),
    ("library sign", &["ace library sign --library my.lib --secret my.key"]),
    ("library sign-file", &["ace library sign-file SHA256SUMS --secret my.key"]),
    ("library verify-file", &["ace library verify-file SHA256SUMS --key my.key.pub"]),
    ("image list", &["ace image list"]),
    ("image show", &["ace image show colorlight-i9"]),
    ("image load", &["ace image load colorlight-i9 --out i9.bit --print"]),
    ("image probe", &["ace image probe eth1"]),
    ("image sim", &["ace image sim --tap ace9"]),
    ("sas check", &["ace sas check sas.toml"]),
    ("sas mirror", &["ace sas mirror sas.toml -o other.toml"]),
    ("sas wireshark", &["ace sas wireshark sas.toml -o esp_sa"]),
    ("sas suites", &["ace sas suites"]),
    ("sas import", &["ace sas import esp_sa --local 192.0.2.1 -o imported.toml"]),
    ("gateway", &["ace gateway /etc/ace/gateway.toml"]),
    ("gateway status", &["ace gateway status", "ace gateway status --watch"]),
    ("gateway sas", &["ace gateway sas"]),
    ("gateway slots", &["ace gateway slots"]),
    ("gateway trace", &["ace gateway trace --spi 0x1001 --count 10"]),
    ("gateway library", &["ace gateway library newer.lib"]),
    ("gateway release", &["ace gateway release /etc/ace/gateway.toml"]),
    ("gateway standby", &["ace gateway standby /etc/ace/gateway.toml"]),
    ("gateway take-over", &["ace gateway take-over"]),
    ("gateway hand-over", &["ace gateway hand-over /etc/ace/gateway.toml"]),
    ("gateway alone", &["ace gateway alone --standby-is-off"]),
    ("gateway replay", &["ace gateway replay live.rec --packets 1000"]),
    ("gateway firewall", &["ace gateway firewall"]),
    ("xfrm run", &["ace xfrm run ip xfrm state list"]),
    ("new algorithm", &["ace new algorithm mine --block 16 --keys 16,32 --rounds 12"]),
    ("manual", &["ace manual /usr/local", "ace manual --commands"]),
];

/// The commands with what stands below their help.
pub fn with_examples(command: Command) -> Command {
    let codes: Vec<String> = EXIT_CODES.iter().map(|(code, what)| format!("  {code:<4} {what}")).collect();
    let command = below(command, "");
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command.after_help(format!("{examples}\n\nExit codes:\n{}", codes.join("\n")))
}

fn below(command: Command, path: &str) -> Command {
    let own = EXAMPLES.iter().find(|(of, _)| *of == path).map(|(_, lines)| *lines);
    let command = match own {
        Some(lines) => command.after_help(format!("Examples:\n  {}", lines.join("\n  "))),
        None => command,
    };
    command.mut_subcommands(|sub| {
        let own = format!("{path} {}", sub.get_name());
        below(sub, own.trim_start())
    })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::Cli;

    /// Calls `of` with each command that does something, and its path.
    fn each(command: &Command, path: &str, of: &mut impl FnMut(&Command, &str)) {
        if !command.is_subcommand_required_set() {
            of(command, path);
        }
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            each(sub, format!("{path} {}", sub.get_name()).trim_start(), of);
        }
    }

    #[test]
    fn every_command_has_examples_that_are_calls_of_it() {
        let all = with_examples(Cli::command());
        let mut known = vec![""];
        each(&all, "", &mut |command, path| {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("ace ")).collect();
            assert!(!lines.is_empty(), "`ace {path}` has no example");
            for line in lines {
                let words: Vec<&str> = line.split_whitespace().collect();
                assert!(line.starts_with(path), "`ace {line}` is no call of `ace {path}`");
                let parsed = Cli::try_parse_from(std::iter::once("ace").chain(words));
                // The folders of an example are not here.
                let error = parsed.err().map(|error| error.to_string());
                let error = error.filter(|error| !error.contains("there is no such folder"));
                assert!(error.is_none(), "`ace {line}`: {}", error.expect("an error"));
            }
            known.extend(EXAMPLES.iter().filter(|(of, _)| *of == path).map(|(of, _)| *of));
        });
        for (path, _) in EXAMPLES {
            assert!(known.contains(path), "there is no command `ace {path}`");
        }
    }

    #[test]
    fn the_exit_codes_are_those_of_outcomes() {
        use ace_report::{FAILED, Outcome};
        let codes: Vec<u8> = EXIT_CODES.iter().map(|(code, _)| *code).collect();
        let outcomes = [Outcome::Well, Outcome::Wrong].map(Outcome::code);
        assert_eq!(codes, [outcomes[0], outcomes[1], FAILED, Outcome::Interrupted.code()]);
        // The page of `ace run` says the same numbers of it.
        let page = include_str!("../../../docs/captures.md");
        let rows = page.split("## Exit codes").nth(1).expect("a section");
        let stated: Vec<u8> =
            rows.lines().filter_map(|row| row.split('|').nth(1)?.trim().parse().ok()).collect();
        assert_eq!(stated, codes);
    }
}
