// SPDX-License-Identifier: Apache-2.0
//! Any bytes as a browser's request: nothing panics, and a request that is whole says the same whatever follows it.
#![no_main]

use ace_gateway::http::{LONGEST, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = parse(bytes);
    if whole.is_none() {
        assert!(bytes.len() < LONGEST);
    }
    if let Some(Ok(request)) = whole {
        assert!(bytes.windows(4).any(|word| word == b"GET "));
        let mut more = bytes.to_vec();
        more.extend_from_slice(b"\r\nHost: somebody.example\r\n\r\n\0");
        assert_eq!(parse(&more), Some(Ok(request)));
    }
});
