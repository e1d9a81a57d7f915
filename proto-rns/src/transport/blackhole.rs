//! Identities whose announces and paths are refused (spec 1.18).

use crate::{
    IdentityHash,
    wire::{
        Malformed,
        msgpack::{Reader, Shape, Writer},
    },
};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::time::Duration;
use proto_core::UnixTime;

/// The refused identities, about 100 bytes each and their reasons.
#[derive(Clone, Debug)]
pub struct Blackhole {
    refused: BTreeMap<IdentityHash, Refusal>,
    capacity: usize,
}

/// Why and for how long an identity is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who said so.
    pub source: IdentityHash,
    /// Until when; `None` for ever.
    pub until: Option<UnixTime>,
    /// The reason, for people.
    pub reason: Option<String>,
}

/// The longest reason kept, in bytes.
pub const MAX_REASON: usize = 256;

impl Blackhole {
    /// Creates an empty table for `capacity` identities.
    pub const fn new(capacity: usize) -> Self {
        Self { refused: BTreeMap::new(), capacity }
    }

    /// Refuses an identity; false when the table is full.
    pub fn insert(&mut self, identity: IdentityHash, mut refusal: Refusal) -> bool {
        if self.refused.len() >= self.capacity && !self.refused.contains_key(&identity) {
            return false;
        }
        if refusal.reason.as_ref().is_some_and(|reason| reason.len() > MAX_REASON) {
            refusal.reason = None;
        }
        self.refused.insert(identity, refusal);
        true
    }

    /// Accepts an identity again.
    pub fn remove(&mut self, identity: IdentityHash) -> Option<Refusal> {
        self.refused.remove(&identity)
    }

    /// Says whether there is a refusal of an identity, whose time may be over.
    pub fn contains(&self, identity: IdentityHash) -> bool {
        self.refused.contains_key(&identity)
    }

    /// Says whether an identity is refused now.
    pub fn is_refused(&self, identity: IdentityHash, now: UnixTime) -> bool {
        self.refused.get(&identity).is_some_and(|refusal| refusal.until.is_none_or(|until| now < until))
    }

    /// Drops refusals whose time is over.
    pub fn clean(&mut self, now: UnixTime) {
        self.refused.retain(|_, refusal| refusal.until.is_none_or(|until| now < until));
    }

    /// Returns all refusals, in the order of the hashes.
    pub fn iter(&self) -> impl Iterator<Item = (IdentityHash, &Refusal)> {
        self.refused.iter().map(|(identity, refusal)| (*identity, refusal))
    }

    /// Returns the MessagePack of the refusals by `source`, as files and published lists hold them.
    pub fn encode(&self, source: IdentityHash) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        let by_source = || self.iter().filter(|(_, refusal)| refusal.source == source);
        writer.map(by_source().count());
        for (identity, refusal) in by_source() {
            writer.bytes(identity.as_bytes()).map(3).str("source").bytes(source.as_bytes()).str("until");
            match refusal.until {
                Some(until) => writer.float(until.since_epoch().as_secs_f64()),
                None => writer.nil(),
            };
            writer.str("reason");
            match &refusal.reason {
                Some(reason) => writer.str(reason),
                None => writer.nil(),
            };
        }
        out
    }

    /// Adds refusals that [`encode`](Self::encode) wrote, as by `source` whatever they say. Returns how many were new.
    ///
    /// # Errors
    /// The bytes are cut off or of another shape. Nothing is added then.
    pub fn extend(&mut self, bytes: &[u8], source: IdentityHash) -> Result<usize, Malformed> {
        let mut reader = Reader::new(bytes);
        let mut read = Vec::new();
        for _ in 0..reader.map_len()? {
            let identity = IdentityHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
            let mut refusal = Refusal { source, until: None, reason: None };
            for _ in 0..reader.map_len()? {
                match reader.str()? {
                    "until" => refusal.until = read_until(&mut reader)?,
                    "reason" => refusal.reason = read_reason(&mut reader)?,
                    _ => _ = reader.value()?,
                }
            }
            read.push((identity, refusal));
        }
        let new = read.iter().filter(|(identity, _)| !self.refused.contains_key(identity)).count();
        read.into_iter().for_each(|(identity, refusal)| _ = self.insert(identity, refusal));
        Ok(new)
    }
}

fn read_until(reader: &mut Reader<'_>) -> Result<Option<UnixTime>, Malformed> {
    if Reader::new(reader.rest()).shape()? == Shape::Nil {
        reader.value()?;
        return Ok(None);
    }
    let until = Duration::try_from_secs_f64(reader.number()?).map_err(|_| Malformed::Value)?;
    Ok(Some(UnixTime::new(until)))
}

fn read_reason(reader: &mut Reader<'_>) -> Result<Option<String>, Malformed> {
    if let Shape::Text(reason) = Reader::new(reader.value()?).shape()? {
        return Ok((reason.len() <= MAX_REASON).then(|| reason.into()));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> UnixTime {
        UnixTime::new(Duration::from_secs(seconds))
    }

    fn identity(number: u8) -> IdentityHash {
        IdentityHash::new([number; 16])
    }

    fn table() -> Blackhole {
        let mut table = Blackhole::new(2);
        let refusal = Refusal { source: identity(9), until: Some(at(10)), reason: Some("spam".into()) };
        assert!(table.insert(identity(1), refusal.clone()));
        assert!(table.insert(identity(2), Refusal { until: None, reason: None, ..refusal.clone() }));
        assert!(!table.insert(identity(3), refusal));
        table
    }

    #[test]
    fn a_refusal_ends_at_its_time() {
        let mut table = table();
        assert!(table.is_refused(identity(1), at(9)));
        assert!(!table.is_refused(identity(1), at(10)));
        assert!(table.is_refused(identity(2), at(u64::MAX)));
        table.clean(at(10));
        assert_eq!(table.iter().count(), 1);
        assert!(table.remove(identity(2)).is_some());
    }

    #[test]
    fn a_list_is_read_as_it_was_written_and_no_truncation_is() {
        let list = table().encode(identity(9));
        let mut read = Blackhole::new(9);
        assert_eq!(read.extend(&list, identity(9)), Ok(2));
        assert!(read.iter().eq(table().iter()));
        assert_eq!(read.extend(&list, identity(9)), Ok(0));
        for len in 0..list.len() {
            assert!(Blackhole::new(9).extend(&list[..len], identity(9)).is_err());
        }
        assert_eq!(table().encode(identity(8)), [0x80]);
    }
}
