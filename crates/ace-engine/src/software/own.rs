// SPDX-License-Identifier: Apache-2.0
//! Block ciphers that no kept crate has: an algorithm's own `cpu.rs` implements [`Own`], and every mode comes with it.

use std::marker::PhantomData;

use cipher::array::ArraySize;
use cipher::consts::{U1, U8, U16};
use cipher::inout::InOut;
use cipher::{
    Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, ParBlocksSizeUser,
};
use ctr::CtrFlavor;
use ctr::flavors::{Ctr64BE, Ctr128BE};

use super::block::{BlockCipher, Cipher, boxed};

/// A block cipher under one key. What is derived from the key is wiped when it is dropped (`zeroize::Zeroizing`).
pub trait Own: Sized + Send + Sync + 'static {
    /// Expands a key; `None` if its length is not legal.
    fn new(key: &[u8]) -> Option<Self>;
    /// Encrypts a block in place.
    fn encrypt(&self, block: &mut [u8]);
    /// Decrypts a block in place.
    fn decrypt(&self, block: &mut [u8]);
}

/// A cipher with 8-byte blocks.
pub const fn own64<C: Own>() -> Cipher {
    Cipher { expand: expand::<C, U8, Ctr64BE>, set_up: set_up::<C> }
}

/// A cipher with 16-byte blocks.
pub const fn own128<C: Own>() -> Cipher {
    Cipher { expand: expand::<C, U16, Ctr128BE>, set_up: set_up::<C> }
}

fn expand<C, Size, F>(key: &[u8]) -> Option<Box<dyn BlockCipher>>
where
    C: Own,
    Size: ArraySize,
    F: CtrFlavor<Size> + Send + Sync + 'static,
{
    Some(boxed::<_, F>(Blocks { cipher: C::new(key)?, size: PhantomData::<fn() -> Size> }))
}

fn set_up<C: Own>(key: &[u8]) {
    std::mem::forget(std::hint::black_box(C::new(key)));
}

/// A cipher as the modes want it.
struct Blocks<C, Size> {
    cipher: C,
    size: PhantomData<fn() -> Size>,
}

impl<C, Size: ArraySize> BlockSizeUser for Blocks<C, Size> {
    type BlockSize = Size;
}

impl<C, Size: ArraySize> ParBlocksSizeUser for Blocks<C, Size> {
    type ParBlocksSize = U1;
}

impl<C: Own, Size: ArraySize> BlockCipherEncrypt for Blocks<C, Size> {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = Size>) {
        f.call(self);
    }
}

impl<C: Own, Size: ArraySize> BlockCipherEncBackend for Blocks<C, Size> {
    fn encrypt_block(&self, mut block: InOut<'_, '_, Block<Self>>) {
        let mut text = block.clone_in();
        self.cipher.encrypt(&mut text);
        *block.get_out() = text;
    }
}

impl<C: Own, Size: ArraySize> BlockCipherDecrypt for Blocks<C, Size> {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = Size>) {
        f.call(self);
    }
}

impl<C: Own, Size: ArraySize> BlockCipherDecBackend for Blocks<C, Size> {
    fn decrypt_block(&self, mut block: InOut<'_, '_, Block<Self>>) {
        let mut text = block.clone_in();
        self.cipher.decrypt(&mut text);
        *block.get_out() = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::need::{Direction, Mode};

    /// Adds a byte of the key to each byte.
    struct Adds(u8);

    impl Own for Adds {
        fn new(key: &[u8]) -> Option<Self> {
            (key.len() == 8).then(|| Self(key[0]))
        }

        fn encrypt(&self, block: &mut [u8]) {
            block.iter_mut().for_each(|byte| *byte = byte.wrapping_add(self.0));
        }

        fn decrypt(&self, block: &mut [u8]) {
            block.iter_mut().for_each(|byte| *byte = byte.wrapping_sub(self.0));
        }
    }

    #[test]
    fn modes_come_with_the_block_function() {
        assert!((own64::<Adds>().expand)(&[1; 9]).is_none());
        for (cipher, block) in [(own64::<Adds>(), 8), (own128::<Adds>(), 16)] {
            let adds = (cipher.expand)(&[3; 8]).expect("a key");
            let mut data = vec![1; 2 * block];
            adds.run(Mode::Ecb, Direction::Encrypt, &[], &mut data).expect("whole blocks");
            assert_eq!(data, vec![4; 2 * block]);
            adds.run(Mode::Ecb, Direction::Decrypt, &[], &mut data).expect("whole blocks");
            let iv = vec![2; block];
            adds.run(Mode::Cbc, Direction::Encrypt, &iv, &mut data).expect("whole blocks");
            // (1 ^ 2) + 3, and (1 ^ 6) + 3.
            assert_eq!(data, [vec![6; block], vec![10; block]].concat());
            adds.run(Mode::Cbc, Direction::Decrypt, &iv, &mut data).expect("whole blocks");
            assert_eq!(data, vec![1; 2 * block]);
            assert!(adds.run(Mode::Ecb, Direction::Encrypt, &[], &mut data[1..]).is_err());
        }
    }
}
