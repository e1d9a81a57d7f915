//! A directory as a node's storage.

use super::{
    atomic::{self, WriteMode},
    error::{Action, StoreError},
};
use proto_rns::{
    DestinationHash,
    storage::{Storage, StoredItem},
};
use std::{
    collections::{BTreeMap, VecDeque},
    fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The files of one node. It never fails: what goes wrong is kept for [`poll_error`](Self::poll_error).
#[derive(Debug)]
pub struct DirectoryStore {
    storage: PathBuf,
    own_ratchets: BTreeMap<DestinationHash, PathBuf>,
    errors: VecDeque<StoreError>,
    lost_errors: u64,
}

/// The longest file that is read, in bytes. A million known destinations have about 250 MB.
const MAX_FILE: u64 = 1 << 28;
/// Errors that are kept until they are fetched; the oldest make place.
const MAX_ERRORS: usize = 64;
/// Files of one kind that are listed.
const MAX_LISTED: usize = 1 << 20;

const RATCHETS: &str = "ratchets";
const OWN_RATCHETS: &str = "own_ratchets";
const BLACKHOLE: &str = "blackhole";
const LOCAL_BLACKHOLE: &str = "local";

impl DirectoryStore {
    /// Opens the files below `config_dir`, the directory with the config file. Creates the directories that are missing.
    pub fn open(config_dir: &Path) -> Self {
        let storage = config_dir.join("storage");
        let mut store =
            Self { storage, own_ratchets: BTreeMap::new(), errors: VecDeque::new(), lost_errors: 0 };
        for dir in [store.announces(), store.storage.join(RATCHETS), store.storage.join(BLACKHOLE)] {
            store.note(&dir, Action::Create, fs::create_dir_all(&dir));
        }
        store
    }

    /// Keeps the private ratchets of a destination in a file of the application's choice, as the reference leaves it to
    /// applications. Otherwise they are in `storage/own_ratchets`.
    pub fn keep_own_ratchets_at(&mut self, destination: DestinationHash, path: PathBuf) {
        self.own_ratchets.insert(destination, path);
    }

    /// Returns the next thing that went wrong.
    pub fn poll_error(&mut self) -> Option<StoreError> {
        self.errors.pop_front()
    }

    /// Returns how many errors were dropped because nobody fetched them.
    pub const fn lost_errors(&self) -> u64 {
        self.lost_errors
    }

    /// Returns the file of an item.
    pub fn path(&self, item: StoredItem) -> PathBuf {
        match item {
            StoredItem::TransportIdentity => self.storage.join("transport_identity"),
            StoredItem::KnownDestinations => self.storage.join("known_destinations"),
            StoredItem::PathTable => self.storage.join("destination_table"),
            StoredItem::Tunnels => self.storage.join("tunnels"),
            StoredItem::PacketHashes => self.storage.join("packet_hashlist.raw"),
            StoredItem::Ratchet(destination) => self.storage.join(RATCHETS).join(destination.to_string()),
            StoredItem::OwnRatchets(destination) => match self.own_ratchets.get(&destination) {
                Some(path) => path.clone(),
                None => self.storage.join(OWN_RATCHETS).join(destination.to_string()),
            },
            StoredItem::Announce(packet) => self.announces().join(packet.to_string()),
            StoredItem::Blackhole => self.storage.join(BLACKHOLE).join(LOCAL_BLACKHOLE),
            StoredItem::BlackholeOf(source) => self.storage.join(BLACKHOLE).join(source.to_string()),
            // Kinds that are newer than this crate.
            newer => self.storage.join(format!("{newer:?}")),
        }
    }

    fn announces(&self) -> PathBuf {
        self.storage.join("cache").join("announces")
    }

    /// Appends an item for every file of a directory that has a hash as its name.
    fn list_hashes<H: FromStr + Ord>(
        &mut self,
        dir: &Path,
        item: impl Fn(H) -> StoredItem,
        items: &mut Vec<StoredItem>,
    ) {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.note(dir, Action::List, Err(error)),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut hashes: Vec<H> = names.filter_map(|name| name.parse().ok()).take(MAX_LISTED).collect();
        hashes.sort();
        items.extend(hashes.into_iter().map(item));
    }

    fn note(&mut self, path: &Path, action: Action, result: io::Result<()>) {
        let Err(error) = result else { return };
        if self.errors.len() >= MAX_ERRORS {
            self.errors.pop_front();
            self.lost_errors += 1;
        }
        self.errors.push_back(StoreError { path: path.into(), action, cause: error.kind() });
    }
}

impl Storage for DirectoryStore {
    fn read(&mut self, item: StoredItem) -> Option<Vec<u8>> {
        let path = self.path(item);
        match atomic::read(&path, MAX_FILE) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.note(&path, Action::Read, Err(error));
                None
            }
        }
    }

    fn write(&mut self, item: StoredItem, bytes: &[u8]) {
        let path = self.path(item);
        // Beside the directories whose files are listed, so that nobody takes what is left of an attempt for one.
        let temporary = if matches!(item, StoredItem::OwnRatchets(_)) {
            path.with_extension("new")
        } else {
            self.storage.join("being_written")
        };
        let result = match path.parent() {
            Some(dir) => fs::create_dir_all(dir),
            None => Ok(()),
        }
        .and_then(|()| atomic::replace(&path, &temporary, bytes, write_mode(item)));
        self.note(&path, Action::Write, result);
    }

    fn remove(&mut self, item: StoredItem) {
        let path = self.path(item);
        let result = fs::remove_file(&path);
        if !result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            self.note(&path, Action::Remove, result);
        }
    }

    fn list(&mut self) -> Vec<StoredItem> {
        let mut items = Vec::new();
        self.list_hashes(&self.storage.join(RATCHETS), StoredItem::Ratchet, &mut items);
        self.list_hashes(&self.storage.join(OWN_RATCHETS), StoredItem::OwnRatchets, &mut items);
        let elsewhere = self.own_ratchets.iter().filter(|(_, path)| path.is_file());
        items.extend(elsewhere.map(|(destination, _)| StoredItem::OwnRatchets(*destination)));
        self.list_hashes(&self.announces(), StoredItem::Announce, &mut items);
        if self.path(StoredItem::Blackhole).is_file() {
            items.push(StoredItem::Blackhole);
        }
        self.list_hashes(&self.storage.join(BLACKHOLE), StoredItem::BlackholeOf, &mut items);
        items
    }
}

/// Keys are secret. What others announce again is not worth waiting for the disk.
const fn write_mode(item: StoredItem) -> WriteMode {
    WriteMode {
        secret: matches!(item, StoredItem::TransportIdentity | StoredItem::OwnRatchets(_)),
        durable: !matches!(item, StoredItem::Announce(_) | StoredItem::Ratchet(_) | StoredItem::PacketHashes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;
    use proto_rns::{
        IdentityHash, PacketHash,
        identity::{KnownDestinations, LastUse, RememberedRatchet},
    };

    fn bytes(hex: &str) -> Vec<u8> {
        let nibble = |digit: u8| u8::try_from(char::from(digit).to_digit(16).unwrap()).unwrap();
        hex.as_bytes().chunks(2).map(|pair| (nibble(pair[0]) << 4) | nibble(pair[1])).collect()
    }

    fn destination() -> DestinationHash {
        "42a40fc5b08368072288a65de0c0b701".parse().unwrap()
    }

    fn all() -> Vec<StoredItem> {
        vec![
            StoredItem::TransportIdentity,
            StoredItem::KnownDestinations,
            StoredItem::PathTable,
            StoredItem::Tunnels,
            StoredItem::PacketHashes,
            StoredItem::Ratchet(destination()),
            StoredItem::OwnRatchets(destination()),
            StoredItem::Announce(PacketHash::new([7; 32])),
            StoredItem::Blackhole,
            StoredItem::BlackholeOf(IdentityHash::new([8; 16])),
        ]
    }

    #[test]
    fn every_item_is_read_as_it_was_written_and_gone_when_removed() {
        let dir = TestDir::new("store");
        let mut store = DirectoryStore::open(dir.path());
        for (number, item) in (0..).zip(all()) {
            assert_eq!(store.read(item), None);
            store.remove(item);
            store.write(item, &[9; 500]);
            store.write(item, &[number]);
        }
        let mut again = DirectoryStore::open(dir.path());
        assert_eq!(again.list(), &all()[5..]);
        for (number, item) in (0..).zip(all()) {
            assert_eq!(again.read(item), Some(vec![number]));
            again.remove(item);
            assert_eq!(again.read(item), None);
        }
        assert_eq!((store.poll_error(), again.poll_error()), (None, None));
        assert!(!dir.path().join("storage/being_written").exists());
    }

    #[test]
    fn the_files_have_the_references_names() {
        let store = DirectoryStore::open(TestDir::new("names").path());
        let path = |item| {
            let path = store.path(item);
            path.strip_prefix(&store.storage).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(path(StoredItem::PathTable), "destination_table");
        assert_eq!(path(StoredItem::PacketHashes), "packet_hashlist.raw");
        assert_eq!(path(StoredItem::Ratchet(destination())), "ratchets/42a40fc5b08368072288a65de0c0b701");
        assert_eq!(path(StoredItem::Blackhole), "blackhole/local");
        let announce = path(StoredItem::Announce(PacketHash::new([0xab; 32])));
        assert_eq!(announce, format!("cache/announces/{}", "ab".repeat(32)));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_keys() {
        use std::os::unix::fs::PermissionsExt;
        let dir = TestDir::new("secret");
        let mut store = DirectoryStore::open(dir.path());
        let mut mode = |item| {
            // Whoever could read the old file must not read the new one.
            fs::create_dir_all(store.path(item).parent().unwrap()).unwrap();
            fs::write(store.path(item), b"old").unwrap();
            store.write(item, b"new");
            fs::metadata(store.path(item)).unwrap().permissions().mode() & 0o077
        };
        assert_eq!(mode(StoredItem::TransportIdentity), 0);
        assert_eq!(mode(StoredItem::OwnRatchets(destination())), 0);
        assert_ne!(mode(StoredItem::KnownDestinations), 0);
    }

    #[test]
    fn own_ratchets_are_where_the_application_wants_them() {
        let dir = TestDir::new("own");
        let mut store = DirectoryStore::open(dir.path());
        let path = dir.path().join("app").join("ratchets.bin");
        store.keep_own_ratchets_at(destination(), path.clone());
        store.write(StoredItem::OwnRatchets(destination()), b"keys");
        assert_eq!(fs::read(path).unwrap(), b"keys");
        assert_eq!(store.list(), [StoredItem::OwnRatchets(destination())]);
    }

    #[test]
    fn what_goes_wrong_is_told_with_path_and_remedy_and_bounded() {
        let dir = TestDir::new("wrong");
        fs::write(dir.path().join("storage"), b"a file in the place of the directory").unwrap();
        let mut store = DirectoryStore::open(dir.path());
        store.write(StoredItem::Tunnels, b"x");
        assert_eq!(store.read(StoredItem::Tunnels), None);
        assert_eq!(store.list(), []);
        let errors: Vec<_> = std::iter::from_fn(|| store.poll_error()).collect();
        let written = errors.iter().find(|error| error.action == Action::Write).unwrap();
        assert!(written.path.ends_with("storage/tunnels"));
        assert!(written.to_string().contains("cannot write"), "{written}");
        (0..100).for_each(|_| store.write(StoredItem::Tunnels, b"x"));
        assert_eq!((store.errors.len(), store.lost_errors()), (MAX_ERRORS, 36));
    }

    #[test]
    fn files_that_are_none_of_the_nodes_are_left_alone() {
        let dir = TestDir::new("strange");
        let mut store = DirectoryStore::open(dir.path());
        fs::write(dir.path().join("storage/ratchets/readme"), b"").unwrap();
        assert_eq!(store.list(), []);
    }

    /// Written by a transport node of the reference 1.5.7 that heard a destination announce with a ratchet and the
    /// application's data `hello`, and was stopped.
    #[test]
    fn the_references_files_are_understood() {
        let dir = TestDir::new("reference");
        let mut store = DirectoryStore::open(dir.path());
        let put =
            |name: &str, hex: &str| fs::write(dir.path().join("storage").join(name), bytes(hex)).unwrap();
        put("known_destinations", KNOWN_DESTINATIONS);
        put("ratchets/42a40fc5b08368072288a65de0c0b701", RATCHET);

        let file = store.read(StoredItem::KnownDestinations).unwrap();
        let known = KnownDestinations::decode(&file, 9).unwrap();
        let entry = known.get(destination()).unwrap();
        assert_eq!((entry.app_data.as_deref(), entry.used), (Some(&b"hello"[..]), LastUse::Never));
        assert_eq!(entry.identity.hash().to_string(), "646b8f60eeb1c700c6ff0469aed55070");
        assert_eq!(known.encode(), file);

        assert_eq!(store.list(), [StoredItem::Ratchet(destination())]);
        let file = store.read(StoredItem::Ratchet(destination())).unwrap();
        let ratchet = RememberedRatchet::decode(&file).unwrap();
        assert_eq!(ratchet.key[..4], [0x6c, 0xae, 0xba, 0x3c]);
        assert_eq!(ratchet.encode(), file);
    }

    const KNOWN_DESTINATIONS: &str = "81c41042a40fc5b08368072288a65de0c0b70195cb41dac37e2fb9e88dc420d51ff35a2f93f95f\
        a0c93cf94eee3cf06642a1052d954eec9e5d02261b6d676fc440390c3f77d5783469a53f6bc84e9aeaf973ce4208a2a389873ee545fc\
        8ece082827fda06d957e373bea938964453a795bf4691d80c7c2a7d1925ed564a2641b1dc40568656c6c6f00";
    const RATCHET: &str = "82a772617463686574c4206caeba3c6a6ae7175a5ce4c6b842c7439cdc8513e0f5e27b289f4f184456cc05a872\
        65636569766564cb41dac37e2fb9eb27";
}
