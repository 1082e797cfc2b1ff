// SPDX-License-Identifier: Apache-2.0
//! Wiping for cipher crates that leave their round keys behind.

use cipher::{
    BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser,
    InvalidLength, Key, KeyInit, KeySizeUser,
};

/// A cipher whose round keys become those of the zero key when it is dropped.
pub struct Wiping<C: KeyInit>(C);

impl<C: KeyInit> Drop for Wiping<C> {
    fn drop(&mut self) {
        self.0 = C::new(&Key::<C>::default());
        // Somebody might look: the compiler has to store them.
        std::hint::black_box(&mut self.0);
    }
}

impl<C: KeyInit> KeySizeUser for Wiping<C> {
    type KeySize = C::KeySize;
}

impl<C: KeyInit> KeyInit for Wiping<C> {
    fn new(key: &Key<Self>) -> Self {
        Self(C::new(key))
    }

    fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
        C::new_from_slice(key).map(Self)
    }
}

impl<C: KeyInit + BlockSizeUser> BlockSizeUser for Wiping<C> {
    type BlockSize = C::BlockSize;
}

impl<C: KeyInit + BlockCipherEncrypt> BlockCipherEncrypt for Wiping<C> {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = Self::BlockSize>) {
        self.0.encrypt_with_backend(f);
    }
}

impl<C: KeyInit + BlockCipherDecrypt> BlockCipherDecrypt for Wiping<C> {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = Self::BlockSize>) {
        self.0.decrypt_with_backend(f);
    }
}
