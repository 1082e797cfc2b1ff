// SPDX-License-Identifier: Apache-2.0
//! Shared objects of models: read, compared with their manifests and mapped once in a process.

use std::collections::HashMap;
use std::io::Write;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;
use sha2::{Digest, Sha256};

use super::{ABI, Functions, ModelError};
use crate::manifest::FileRef;

/// What was hashed, where nobody can change it any more: what is mapped is that, whatever has become of the file.
#[cfg(target_os = "linux")]
pub(super) struct Copy(std::fs::File);

#[cfg(target_os = "linux")]
impl Copy {
    /// A file in memory, sealed.
    fn of(bytes: &[u8]) -> std::io::Result<Self> {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
        let memory = memfd_create("ace-model", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = std::fs::File::from(memory);
        file.write_all(bytes)?;
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        Ok(Self(file))
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

/// The same as a file of the user's own, which others cannot write.
#[cfg(not(target_os = "linux"))]
pub(super) struct Copy(tempfile::NamedTempFile);

#[cfg(not(target_os = "linux"))]
impl Copy {
    fn of(bytes: &[u8]) -> std::io::Result<Self> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(bytes)?;
        Ok(Self(file))
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }
}

/// By path and contents.
type Opened = HashMap<(PathBuf, [u8; 32]), Arc<Functions>>;

/// The functions of a shared object; each one is read, checked and mapped once in a process. The map is keyed
/// by contents, so a rebuilt file is another one.
pub(super) fn functions(file: &FileRef) -> Result<Arc<Functions>, ModelError> {
    static OPEN: Mutex<Option<Opened>> = Mutex::new(None);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_default();
    let key = (file.path.clone(), file.sha256);
    if let Some(found) = open.get(&key) {
        return Ok(Arc::clone(found));
    }
    let io = |reason: String| ModelError::Io { file: file.path.clone(), reason };
    let bytes = ace_fs::read(&file.path).map_err(|e| io(e.to_string()))?;
    let found: [u8; 32] = Sha256::digest(&bytes).into();
    if found != file.sha256 {
        let (found, expected) = (hex::encode(found), hex::encode(file.sha256));
        return Err(ModelError::Digest { file: file.path.clone(), found, expected });
    }
    let copy = Copy::of(&bytes).map_err(|e| io(format!("no place for a copy: {e}")))?;
    // SAFETY: mapping a library runs its initialisers. The contents are those of the manifest, which the flow
    // wrote together with the library; a Verilated model initialises tables only.
    let library = unsafe { Library::new(copy.path()) }.map_err(|e| io(e.to_string()))?;
    // SAFETY: the names and types are those of ace_model.h, whose version is checked before anything else is
    // called; the pointers are kept together with the library.
    let functions = unsafe {
        let abi: unsafe extern "C" fn() -> u32 =
            *library.get(b"ace_model_abi").map_err(|e| io(e.to_string()))?;
        let found = abi();
        if found != ABI {
            return Err(ModelError::Abi { file: file.path.clone(), found });
        }
        let missing = |e: libloading::Error| io(e.to_string());
        Functions {
            new: *library.get(b"ace_model_new").map_err(missing)?,
            free: *library.get(b"ace_model_free").map_err(missing)?,
            reset: *library.get(b"ace_model_reset").map_err(missing)?,
            clocks: *library.get(b"ace_model_clocks").map_err(missing)?,
            run: *library.get(b"ace_model_run").map_err(missing)?,
            drive: *library.get(b"ace_model_drive").map_err(missing)?,
            _library: library,
            _copy: copy,
        }
    };
    let functions = Arc::new(functions);
    open.insert(key, Arc::clone(&functions));
    Ok(functions)
}
