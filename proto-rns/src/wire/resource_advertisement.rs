//! The offer of a resource's segment (spec 1.12, step 5).

use super::{
    Malformed, MapHashes, ResourceFlags,
    msgpack::{Reader, ShapeError, Writer},
};
use crate::{RequestId, ResourceHash};
use alloc::vec::Vec;

/// Everything a receiver must know to ask for a segment.
///
/// On the wire it is a MessagePack map with one-letter keys. It is written in the reference's order and read in any;
/// keys that are not known are skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceAdvertisement<'a> {
    /// `t`: the length of the sealed stream in bytes.
    pub transfer_size: u64,
    /// `d`: the length of the data of all segments in bytes, metadata included, before compression.
    pub data_size: u64,
    /// `n`: how many parts the stream has.
    pub parts: u32,
    /// `h`: the hash of this segment.
    pub hash: ResourceHash,
    /// `r`: what was added to everything hashed.
    pub salt: ResourceSalt,
    /// `o`: the hash of the first segment.
    pub first_hash: ResourceHash,
    /// `i`: this segment's number, from 1.
    pub segment: u32,
    /// `l`: how many segments there are.
    pub segments: u32,
    /// `q`: the request that this is, or that this answers.
    pub request: Option<RequestId>,
    /// `f`: the kind of stream.
    pub flags: ResourceFlags,
    /// `m`: the map hashes of the first parts, at most [`MAX_HASHES`](Self::MAX_HASHES).
    pub hashmap: MapHashes<'a>,
}

impl<'a> ResourceAdvertisement<'a> {
    /// How many map hashes an advertisement or an update holds, whatever the link's MTU.
    pub const MAX_HASHES: usize = 74;

    /// Parses the plaintext of an advertisement.
    ///
    /// # Errors
    /// It is cut off, a field is missing, of the wrong kind or length, or something follows.
    pub fn parse(plaintext: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(plaintext);
        let mut fields = Fields::default();
        for _ in 0..reader.map_len()? {
            fields.read(&mut reader)?;
        }
        reader.end()?;
        fields.finish().ok_or(Malformed::Shape(ShapeError::WrongKind))
    }

    /// Appends the plaintext.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        writer.map(11);
        writer.str("t").unsigned(self.transfer_size);
        writer.str("d").unsigned(self.data_size);
        writer.str("n").unsigned(self.parts.into());
        writer.str("h").bytes(self.hash.as_bytes());
        writer.str("r").bytes(self.salt.as_bytes());
        writer.str("o").bytes(self.first_hash.as_bytes());
        writer.str("i").unsigned(self.segment.into());
        writer.str("l").unsigned(self.segments.into());
        writer.str("q").optional_bytes(self.request.as_ref().map(|request| &request.as_bytes()[..]));
        writer.str("f").unsigned(self.flags.to_byte().into());
        writer.str("m").bytes(self.hashmap.as_bytes());
    }

    /// Returns the plaintext.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(160 + self.hashmap.as_bytes().len());
        self.emit(&mut out);
        out
    }
}

/// Four random bytes that make the hashes of a segment its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceSalt([u8; 4]);

impl ResourceSalt {
    /// Takes bytes as a salt.
    pub const fn new(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }
}

/// The fields read so far.
#[derive(Default)]
struct Fields<'a> {
    transfer_size: Option<u64>,
    data_size: Option<u64>,
    parts: Option<u32>,
    hash: Option<ResourceHash>,
    salt: Option<ResourceSalt>,
    first_hash: Option<ResourceHash>,
    segment: Option<u32>,
    segments: Option<u32>,
    request: Option<Option<RequestId>>,
    flags: Option<ResourceFlags>,
    hashmap: Option<MapHashes<'a>>,
}

impl<'a> Fields<'a> {
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), Malformed> {
        match reader.str()? {
            "t" => self.transfer_size = Some(reader.unsigned()?),
            "d" => self.data_size = Some(reader.unsigned()?),
            "n" => self.parts = Some(small(reader)?),
            "h" => self.hash = Some(hash(reader)?),
            "r" => {
                let salt = reader.bytes()?.try_into().map_err(|_| Malformed::Value)?;
                self.salt = Some(ResourceSalt(salt));
            }
            "o" => self.first_hash = Some(hash(reader)?),
            "i" => self.segment = Some(small(reader)?),
            "l" => self.segments = Some(small(reader)?),
            "q" => {
                let request = reader.optional_bytes()?;
                let request = request.map(|bytes| RequestId::from_slice(bytes).ok_or(Malformed::Value));
                self.request = Some(request.transpose()?);
            }
            "f" => {
                let byte = u8::try_from(reader.unsigned()?).map_err(|_| Malformed::Value)?;
                self.flags = Some(ResourceFlags::from_byte(byte));
            }
            "m" => self.hashmap = Some(MapHashes::parse(reader.bytes()?)?),
            _ => _ = reader.value()?,
        }
        Ok(())
    }

    fn finish(self) -> Option<ResourceAdvertisement<'a>> {
        Some(ResourceAdvertisement {
            transfer_size: self.transfer_size?,
            data_size: self.data_size?,
            parts: self.parts?,
            hash: self.hash?,
            salt: self.salt?,
            first_hash: self.first_hash?,
            segment: self.segment?,
            segments: self.segments?,
            request: self.request?,
            flags: self.flags?,
            hashmap: self.hashmap?,
        })
    }
}

fn small(reader: &mut Reader<'_>) -> Result<u32, Malformed> {
    u32::try_from(reader.unsigned()?).map_err(|_| Malformed::Value)
}

fn hash(reader: &mut Reader<'_>) -> Result<ResourceHash, Malformed> {
    ResourceHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn advertisement(hashmap: &[u8]) -> ResourceAdvertisement<'_> {
        ResourceAdvertisement {
            transfer_size: 768,
            data_size: 700,
            parts: 2,
            hash: ResourceHash::new([1; 32]),
            salt: ResourceSalt::new([2; 4]),
            first_hash: ResourceHash::new([3; 32]),
            segment: 1,
            segments: 1,
            request: None,
            flags: ResourceFlags { encrypted: true, ..ResourceFlags::default() },
            hashmap: MapHashes::parse(hashmap).unwrap(),
        }
    }

    proptest! {
        #[test]
        fn an_advertisement_is_parsed_as_it_was_emitted(
            sizes: (u64, u64),
            counts: (u32, u32, u32),
            hash: [u8; 32],
            request: Option<[u8; 16]>,
            flags in 0..64_u8,
            hashmap in prop::collection::vec(any::<[u8; 4]>(), 0..=74),
        ) {
            let hashmap = hashmap.concat();
            let sent = ResourceAdvertisement {
                transfer_size: sizes.0,
                data_size: sizes.1,
                parts: counts.0,
                hash: ResourceHash::new(hash),
                segment: counts.1,
                segments: counts.2,
                request: request.map(RequestId::new),
                flags: ResourceFlags::from_byte(flags),
                ..advertisement(&hashmap)
            };
            let bytes = sent.to_vec();
            prop_assert_eq!(ResourceAdvertisement::parse(&bytes), Ok(sent));
            for len in 0..bytes.len() {
                prop_assert!(ResourceAdvertisement::parse(&bytes[..len]).is_err());
            }
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = ResourceAdvertisement::parse(&bytes);
        }
    }

    #[test]
    fn a_missing_field_is_an_error_and_an_unknown_one_is_skipped() {
        let whole = advertisement(&[]).to_vec();
        let mut short = whole[..whole.len() - 4].to_vec();
        short[0] = 0x8a;
        assert!(ResourceAdvertisement::parse(&short).is_err());
        let mut long = whole;
        long[0] = 0x8c;
        long.extend_from_slice(&[0xa1, b'x', 0x91, 0xc0]);
        assert_eq!(ResourceAdvertisement::parse(&long), Ok(advertisement(&[])));
    }
}
