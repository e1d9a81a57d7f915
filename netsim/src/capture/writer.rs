//! The writer of pcap-ng files.

use super::{
    frame::LinkType,
    next_generation::{
        BYTE_ORDER_MAGIC, ENHANCED_PACKET, INTERFACE_DESCRIPTION, OPTION_COMMENT, OPTION_RESOLUTION,
        SECTION_HEADER, padding,
    },
    packet::UdpPacket,
};
use std::time::Duration;

/// Builds a pcap-ng file in memory: one section, one interface of raw IP packets, timestamps in nanoseconds.
#[derive(Clone, Debug)]
pub struct CaptureWriter {
    file: Vec<u8>,
}

impl CaptureWriter {
    /// Starts a file.
    pub fn new() -> Self {
        let mut writer = Self { file: Vec::new() };
        writer.write_section_header();
        writer.write_interface();
        writer
    }

    /// Adds a datagram in an IP packet, with a comment unless that is empty.
    pub fn write_udp(&mut self, at: Duration, packet: &UdpPacket<'_>, comment: &str) {
        let mut data = Vec::new();
        packet.emit(&mut data);
        let ticks = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        let len = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let mut body = Vec::new();
        let interface: u32 = 0;
        body.extend(interface.to_le_bytes());
        let [a, b, c, d, upper @ ..] = ticks.to_le_bytes();
        body.extend(upper);
        body.extend([a, b, c, d]);
        body.extend(len.to_le_bytes());
        body.extend(len.to_le_bytes());
        put_padded(&mut body, &data);
        if !comment.is_empty() {
            put_option(&mut body, OPTION_COMMENT, comment.as_bytes());
            put_option(&mut body, 0, &[]);
        }
        self.put_block(ENHANCED_PACKET, &body);
    }

    /// Returns the file.
    pub fn into_bytes(self) -> Vec<u8> {
        self.file
    }

    fn write_section_header(&mut self) {
        let (major, minor): (u16, u16) = (1, 0);
        let unknown_len = u64::MAX;
        let mut body = BYTE_ORDER_MAGIC.to_le_bytes().to_vec();
        body.extend(major.to_le_bytes());
        body.extend(minor.to_le_bytes());
        body.extend(unknown_len.to_le_bytes());
        self.put_block(SECTION_HEADER, &body);
    }

    fn write_interface(&mut self) {
        let no_snapshot_len: u32 = 0;
        let nanos = 9;
        let mut body = LinkType::Raw.number().to_le_bytes().to_vec();
        body.extend([0, 0]);
        body.extend(no_snapshot_len.to_le_bytes());
        put_option(&mut body, OPTION_RESOLUTION, &[nanos]);
        put_option(&mut body, 0, &[]);
        self.put_block(INTERFACE_DESCRIPTION, &body);
    }

    fn put_block(&mut self, kind: u32, body: &[u8]) {
        let len = u32::try_from(body.len() + 12).unwrap_or(u32::MAX).to_le_bytes();
        self.file.extend(kind.to_le_bytes());
        self.file.extend(len);
        self.file.extend(body);
        self.file.extend(len);
    }
}

impl Default for CaptureWriter {
    fn default() -> Self {
        Self::new()
    }
}

fn put_option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let len = u16::try_from(value.len()).unwrap_or(u16::MAX);
    let value = value.get(..usize::from(len)).unwrap_or(value);
    body.extend(code.to_le_bytes());
    body.extend(len.to_le_bytes());
    put_padded(body, value);
}

fn put_padded(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend(bytes);
    body.resize(body.len() + padding(bytes.len()), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_has_known_bytes() {
        let section = [
            0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255,
            255, 255, 255, 28, 0, 0, 0,
        ];
        let interface = [
            1, 0, 0, 0, 32, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0,
            0,
        ];
        assert_eq!(CaptureWriter::new().into_bytes(), [&section[..], &interface].concat());
    }
}
