// SPDX-License-Identifier: Apache-2.0
//! One ESP packet, sealed or opened as a list of operations. No policy and no state of an SA: SPI, sequence
//! number and IV come from the caller, and any value goes.

use std::sync::Arc;

use ace_engine::{Direction, Mode, Need, Operation, Pass, Secret};
use subtle::ConstantTimeEq;
use thiserror::Error;

use crate::counters::Cause;
use crate::suite::{AuthSuite, CipherSuite};
use crate::wire::esp::{self, EspHeader, HEADER_LEN, TRAILER_LEN};

/// Suites and keys of one SA.
#[derive(Debug)]
pub struct Transform {
    cipher: &'static CipherSuite,
    key: Secret,
    nonce: Secret,
    hmac: Option<Hmac>,
}

#[derive(Debug)]
struct Hmac {
    hash: &'static ace_engine::Algorithm,
    key: Secret,
    icv_len: usize,
}

/// A packet that cannot be sealed or opened.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PacketError {
    #[error("key, nonce or IV has the wrong length")]
    Material,
    #[error("shorter than header, IV, trailer and ICV")]
    TooShort,
    #[error("the encrypted part is not whole blocks")]
    BadLength,
    #[error("the integrity check value is wrong")]
    IcvMismatch,
    #[error("the padding is not 1, 2, 3, … or longer than the packet")]
    BadPadding,
    #[error("the engine's result has the wrong length")]
    WrongResult,
}

impl From<PacketError> for Cause {
    fn from(error: PacketError) -> Cause {
        match error {
            PacketError::TooShort => Cause::EspTooShort,
            PacketError::BadLength => Cause::BadLength,
            PacketError::IcvMismatch => Cause::IcvMismatch,
            PacketError::BadPadding => Cause::BadPadding,
            PacketError::Material | PacketError::WrongResult => Cause::EngineFailed,
        }
    }
}

impl Transform {
    /// `keymat` is the cipher key and, for counter mode, the nonce behind it. Its length must fit the suite;
    /// HMAC takes a key of any length and gives `icv_len` bytes.
    pub fn new(
        cipher: &'static CipherSuite,
        mut keymat: Vec<u8>,
        auth: &'static AuthSuite,
        auth_key: Secret,
        icv_len: usize,
    ) -> Result<Self, PacketError> {
        if keymat.len() != cipher.keymat_len() {
            return Err(PacketError::Material);
        }
        let nonce = Secret::new(keymat.split_off(cipher.key_len));
        let hmac = auth.hash.map(|hash| Hmac { hash, key: auth_key, icv_len });
        Ok(Self { cipher, key: Secret::new(keymat), nonce, hmac })
    }

    /// Bytes from SPI to ICV that a payload becomes with the least padding.
    pub fn sealed_len(&self, payload_len: usize) -> usize {
        let padding = usize::from(self.least_padding(payload_len));
        HEADER_LEN + self.cipher.iv_len + payload_len + padding + TRAILER_LEN + self.icv_len()
    }

    /// Bytes that the algorithms work on in an ESP packet of so many bytes: payload and padding. The padding is
    /// not known before decryption.
    pub fn payload_len(&self, esp_len: usize) -> usize {
        esp_len.saturating_sub(HEADER_LEN + self.cipher.iv_len + TRAILER_LEN + self.icv_len())
    }

    /// Whether packets carry an ICV.
    pub fn authenticates(&self) -> bool {
        self.hmac.is_some()
    }

    fn icv_len(&self) -> usize {
        self.hmac.as_ref().map_or(0, |hmac| hmac.icv_len)
    }

    /// Bytes of padding up to the next boundary.
    pub fn least_padding(&self, payload_len: usize) -> u8 {
        let alignment = self.cipher.alignment();
        // At most 15: the alignment is at most 16.
        ((alignment - (payload_len + TRAILER_LEN) % alignment) % alignment) as u8
    }

    /// The cipher's pass; `None` for `null`.
    fn cipher_pass(&self, direction: Direction, iv: &[u8]) -> Option<Pass> {
        let (algorithm, mode) = self.cipher.pass?;
        let (direction, iv) = match mode {
            // RFC 3686, 4: nonce, IV, and a block counter that starts at 1. The key stream is the same both ways.
            Mode::Ctr => (Direction::Encrypt, [self.nonce.as_bytes(), iv, &[0, 0, 0, 1]].concat()),
            _ => (direction, iv.to_vec()),
        };
        Some(Pass::Cipher { algorithm, mode, direction, key: self.key.clone(), iv })
    }

    /// The HMAC over SPI to ciphertext and, unsent, the sequence number's high half (RFC 4303, 2.2.1).
    fn hmac_operation(&self, hmac: &Hmac, covered: &[u8], high: Option<u32>) -> Operation {
        let mut data = Vec::with_capacity(covered.len() + 4);
        data.extend(covered);
        data.extend(high.into_iter().flat_map(u32::to_be_bytes));
        Operation {
            pass: Pass::Hmac { algorithm: hmac.hash, key: hmac.key.clone(), output_len: hmac.icv_len },
            data,
        }
    }
}

/// What the caller decides about a packet to be sealed.
#[derive(Clone, Copy, Debug)]
pub struct SealInput<'a> {
    pub spi: u32,
    /// The half that is sent.
    pub sequence: u32,
    /// With extended sequence numbers, the half that is not.
    pub sequence_high: Option<u32>,
    /// As long as the suite says.
    pub iv: &'a [u8],
    pub payload: &'a [u8],
    pub next_header: u8,
    /// Bytes of padding; `None`: the least.
    pub pad_len: Option<u8>,
}

/// A packet that is being sealed and waits for an operation.
#[derive(Debug)]
pub struct Seal {
    transform: Arc<Transform>,
    /// From SPI to as far as it is finished.
    esp: Vec<u8>,
    high: Option<u32>,
    waits_for: SealStage,
}

#[derive(Debug)]
enum SealStage {
    /// So many bytes of ciphertext.
    Ciphertext(usize),
    /// So many bytes of ICV.
    Icv(usize),
}

/// How far a packet is sealed.
#[derive(Debug)]
pub enum SealStep {
    Run(Seal, Operation),
    /// From SPI to ICV.
    Done(Vec<u8>),
}

impl Seal {
    /// Starts to seal.
    pub fn begin(transform: &Arc<Transform>, input: SealInput<'_>) -> Result<SealStep, PacketError> {
        if input.iv.len() != transform.cipher.iv_len {
            return Err(PacketError::Material);
        }
        let pad_len = input.pad_len.unwrap_or(transform.least_padding(input.payload.len()));
        let mut plaintext = input.payload.to_vec();
        esp::append_trailer(&mut plaintext, pad_len, input.next_header);
        if !plaintext.len().is_multiple_of(transform.cipher.alignment()) {
            return Err(PacketError::BadLength);
        }
        let mut esp = Vec::with_capacity(HEADER_LEN + input.iv.len() + plaintext.len() + transform.icv_len());
        esp.extend(EspHeader { spi: input.spi, sequence: input.sequence }.to_bytes());
        esp.extend(input.iv);
        let waits_for = SealStage::Ciphertext(plaintext.len());
        let seal = Seal { transform: transform.clone(), esp, high: input.sequence_high, waits_for };
        match transform.cipher_pass(Direction::Encrypt, input.iv) {
            Some(pass) => Ok(SealStep::Run(seal, Operation { pass, data: plaintext })),
            None => seal.advance(plaintext),
        }
    }

    /// Takes the result of the operation.
    pub fn advance(mut self, result: Vec<u8>) -> Result<SealStep, PacketError> {
        let (SealStage::Ciphertext(expected) | SealStage::Icv(expected)) = self.waits_for;
        if result.len() != expected {
            return Err(PacketError::WrongResult);
        }
        self.esp.extend(result);
        match (&self.waits_for, &self.transform.hmac) {
            (SealStage::Ciphertext(_), Some(hmac)) => {
                let operation = self.transform.hmac_operation(hmac, &self.esp, self.high);
                self.waits_for = SealStage::Icv(hmac.icv_len);
                Ok(SealStep::Run(self, operation))
            }
            _ => Ok(SealStep::Done(self.esp)),
        }
    }

    /// What the packet needs after the operation it waits for.
    pub fn then(&self) -> Vec<Need> {
        match (&self.waits_for, &self.transform.hmac) {
            (SealStage::Ciphertext(_), Some(hmac)) => vec![Need::Hmac { algorithm: hmac.hash }],
            _ => Vec::new(),
        }
    }
}

/// A packet that is being opened and waits for an operation.
#[derive(Debug)]
pub struct Open {
    transform: Arc<Transform>,
    esp: Vec<u8>,
    waits_for: OpenStage,
}

/// What an [`Open`] waits for. The ICV is always first: nothing is decrypted that is not vouched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenStage {
    Icv,
    Plaintext,
}

/// How far a packet is opened.
#[derive(Debug)]
pub enum OpenStep {
    Run(Open, Operation),
    Done(Opened),
}

/// What was inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub payload: Vec<u8>,
    pub next_header: u8,
}

impl Open {
    /// Starts to open what reaches from SPI to ICV.
    pub fn begin(
        transform: &Arc<Transform>,
        esp: Vec<u8>,
        sequence_high: Option<u32>,
    ) -> Result<OpenStep, PacketError> {
        let alignment = transform.cipher.alignment();
        let overhead = HEADER_LEN + transform.cipher.iv_len + transform.icv_len();
        match esp.len().checked_sub(overhead) {
            None => return Err(PacketError::TooShort),
            Some(encrypted) if encrypted < TRAILER_LEN => return Err(PacketError::TooShort),
            Some(encrypted) if encrypted % alignment != 0 => return Err(PacketError::BadLength),
            Some(_) => {}
        }
        let open = Open { transform: transform.clone(), esp, waits_for: OpenStage::Icv };
        match &transform.hmac {
            Some(hmac) => {
                let covered = open.esp.get(..open.icv_at()).unwrap_or_default();
                let operation = transform.hmac_operation(hmac, covered, sequence_high);
                Ok(OpenStep::Run(open, operation))
            }
            None => open.decrypt(),
        }
    }

    /// Takes the result of the operation.
    pub fn advance(self, result: Vec<u8>) -> Result<OpenStep, PacketError> {
        match self.waits_for {
            OpenStage::Icv => {
                let icv = self.esp.get(self.icv_at()..).unwrap_or_default();
                if result.len() != icv.len() || icv.is_empty() {
                    return Err(PacketError::WrongResult);
                }
                if !bool::from(result.as_slice().ct_eq(icv)) {
                    return Err(PacketError::IcvMismatch);
                }
                self.decrypt()
            }
            OpenStage::Plaintext => {
                if result.len() != self.encrypted().len() {
                    return Err(PacketError::WrongResult);
                }
                finish(result)
            }
        }
    }

    pub fn waits_for(&self) -> OpenStage {
        self.waits_for
    }

    /// What the packet needs after the operation it waits for.
    pub fn then(&self) -> Vec<Need> {
        match (self.waits_for, self.transform.cipher_pass(Direction::Decrypt, &[])) {
            (OpenStage::Icv, Some(pass)) => vec![pass.need()],
            _ => Vec::new(),
        }
    }

    fn decrypt(mut self) -> Result<OpenStep, PacketError> {
        let iv = self.esp.get(HEADER_LEN..HEADER_LEN + self.transform.cipher.iv_len).unwrap_or_default();
        let data = self.encrypted().to_vec();
        match self.transform.cipher_pass(Direction::Decrypt, iv) {
            Some(pass) => {
                self.waits_for = OpenStage::Plaintext;
                Ok(OpenStep::Run(self, Operation { pass, data }))
            }
            None => finish(data),
        }
    }

    fn icv_at(&self) -> usize {
        self.esp.len().saturating_sub(self.transform.icv_len())
    }

    fn encrypted(&self) -> &[u8] {
        self.esp.get(HEADER_LEN + self.transform.cipher.iv_len..self.icv_at()).unwrap_or_default()
    }
}

fn finish(mut plaintext: Vec<u8>) -> Result<OpenStep, PacketError> {
    let (payload_len, next_header) = esp::split_trailer(&plaintext).ok_or(PacketError::BadPadding)?;
    plaintext.truncate(payload_len);
    Ok(OpenStep::Done(Opened { payload: plaintext, next_header }))
}
