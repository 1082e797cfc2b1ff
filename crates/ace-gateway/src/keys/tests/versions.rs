// SPDX-License-Identifier: Apache-2.0
//! State files of earlier versions.

use super::*;

#[test]
fn a_file_of_version_1_goes_on_where_it_was_and_stays_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.state");
    let pair = Pair { there: true, fresh: true, ..Pair::default() };
    let number = |ours: &mut Core| u32::from_be_bytes(send(ours, 1, 1).unwrap()[4..8].try_into().unwrap());
    let start = || {
        let keys = Keys::open(&path).unwrap();
        let mut ours = core(Some(keys.clone()));
        ours.load(T0, &file('1', &[pair])).unwrap();
        (keys, ours)
    };
    let (keys, mut ours) = start();
    let last = (0..50).map(|_| number(&mut ours)).max();
    keys.stop().unwrap();
    drop((ours, keys));
    // As it was before there was a role.
    let new = std::fs::read(&path).unwrap();
    let mut head: [u8; record::PART] = new[..record::PART].try_into().unwrap();
    head[7] = b'1';
    let old = [&record::sealed(head)[..], &new[record::RECORDS..]].concat();
    std::fs::write(&path, old).unwrap();
    let (keys, mut ours) = start();
    assert!(Some(number(&mut ours)) > last && std::fs::read(&path).unwrap()[..8] == *b"ACEKEYS2");
    assert!(matches!(Keys::open(&path), Err(StorageError::Taken(_))));
    drop((ours, keys));
}
