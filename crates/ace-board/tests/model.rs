// SPDX-License-Identifier: Apache-2.0
//! Shared objects: what is mapped is what was hashed.

use std::fs;
use std::path::Path;
use std::process::Command;

use ace_board::manifest::FileRef;
use ace_board::model::{Frame, Model, ModelError, Options, SlotModel};
use sha2::{Digest, Sha256};

/// A model that answers every frame with its number.
fn source(number: u32) -> String {
    format!(
        "#include <stddef.h>
         #include <stdint.h>
         typedef struct {{ const uint8_t *q; size_t n; uint8_t *r; size_t cap, len; uint64_t a, b, c; }} frame;
         static char it;
         uint32_t ace_model_abi(void) {{ return 3; }}
         int ace_model_new(void **m, const void *l, size_t n) {{ *m = &it; return 0; }}
         void ace_model_free(void *m) {{}}
         void ace_model_reset(void *m) {{}}
         uint64_t ace_model_clocks(const void *m) {{ return 0; }}
         size_t ace_model_drive(void *m) {{ return 0; }}
         int ace_model_run(void *m, frame *f, size_t n, const void *o) {{
           for (size_t i = 0; i < n; i++) {{ for (int k = 0; k < 8; k++) f[i].r[k] = {number}; f[i].len = 8; }}
           return 0; }}"
    )
}

/// Compiles a model to `path`; false without a C compiler, which the flow needs anyway.
fn compile(folder: &Path, number: u32, path: &Path) -> bool {
    let file = folder.join(format!("{number}.c"));
    fs::write(&file, source(number)).expect("written");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).arg(path).arg(&file).status();
    made.is_ok_and(|status| status.success())
}

fn reference(path: &Path) -> FileRef {
    let bytes = fs::read(path).expect("read");
    FileRef { path: path.to_owned(), bytes: bytes.len() as u64, sha256: Sha256::digest(&bytes).into() }
}

fn answer(model: &mut Model) -> u8 {
    let mut frames = [Frame::new(vec![0; 8], 8)];
    model.run(&mut frames, &Options::default()).expect("an answer");
    frames[0].response[0]
}

#[test]
fn what_is_mapped_is_a_copy_of_what_was_hashed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.so");
    if !compile(folder.path(), 1, &path) {
        eprintln!("not tested: no C compiler");
        return;
    }
    let first = reference(&path);
    let mut model = Model::open(&first, &[]).expect("a model");
    assert_eq!(answer(&mut model), 1);
    // The file itself is not mapped: who writes into it changes nothing that runs.
    let maps = fs::read_to_string("/proc/self/maps").expect("read");
    assert!(!maps.contains("model.so"), "mapped by its path");
    assert!(maps.contains("/memfd:ace-model"), "not mapped from memory");

    // Another file of that name is another model, and a change that no manifest speaks of is none.
    assert!(compile(folder.path(), 2, &path));
    let second = reference(&path);
    let mut other = Model::open(&second, &[]).expect("a model");
    assert_eq!((answer(&mut model), answer(&mut other)), (1, 2));
    let third = folder.path().join("third.so");
    assert!(compile(folder.path(), 3, &third));
    let changed = Model::open(&FileRef { path: third, ..first }, &[]);
    assert!(matches!(changed, Err(ModelError::Digest { .. })));
}
