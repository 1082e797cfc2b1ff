// SPDX-License-Identifier: Apache-2.0
//! Compiles the shim over the library's header and links the library, if the feature asks for it.

fn main() {
    println!("cargo::rerun-if-changed=src/shim.c");
    if std::env::var_os("CARGO_FEATURE_NATIVE").is_none() {
        return;
    }
    cc::Build::new().file("src/shim.c").warnings(true).compile("ace_ipsec_mb_shim");
    println!("cargo::rustc-link-search=native=/usr/lib/x86_64-linux-gnu");
    println!("cargo::rustc-link-lib=static=IPSec_MB");
}
