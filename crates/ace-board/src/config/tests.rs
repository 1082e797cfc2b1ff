// SPDX-License-Identifier: Apache-2.0
//! What is read and what is refused.

use super::*;

fn parse(text: &str) -> Result<BoardConfig, ConfigError> {
    BoardConfig::from_text(text, Path::new("b.toml"))
}

#[test]
fn the_committed_board_is_the_default() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../board.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(BoardConfig::from_file(&file).unwrap(), BoardConfig::default());
    assert_eq!(parse("").unwrap(), BoardConfig::default());
    // Nothing is left to chance: every key that exists is in the file, but for the tiles, which follow from the kind.
    let mut all: toml::Value = toml::Value::try_from(BoardConfig::default()).unwrap();
    all["slot"].as_table_mut().unwrap().remove("tiles");
    assert_eq!(toml::from_str::<toml::Value>(&text).unwrap(), all);
}

#[test]
fn errors_name_file_line_and_value() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert!(error("slots = 2\nslotz = 3\n").starts_with("b.toml:2: unknown field `slotz`"));
    assert!(error("\n\nslots = \"x\"").starts_with("b.toml:3: "));
    assert!(error("slots = 1\n[host_link]\nclock_mhz = 1.0\nwidth = 7\n").starts_with("b.toml:4: "));
    assert!(
        error("[configuration_port]\nkind = \"spi\"\nwidth = 8").contains("b.toml:3: a port of kind `spi`")
    );
    assert!(error("[configuration_port]\nkind = \"usb\"").contains("parallel"));
    assert!(error("device = \"XC7\"").contains("LFE5U-45F"));
    assert!(error("slots = 0").contains("b.toml:1: `slots` must be 1 to 64"));
    assert!(error("[host]\nsend_ns = -1").contains("b.toml:2: "));
    assert!(error("[slot]\ntimeout_ms = nan").contains("b.toml:2: "));
    assert!(
        error("[slot]\nkind = \"array\"\ntiles = 5").contains("b.toml:3: `slot.tiles` must be 1 to 4, not 5")
    );
    assert!(error("[slot]\ntiles = 2").contains("`slot.tiles` must be 1 to 1"));
    // Whom to trust is no matter of the board.
    assert!(error("[controller]\nkey = \"a.pub\"").contains("b.toml:2: unknown field `key`"));
    assert!(error("= = =").starts_with("b.toml:1: "));
    assert!(
        BoardConfig::from_file(Path::new("/nowhere/b.toml")).unwrap_err().to_string().contains("nowhere")
    );
}

#[test]
fn places_lie_bank_by_bank_and_tile_by_tile() {
    let board = parse("slots = 3\n[slot]\nkind = \"array\"\ntiles = 2\nbanks = 2").unwrap();
    assert_eq!(board.places(), 12);
    assert_eq!([0, 1, 6, 11].map(|place| board.tile(place)), [0..2, 0..2, 6..8, 10..12]);
    assert_eq!([0, 3, 6, 11].map(|place| board.slot(place)), [0..4, 0..4, 4..8, 8..12]);
}

#[test]
fn slots_of_fabric_stand_before_those_that_hold_the_array() {
    let board = parse("slots = 2\narray_slots = 2\n[slot]\ntiles = 2\nbanks = 2").unwrap();
    assert_eq!((board.places(), board.mixed(), board.kinds()), (10, true, SlotKind::ALL.to_vec()));
    assert_eq!([0, 1, 2, 3, 9].map(|place| board.tile(place)), [0..1, 1..2, 2..4, 2..4, 8..10]);
    assert_eq!([0, 1, 2, 5, 9].map(|place| board.slot(place)), [0..1, 1..2, 2..6, 2..6, 6..10]);
    let kinds: Vec<_> = (0..4).map(|place| board.kind(place)).collect();
    assert_eq!(kinds, [SlotKind::Fabric, SlotKind::Fabric, SlotKind::Array, SlotKind::Array]);
    // All tiles, where nobody says how many.
    assert_eq!(parse("array_slots = 1").unwrap().slot.tiles, SlotKind::Array.tiles());
    assert_eq!(parse("array_slots = 1\n[slot]\ntiles = 1").unwrap().places(), 3);
    for (fabric, array) in [(2, 0), (0, 2), (3, 1)] {
        let mut board = BoardConfig::default();
        board.set_slots(fabric, array);
        board.check().unwrap();
        assert_eq!(SlotKind::ALL.map(|kind| board.slots_of(kind)), [fabric, array]);
        assert_eq!(board.places(), fabric + array * SlotKind::Array.tiles());
    }
}

#[test]
fn slots_that_contradict_each_other_are_refused_with_line_and_remedy() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    let both = error("slots = 2\narray_slots = 1\n\n[slot]\nkind = \"array\"");
    assert!(
        both.starts_with("b.toml:5: `slot.kind` is \"array\"") && both.contains("leave `slot.kind`"),
        "{both}"
    );
    let none = error("array_slots = 1\nslots = 0");
    assert!(
        none.starts_with("b.toml:2: `slots` must be 1 to 64") && none.contains("kind = \"array\""),
        "{none}"
    );
    assert!(error("\narray_slots = 65").starts_with("b.toml:2: `array_slots` must be 0 to 64, not 65"));
    assert!(error("\narray_slots = -1").starts_with("b.toml:2: "));
    let kind = error("[slot]\nkind = \"gpu\"");
    assert!(
        kind.starts_with("b.toml:2: unknown variant `gpu`") && kind.contains("`fabric` or `array`"),
        "{kind}"
    );
    assert!(error("gpu_slots = 1").starts_with("b.toml:1: unknown field `gpu_slots`"));
    assert!(error("array_slots = 1\n[slot]\nbanks = 5").starts_with("b.toml:3: `slot.banks` must be 1 to 4"));
}

#[test]
fn every_device_is_known() {
    assert!(DEVICES.iter().all(|d| Device::by_name(d).is_some()));
}

#[test]
fn times_follow_the_figures() {
    let board = BoardConfig::default();
    // A byte per 20 ns, 8 bytes per 10 ns.
    assert_eq!(board.port_time(1_032_325), 1_032_325 * 20_000);
    assert_eq!(board.link_time(8), 10_000);
    assert_eq!(board.link_time(9), 20_000);
    assert_eq!((board.send_time(9), board.notice_time(1 << 20)), (950_000, 950_000));
    // A set: the host, then the link or the slot, whichever takes longer.
    assert_eq!(board.set_time(784, 100, 100_000_000), 950_000 + 100 * 10_000);
    assert_eq!(board.set_time(784, 150, 100_000_000), 950_000 + 150 * 10_000);
    // Blocks of 248 words, as the 2002 paper has them.
    let polled = parse("[host]\nsend_ns = 10\nblock_words = 248\npolled = true").unwrap();
    assert_eq!([0, 8, 1984, 1985].map(|bytes| polled.send_time(bytes)), [10_000, 10_000, 10_000, 20_000]);
    let spi = parse("[configuration_port]\nkind = \"spi\"\nwidth = 1\nclock_mhz = 60.0").unwrap();
    assert_eq!(spi.port_time(1_032_325), (1_032_325u64 * 8 * 1_000_000).div_ceil(60));
    assert_eq!(clocks_time(3, 81_000_000), 37_038);
    assert_eq!(clocks_time(u64::MAX, 1), u64::MAX);
}

/// Bytes of docs/link.md and IEEE 802.3: 24 in front of the beats, 60 at least, and 24 more of preamble, FCS and gap.
#[test]
fn ethernet_carries_segments_each_way() {
    let board = parse("[host_link]\nkind = \"ethernet\"\nround_trip_ns = 1000").unwrap();
    let lengths = [0, 8, 36, 40, 1464, 1472, 1473, 2 * 1472, 2 * 1472 + 1];
    let wanted = [84, 84, 88, 88, 1512, 1520, 1520 + 84, 2 * 1520, 2 * 1520 + 84];
    assert_eq!(lengths.map(Link::wire_bytes), wanted);
    // 8 ns a byte, and half of the round trip until it is there.
    assert_eq!(board.link_busy(1464), 1512 * 8_000);
    assert_eq!(board.link_time(1464), 1512 * 8_000 + 500_000);
    // A slot begins with a load when its first segment is whole.
    assert_eq!((board.link_first(40), board.link_first(2664)), (board.link_time(40), board.link_time(1472)));
    let behind = board.link_first(2664) + 300 * 10_000;
    assert_eq!(board.set_time(2648, 300, 100_000_000), 950_000 + board.link_time(2664).max(behind));
    let slow = parse("[host_link]\nkind = \"ethernet\"\nmbps = 100").unwrap();
    assert_eq!(slow.link_busy(1464), 1512 * 80_000);
    assert!(slow.link_words().contains("Ethernet, 100 Mb/s each way"), "{}", slow.link_words());
    let error = |text: &str| parse(text).unwrap_err().to_string();
    let ethernet = "[host_link]\nkind = \"ethernet\"\n";
    assert!(
        error("[host_link]\nmbps = 100")
            .starts_with("b.toml:2: `host_link.mbps` is of a link of kind \"ethernet\"")
    );
    assert!(
        error(&format!("{ethernet}width = 64"))
            .starts_with("b.toml:3: `host_link.width` is of a link of kind \"bus\"")
    );
    assert!(
        error(&format!("{ethernet}mbps = 0")).starts_with("b.toml:3: `host_link.mbps` must be 1 to 1000000")
    );
    assert!(
        error(&format!("{ethernet}[host]\npolled = true"))
            .starts_with("b.toml:4: a host moves no word itself")
    );
    assert!(
        error(&format!("{ethernet}[host]\nblock_words = 8")).starts_with("b.toml:4: there are no blocks")
    );
    assert!(error("[host_link]\nkind = \"usb\"").contains("`bus` or `ethernet`"));
}
