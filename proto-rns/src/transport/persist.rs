//! The router's tables in the formats of the reference's files (spec 1.19).

use super::{
    Router,
    path::{Blobs, Path},
    tunnel::Tunnel,
    tunneling::interface_hash,
};
use crate::{
    DestinationHash, Env, IdentityHash, InterfaceHash, PacketHash,
    iface::{InterfaceId, Interfaces},
    wire::{
        Malformed, OwnedPacket, Packet, RandomHash, TunnelId,
        msgpack::{Reader, Writer},
    },
};
use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;
use proto_core::{Instant, UnixTime};

/// A file `cache/announces/<packet hash>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedAnnounce {
    /// The file's name, in hexadecimal digits.
    pub packet: PacketHash,
    /// The file's contents.
    pub contents: Vec<u8>,
}

impl Router {
    /// Returns the contents of the file `destination_table`.
    pub fn encode_paths(&self, env: &Env<'_>, out: &dyn Interfaces) -> Vec<u8> {
        let stored = self.paths.iter().filter_map(|(destination, path)| {
            out.properties(path.interface).map(|properties| (*destination, path, interface_hash(properties)))
        });
        let stored: Vec<_> = stored.collect();
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        writer.array(stored.len());
        for (destination, path, interface) in stored {
            write_path(&mut writer, &Clock::of(env), destination, path, &interface);
        }
        bytes
    }

    /// Takes the paths of a file `destination_table` whose interfaces are there and whose time is not over. `cached`
    /// reads the file of an announce.
    ///
    /// # Errors
    /// The file is cut off or is no array. Entries that are not as they should be are left out.
    pub fn decode_paths(
        &mut self,
        env: &Env<'_>,
        bytes: &[u8],
        out: &dyn Interfaces,
        cached: &dyn Fn(&PacketHash) -> Option<Vec<u8>>,
    ) -> Result<(), Malformed> {
        let interfaces = interfaces_by_hash(out);
        let mut reader = Reader::new(bytes);
        for _ in 0..reader.array_len()? {
            let Ok(stored) = read_path(&Clock::of(env), reader.value()?, cached) else { continue };
            let (destination, path, interface) = stored;
            if let Some(interface) = interfaces.get(&interface)
                && path.expires > env.now
            {
                self.paths.insert(destination, path.over(*interface));
            }
        }
        Ok(())
    }

    /// Returns the contents of the file `tunnels`.
    pub fn encode_tunnels(&self, env: &Env<'_>, out: &dyn Interfaces) -> Vec<u8> {
        let clock = Clock::of(env);
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        let tunnels: Vec<_> = self.tunnels.iter().collect();
        writer.array(tunnels.len());
        for (id, tunnel) in tunnels {
            let interface = tunnel.interface.and_then(|id| out.properties(id)).map(interface_hash);
            let attached = tunnel.interface.map(|id| self.paths_over(id)).unwrap_or_default();
            let paths = || tunnel.paths.iter().chain(&attached);
            let expires = tunnel.expires.unwrap_or(env.now + super::TUNNEL_TIMEOUT);
            writer.array(4).bytes(id.as_bytes());
            writer.optional_bytes(interface.as_ref().map(|hash| &hash.as_bytes()[..]));
            writer.array(paths().count());
            let interface = interface.unwrap_or(InterfaceHash::new([0; 32]));
            for (destination, path) in paths() {
                write_path(&mut writer, &clock, *destination, path, &interface);
            }
            writer.float(clock.seconds(expires));
        }
        bytes
    }

    /// Takes the tunnels of a file `tunnels`. Until their interfaces come back they have none.
    ///
    /// # Errors
    /// The file is cut off or is no array. Entries that are not as they should be are left out.
    pub fn decode_tunnels(
        &mut self,
        env: &Env<'_>,
        bytes: &[u8],
        cached: &dyn Fn(&PacketHash) -> Option<Vec<u8>>,
    ) -> Result<(), Malformed> {
        let mut reader = Reader::new(bytes);
        for _ in 0..reader.array_len()? {
            if let Ok((id, mut tunnel)) = read_tunnel(&Clock::of(env), reader.value()?, cached) {
                tunnel.paths.truncate(self.config.paths_per_tunnel);
                if tunnel.expires.is_some_and(|expires| expires > env.now) {
                    self.tunnels.restore(id, tunnel);
                }
            }
        }
        Ok(())
    }

    /// Returns the contents of the file `packet_hashlist.raw`: the last packets that were seen.
    ///
    /// There are fewer than in the reference's file, which keeps the hashes of all. What is missing could be replayed
    /// once after a restart; announces could not, their paths remember them.
    pub fn encode_seen(&self) -> Vec<u8> {
        self.recent.iter().flat_map(|hash| hash.as_bytes()).copied().collect()
    }

    /// Takes the packets of a file `packet_hashlist.raw` as seen.
    pub fn decode_seen(&mut self, bytes: &[u8]) {
        bytes
            .chunks_exact(PacketHash::LEN)
            .filter_map(PacketHash::from_slice)
            .for_each(|hash| _ = self.see(hash));
    }

    /// Returns the announces that paths were learned from, as files.
    pub fn cached_announces<'s>(
        &'s self,
        out: &'s dyn Interfaces,
    ) -> impl Iterator<Item = CachedAnnounce> + 's {
        self.paths.iter().filter_map(|(_, path)| {
            let announce = path.announce.as_ref()?.as_packet();
            let name = &out.properties(path.interface)?.name;
            let mut contents = Vec::new();
            let raw = Packet { hops: announce.hops.saturating_sub(1), ..announce }.to_vec();
            Writer::new(&mut contents).array(2).bytes(&raw).str(name);
            Some(CachedAnnounce { packet: path.packet, contents })
        })
    }
}

/// Translates between the clock of the tables and that of the files.
struct Clock {
    now: Instant,
    wall: UnixTime,
}

impl Clock {
    const fn of(env: &Env<'_>) -> Self {
        Self { now: env.now, wall: env.wall }
    }

    fn seconds(&self, at: Instant) -> f64 {
        let wall = self.wall.since_epoch();
        let past = wall.saturating_sub(self.now.saturating_since(at));
        past.saturating_add(at.saturating_since(self.now)).as_secs_f64()
    }

    /// Returns the instant of a time in a file. Times before this machine's clock began become its beginning.
    fn instant(&self, seconds: f64) -> Result<Instant, Malformed> {
        let at = Duration::try_from_secs_f64(seconds).map_err(|_| Malformed::Value)?;
        let wall = self.wall.since_epoch();
        Ok(self.now - wall.saturating_sub(at) + at.saturating_sub(wall))
    }

    const fn unix_seconds(&self) -> u64 {
        self.wall.since_epoch().as_secs()
    }
}

fn write_path(
    writer: &mut Writer<'_>,
    clock: &Clock,
    destination: DestinationHash,
    path: &Path,
    interface: &InterfaceHash,
) {
    writer.array(8).bytes(destination.as_bytes()).float(clock.seconds(path.refreshed));
    writer
        .bytes(path.next_hop_id(destination).as_bytes())
        .unsigned(path.hops.into())
        .float(clock.seconds(path.expires));
    let blobs = path.blobs.to_persist();
    writer.array(blobs.len());
    blobs.for_each(|blob| _ = writer.bytes(blob.as_bytes()));
    writer.bytes(interface.as_bytes()).bytes(path.packet.as_bytes());
}

/// Reads a path, still without its interface, and the hash of that.
fn read_path(
    clock: &Clock,
    bytes: &[u8],
    cached: &dyn Fn(&PacketHash) -> Option<Vec<u8>>,
) -> Result<(DestinationHash, Path, InterfaceHash), Malformed> {
    let mut reader = Reader::new(bytes);
    if reader.array_len()? != 8 {
        return Err(Malformed::Value);
    }
    let destination = DestinationHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
    let refreshed = clock.instant(reader.number()?)?;
    let next_hop = IdentityHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
    let next_hop = (next_hop.as_bytes() != destination.as_bytes()).then_some(next_hop);
    let hops = u8::try_from(reader.unsigned()?).map_err(|_| Malformed::Value)?;
    if hops > Packet::MAX_HOPS {
        return Err(Malformed::TooManyHops);
    }
    let expires = clock.instant(reader.number()?)?;
    let mut blobs = Vec::new();
    for _ in 0..reader.array_len()? {
        blobs.push(RandomHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)?);
    }
    let interface = InterfaceHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
    let packet = PacketHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
    let blobs = Blobs::restore(blobs.into_iter(), clock.unix_seconds());
    let mut path = Path::restored(next_hop, hops, InterfaceId(0), refreshed, expires, blobs);
    path.packet = packet;
    path.announce = cached(&packet).and_then(|file| read_announce(&file, &packet, hops));
    path.identity = path.announce.as_ref().and_then(identity_of);
    Ok((destination, path, interface))
}

fn read_tunnel(
    clock: &Clock,
    bytes: &[u8],
    cached: &dyn Fn(&PacketHash) -> Option<Vec<u8>>,
) -> Result<(TunnelId, Tunnel), Malformed> {
    let mut reader = Reader::new(bytes);
    if reader.array_len()? != 4 {
        return Err(Malformed::Value);
    }
    let id = TunnelId::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
    reader.optional_bytes()?;
    let mut paths = Vec::new();
    for _ in 0..reader.array_len()? {
        if let Ok((destination, path, _)) = read_path(clock, reader.value()?, cached) {
            paths.push((destination, path));
        }
    }
    let expires = Some(clock.instant(reader.number()?)?);
    Ok((id, Tunnel { interface: None, paths, expires }))
}

/// Reads the announce in a file if it is the one that it should be.
fn read_announce(file: &[u8], hash: &PacketHash, hops: u8) -> Option<OwnedPacket> {
    let mut reader = Reader::new(file);
    reader.array_len().ok()?;
    let packet = Packet::parse(reader.bytes().ok()?).ok()?;
    (packet.hash() == *hash).then(|| OwnedPacket::new(&Packet { hops, ..packet }))
}

fn identity_of(announce: &OwnedPacket) -> Option<IdentityHash> {
    crate::wire::Announce::parse(&announce.as_packet()).ok().map(|announce| announce.identity.hash())
}

fn interfaces_by_hash(out: &dyn Interfaces) -> BTreeMap<InterfaceHash, InterfaceId> {
    let known = |id| out.properties(id).map(|properties| (interface_hash(properties), id));
    out.ids().into_iter().filter_map(known).collect()
}
