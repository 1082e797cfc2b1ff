// SPDX-License-Identifier: Apache-2.0
//! Block ciphers with an expanded key, in every mode, over the traits of the crate `cipher`.

use std::marker::PhantomData;

use cipher::array::Array;
use cipher::consts::{U8, U16};
use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser, InnerIvInit,
    KeyInit, StreamCipherCore,
};
use ctr::flavors::{Ctr64BE, Ctr128BE};
use ctr::{CtrCore, CtrFlavor};
use ofb::OfbCore;

use crate::error::Illegal;
use crate::need::{Direction, Mode};

/// A cipher under one key.
pub trait BlockCipher: Send + Sync {
    /// A whole pass in place. `iv` is empty for ECB, else one block (for CTR the first counter block).
    ///
    /// # Errors
    /// [`Illegal`] for lengths that do not fit the cipher; then nothing was changed.
    fn run(&self, mode: Mode, direction: Direction, iv: &[u8], data: &mut [u8]) -> Result<(), Illegal>;
}

/// What the table says of a cipher with keys of one length; [`block64`] and [`block128`] make them.
#[derive(Clone, Copy)]
pub struct Cipher {
    /// Expands a key; `None` if it has not the length.
    pub expand: fn(key: &[u8]) -> Option<Box<dyn BlockCipher>>,
    /// The key expansion alone, for measurements: what comes of it is neither kept nor wiped.
    pub set_up: fn(key: &[u8]),
}

/// A cipher with 8-byte blocks.
pub const fn block64<C>() -> Cipher
where
    C: KeyInit
        + BlockCipherEncrypt
        + BlockCipherDecrypt
        + BlockSizeUser<BlockSize = U8>
        + Send
        + Sync
        + 'static,
{
    Cipher { expand: expand::<C, Ctr64BE>, set_up: set_up::<C> }
}

/// A cipher with 16-byte blocks.
pub const fn block128<C>() -> Cipher
where
    C: KeyInit
        + BlockCipherEncrypt
        + BlockCipherDecrypt
        + BlockSizeUser<BlockSize = U16>
        + Send
        + Sync
        + 'static,
{
    Cipher { expand: expand::<C, Ctr128BE>, set_up: set_up::<C> }
}

fn expand<C, F>(key: &[u8]) -> Option<Box<dyn BlockCipher>>
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + Send + Sync + 'static,
    F: CtrFlavor<C::BlockSize> + Send + Sync + 'static,
{
    Some(boxed::<C, F>(C::new_from_slice(key).ok()?))
}

/// An expanded key with all modes; `F`: how wide the counter is.
pub(super) fn boxed<C, F>(cipher: C) -> Box<dyn BlockCipher>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + Send + Sync + 'static,
    F: CtrFlavor<C::BlockSize> + Send + Sync + 'static,
{
    Box::new(Expanded { cipher, counter: PhantomData::<F> })
}

fn set_up<C: KeyInit>(key: &[u8]) {
    if let Ok(cipher) = C::new_from_slice(key) {
        std::hint::black_box(&cipher);
        std::mem::forget(cipher);
    }
}

/// `F`: how wide the counter is.
struct Expanded<C, F> {
    cipher: C,
    counter: PhantomData<F>,
}

impl<C, F> BlockCipher for Expanded<C, F>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + Send + Sync,
    F: CtrFlavor<C::BlockSize> + Send + Sync,
{
    fn run(&self, mode: Mode, direction: Direction, iv: &[u8], data: &mut [u8]) -> Result<(), Illegal> {
        let cipher = &self.cipher;
        let len = data.len();
        let iv = || match <&Array<u8, C::BlockSize>>::try_from(iv) {
            Ok(iv) => Ok(iv),
            Err(_) => Err(Illegal::IvLength { wanted: C::block_size(), found: iv.len() }),
        };
        let whole_blocks = |data| match Array::slice_as_chunks_mut(data) {
            (blocks, []) => Ok(blocks),
            _ => Err(Illegal::NotWholeBlocks(len)),
        };
        match (mode, direction) {
            (Mode::Ecb, Direction::Encrypt) => cipher.encrypt_blocks(whole_blocks(data)?),
            (Mode::Ecb, Direction::Decrypt) => cipher.decrypt_blocks(whole_blocks(data)?),
            (Mode::Cbc, Direction::Encrypt) => {
                cbc::Encryptor::inner_iv_init(cipher, iv()?).encrypt_blocks(whole_blocks(data)?);
            }
            (Mode::Cbc, Direction::Decrypt) => {
                cbc::Decryptor::inner_iv_init(cipher, iv()?).decrypt_blocks(whole_blocks(data)?);
            }
            (Mode::Cfb, Direction::Encrypt) => {
                cfb_mode::Encryptor::inner_iv_init(cipher, iv()?).encrypt(data);
            }
            (Mode::Cfb, Direction::Decrypt) => {
                cfb_mode::Decryptor::inner_iv_init(cipher, iv()?).decrypt(data);
            }
            (Mode::Cfb8, Direction::Encrypt) => cfb8::Encryptor::inner_iv_init(cipher, iv()?).encrypt(data),
            (Mode::Cfb8, Direction::Decrypt) => cfb8::Decryptor::inner_iv_init(cipher, iv()?).decrypt(data),
            (Mode::Ofb, _) => key_stream(OfbCore::inner_iv_init(cipher, iv()?), data)?,
            (Mode::Ctr, _) => key_stream(CtrCore::<_, F>::inner_iv_init(cipher, iv()?), data)?,
        }
        Ok(())
    }
}

/// Takes the core alone, because a whole `ctr::Ctr128BE` or `ofb::Ofb` takes keys of one length only.
fn key_stream(core: impl StreamCipherCore, data: &mut [u8]) -> Result<(), Illegal> {
    core.try_apply_keystream_partial(data.into()).map_err(|_| Illegal::CounterWraps)
}
