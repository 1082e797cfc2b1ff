// SPDX-License-Identifier: Apache-2.0
//! Configurations out of a library: skeleton and delta merged, and held against the digest.

use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, Device};

use super::delta;
use super::image::{BLANK, Image};
use super::library::Library;
use crate::codec::Decoded;
use crate::error::ImageError;

impl Library {
    /// The configuration memory of a configuration, its digest checked. Of a base the frames that it has by themselves
    /// are those of the whole.
    ///
    /// # Errors
    /// When there is none of that name or what is stored is not what was stored.
    pub fn memory(&self, name: &str) -> Result<ConfigMemory, ImageError> {
        let image = self.get(name)?;
        let memory = self.merged(image)?;
        if memory.digest() != image.digest {
            return Err(ImageError::Digest(name.to_owned()));
        }
        if image.base.is_none() {
            let mut again = memory.clone();
            self.write_runs(image, &mut again)?;
            if again != memory {
                return Err(ImageError::Home(name.to_owned()));
            }
        }
        Ok(memory)
    }

    /// What is stored of an image, whatever it is.
    fn merged(&self, image: &Image) -> Result<ConfigMemory, ImageError> {
        let mut memory = ConfigMemory::new(image.device);
        if let Some(base) = &image.base {
            // A base has none.
            self.write_all(self.get(base)?, &mut memory)?;
        }
        self.write_all(image, &mut memory)?;
        memory.set_control0(image.control0);
        memory.set_usercode(image.usercode);
        Ok(memory)
    }

    /// Writes the stream of an image, of the frames that it uses or of those of its runs, and its block RAMs.
    fn write_all(&self, image: &Image, memory: &mut ConfigMemory) -> Result<(), ImageError> {
        match image.base {
            Some(_) => self.write_runs(image, memory)?,
            None => self.write(image, &image.frames, image.used.positions(), memory)?,
        }
        let blank = vec![0; EBR_BYTES];
        for (id, number) in &image.blocks {
            let contents = self.contents.get(usize::from(*number)).filter(|_| *number != BLANK);
            memory.set_ebr(*id, contents.unwrap_or(&blank));
        }
        Ok(())
    }

    /// Decompresses the stream of an image as it is: the frames that it uses, or those of its runs if it has a base.
    ///
    /// # Errors
    /// When the stream is not one of so many frames.
    pub fn decode(&self, image: &Image, out: &mut Vec<u8>) -> Result<Decoded, ImageError> {
        let positions = match image.base {
            Some(_) => self.positions(image)?,
            None => image.used.positions(),
        };
        out.resize(positions.len() * image.device.frame_bytes(), 0);
        self.tables
            .decompress(image.device, &image.frames, positions, out)
            .map_err(|error| ImageError::Stream { name: image.name.clone(), error })
    }

    /// Writes the frames of the runs of an image.
    pub(super) fn write_runs(&self, image: &Image, memory: &mut ConfigMemory) -> Result<(), ImageError> {
        self.write(image, image.run_stream(), self.positions(image)?, memory)
    }

    /// The places of the frames of the runs of an image in the order of transmission.
    pub(super) fn positions(&self, image: &Image) -> Result<Vec<usize>, ImageError> {
        delta::positions(image.device, &image.runs).ok_or_else(|| ImageError::Digest(image.name.clone()))
    }

    /// Writes the frames of a stream to these places in the order of transmission.
    fn write(
        &self,
        image: &Image,
        stream: &[u8],
        positions: impl IntoIterator<Item = usize, IntoIter: ExactSizeIterator>,
        memory: &mut ConfigMemory,
    ) -> Result<(), ImageError> {
        let (device, positions): (&Device, Vec<usize>) = (image.device, positions.into_iter().collect());
        let mut frames = vec![0; positions.len() * device.frame_bytes()];
        self.tables
            .decompress(device, stream, positions.iter().copied(), &mut frames)
            .map_err(|error| ImageError::Stream { name: image.name.clone(), error })?;
        for (position, frame) in positions.into_iter().zip(frames.chunks_exact(device.frame_bytes())) {
            if let Some(number) = delta::number(device, position) {
                memory.set_frame(number, frame);
            }
        }
        Ok(())
    }
}
