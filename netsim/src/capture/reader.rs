//! The reader of capture files of either format.

use super::{classic::Classic, frame::Frame, next_generation::NextGeneration};
use proto_core::Truncated;
use thiserror::Error;

/// The frames of a capture file that lies in memory. After an error the iteration ends.
#[derive(Clone, Debug)]
pub struct Capture<'a> {
    format: Format<'a>,
    is_over: bool,
}

#[derive(Clone, Debug)]
enum Format<'a> {
    Classic(Classic<'a>),
    NextGeneration(NextGeneration<'a>),
}

impl<'a> Capture<'a> {
    /// Recognizes the format of a file.
    ///
    /// # Errors
    /// [`CaptureError::NotACapture`] when it is neither pcap-ng nor classic pcap.
    pub fn open(file: &'a [u8]) -> Result<Self, CaptureError> {
        let format = if NextGeneration::recognizes(file) {
            Format::NextGeneration(NextGeneration::new(file))
        } else {
            Format::Classic(Classic::open(file)?)
        };
        Ok(Self { format, is_over: false })
    }
}

impl<'a> Iterator for Capture<'a> {
    type Item = Result<Frame<'a>, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let frame = match &mut self.format {
            Format::Classic(file) => file.next_frame(),
            Format::NextGeneration(file) => file.next_frame(),
        };
        self.is_over = !matches!(frame, Ok(Some(_)));
        frame.transpose()
    }
}

/// Why a file cannot be read further.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CaptureError {
    /// It does not start like a capture.
    #[error("the file is neither a pcap-ng nor a pcap capture")]
    NotACapture,
    /// It ends within a block or frame, as when the capturing program was killed.
    #[error("the capture ends in the middle of a frame")]
    Truncated,
    /// A pcap-ng block has an impossible length.
    #[error("the capture has a block of the impossible length {0}")]
    BadBlockLength(u32),
    /// A pcap-ng section starts with a wrong byte-order mark.
    #[error("a section of the capture has an unknown byte order")]
    BadByteOrder,
    /// A frame names an interface that was not described.
    #[error("a frame of the capture belongs to the undescribed interface {0}")]
    UnknownInterface(u32),
}

impl From<Truncated> for CaptureError {
    fn from(Truncated: Truncated) -> Self {
        Self::Truncated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{CaptureWriter, UdpPacket};
    use proptest::prelude::*;
    use std::time::Duration;

    fn file() -> Vec<u8> {
        let mut writer = CaptureWriter::new();
        for (second, comment) in ["", "lost: partition", "odd"].into_iter().enumerate() {
            let (from, to) = ("10.0.0.1:1".parse().unwrap(), "[fd00::2]:2".parse().unwrap());
            let packet = UdpPacket { from, to, payload: &[7; 5][..second + 1], is_truncated: false };
            writer.write_udp(Duration::from_nanos(second as u64 * 1_000_000_001), &packet, comment);
        }
        writer.into_bytes()
    }

    #[test]
    fn what_is_written_reads_back() {
        let file = file();
        let frames: Vec<_> = Capture::open(&file).unwrap().map(Result::unwrap).collect();
        let comments: Vec<_> = frames.iter().map(|frame| frame.comment.as_deref()).collect();
        assert_eq!(comments, [None, Some("lost: partition"), Some("odd")]);
        assert_eq!(frames[2].at, Some(Duration::from_nanos(2_000_000_002)));
        assert_eq!(frames[2].udp().unwrap().payload, [7; 3]);
    }

    #[test]
    fn a_file_cut_anywhere_gives_whole_frames_and_then_at_most_one_error() {
        let file = file();
        for len in 0..file.len() {
            let Ok(capture) = Capture::open(&file[..len]) else { continue };
            let results: Vec<_> = capture.collect();
            let errors = results.iter().filter(|result| result.is_err()).count();
            assert!(errors <= 1 && results.iter().rev().skip(1).all(Result::is_ok));
        }
    }

    #[test]
    fn other_files_are_refused() {
        assert_eq!(Capture::open(b"not a capture at all").unwrap_err(), CaptureError::NotACapture);
        assert_eq!(Capture::open(&[]).unwrap_err(), CaptureError::NotACapture);
    }

    proptest! {
        #[test]
        fn damaged_files_are_read_without_a_panic(at in 0_usize..500, byte: u8, more: Vec<u8>) {
            let mut file = [file(), more].concat();
            let at = at % file.len();
            file[at] = byte;
            if let Ok(capture) = Capture::open(&file) {
                capture.flatten().for_each(|frame| { frame.udp(); });
            }
        }
    }
}
