// SPDX-License-Identifier: Apache-2.0
//! Any bytes as a browser's connection: nothing panics, what is answered is HTTP, and only a GET is given anything.
#![no_main]

use ace_gateway::http::answer;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(response) = answer(bytes) else { return };
    assert!(response.is_empty() || response.starts_with(b"HTTP/1."));
    if response.starts_with(b"HTTP/1.1 200") || response.starts_with(b"HTTP/1.0 200") {
        assert!(bytes.windows(4).any(|word| word == b"GET "));
        // One request of a connection is answered, whatever follows it.
        let mut more = bytes.to_vec();
        more.extend_from_slice(b"\r\nHost: somebody.example\r\n\r\n\0");
        assert_eq!(answer(&more).ok().map(|more| more.starts_with(b"HTTP/1.")), Some(true));
    }
});
