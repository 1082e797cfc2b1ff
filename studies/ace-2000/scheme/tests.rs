// SPDX-License-Identifier: Apache-2.0

use proptest::prelude::*;

use super::*;

fn check(data: &[u8]) -> Scheme {
    let scheme = compress(data);
    for way in [&scheme.lzw, &scheme.phase1, &scheme.phase2] {
        assert_eq!(way.decompress(), data);
        // As rtl/phrase_reader.sv wants nodes: those that end a phrase first, and every pointer below its own node.
        let ends = way.nodes.iter().take_while(|node| node.next.is_none()).count();
        let below =
            |(at, node): (usize, &compressed::Node)| node.next.is_some_and(|next| (next as usize) < at);
        assert!(way.nodes.iter().enumerate().skip(ends).all(below));
    }
    let bits = |c: &Compressed| c.index_bits() + c.dictionary_bits();
    assert!(bits(&scheme.phase1) <= bits(&scheme.lzw));
    assert!(bits(&scheme.phase2) <= bits(&scheme.phase1));
    assert_eq!(scheme.lzw.codewords(), scheme.phase1.codewords());
    assert!(scheme.phase2.codewords() >= scheme.phase1.codewords());
    scheme
}

proptest! {
    #[test]
    fn every_way_gives_the_data_back(
        data in prop::collection::vec(prop_oneof![9 => Just(0u8), 3 => 0..4u8, 1 => any::<u8>()], 0..3000)
    ) {
        check(&data);
    }
}

#[test]
fn sizes_are_counted_as_in_table_4() {
    // LZW adds a phrase with every codeword but the last.
    let data: Vec<u8> = (0..20_000u32).map(|i| ((i * i) >> 7) as u8 & 3).collect();
    let scheme = check(&data);
    let lzw = &scheme.lzw;
    assert_eq!(lzw.nodes(), 255 + lzw.codewords());
    let width = (lzw.nodes() as f64).log2().ceil() as u32;
    assert_eq!(lzw.codeword_bits(), width);
    assert_eq!(lzw.dictionary_bits(), lzw.nodes() as u64 * u64::from(8 + width));
    assert!(scheme.phase2.nodes() < scheme.phase1.nodes());
}

#[test]
fn common_suffixes_are_stored_once() {
    let data = b"TINGXTINGYSINGXTINGYSINGTINGXSING".repeat(6);
    let scheme = check(&data);
    let ends = |c: &Compressed| c.nodes.iter().filter(|node| node.next.is_none()).count();
    // One list end for every symbol that ends a phrase, however many phrases end in it.
    assert!(ends(&scheme.phase1) <= 7);
    assert_eq!(compress(b"").phase2.codewords(), 0);
    assert_eq!(compress(b"a").phase2.decompress(), b"a");
}
