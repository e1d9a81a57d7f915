//! Identities that are refused, and their files.

use super::instance::Instance;
use crate::{
    call::{Answer, Failure, Params},
    tools::wall,
};
use proto_core::UnixTime;
use proto_rns::{
    IdentityHash,
    storage::{Storage, StoredItem},
    transport::Refusal,
};
use rns_host::store::DirectoryStore;
use serde_json::{Value, json};
use std::{fs, path::PathBuf, time::Duration};

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "blackhole_identity" => refuse(instance, params),
        "unblackhole_identity" => accept(instance, params),
        "read_blackhole_table" => Ok(json!({"count": refused(instance).len(), "entries": refused(instance)})),
        "blackhole_list_handler" => Ok(published(instance)),
        "blackhole_reload" => reload(instance),
        "blackhole_clear" => clear(instance),
        "blackhole_storage_files" => files(instance),
        "blackhole_clear_storage" => clear_storage(instance),
        "blackhole_rename_storage" => rename(instance, params),
        "blackhole_set_sources" => set_sources(instance, params),
        _ => return None,
    })
}

fn refuse(instance: &mut Instance, params: Params<'_>) -> Answer {
    let identity = IdentityHash::new(params.array("identity_hash")?);
    let until = params.seconds("until").map(|at| UnixTime::new(Duration::from_secs_f64(at)));
    let refused = instance.mock.node.refuse(identity, until, params.some_text("reason").map(Into::into));
    store(instance);
    Ok(json!({"blackholed": refused}))
}

fn accept(instance: &mut Instance, params: Params<'_>) -> Answer {
    let lifted = instance.mock.node.accept_again(IdentityHash::new(params.array("identity_hash")?));
    store(instance);
    Ok(json!({"lifted": lifted}))
}

/// Writes the refusals of the node's owner.
fn store(instance: &Instance) {
    let node = &instance.mock.node;
    let list = node.router().blackhole().encode(node.transport_id());
    DirectoryStore::open(&instance.directory).write(StoredItem::Blackhole, &list);
}

fn refused(instance: &Instance) -> Vec<Value> {
    instance.mock.node.router().blackhole().iter().map(|(identity, of)| described(identity, of)).collect()
}

fn described(identity: IdentityHash, refusal: &Refusal) -> Value {
    json!({
        "identity_hash": identity.to_string(),
        "source": refusal.source.to_string(),
        "until": refusal.until.map(|until| until.since_epoch().as_secs_f64()),
        "reason": refusal.reason,
    })
}

/// What the node would publish, which is what it refuses.
fn published(instance: &Instance) -> Value {
    let entries = refused(instance);
    json!({"is_blackhole_table": true, "count": entries.len(), "entries": entries})
}

/// Reads the files again: the owner's, and those of trusted nodes. Refusals whose time is over are left out.
fn reload(instance: &mut Instance) -> Answer {
    let mut store = DirectoryStore::open(&instance.directory);
    let node = &mut instance.mock.node;
    let own = node.transport_id();
    for item in store.list().into_iter().chain([StoredItem::Blackhole]) {
        let source = if let StoredItem::BlackholeOf(source) = item { source } else { own };
        let is_list = matches!(item, StoredItem::Blackhole | StoredItem::BlackholeOf(_));
        if !is_list || (source != own && !instance.sources.contains(&source)) {
            continue;
        }
        let is_known = |known: IdentityHash, node: &proto_rns::node::Node| {
            node.router().blackhole().iter().any(|(identity, of)| identity == known && of.source == own)
        };
        let Some(list) = store.read(item) else { continue };
        let mut read = proto_rns::transport::Blackhole::new(node.config().router.blackholed);
        read.extend(&list, source)?;
        if read.iter().all(|(identity, _)| !is_known(identity, node)) {
            node.refuse_listed(&list, source);
        }
    }
    let over: Vec<IdentityHash> = node.router().blackhole().iter().map(|(identity, _)| identity).collect();
    for identity in over {
        if !node.router().blackhole().is_refused(identity, wall()) {
            node.accept_again(identity);
        }
    }
    Ok(json!({"count": node.router().blackhole().iter().count()}))
}

fn clear(instance: &mut Instance) -> Answer {
    let all: Vec<IdentityHash> =
        instance.mock.node.router().blackhole().iter().map(|(identity, _)| identity).collect();
    all.into_iter().for_each(|identity| _ = instance.mock.node.accept_again(identity));
    Ok(json!({"cleared": true}))
}

fn directory(instance: &Instance) -> Result<PathBuf, Failure> {
    let local = DirectoryStore::open(&instance.directory).path(StoredItem::Blackhole);
    let parent = local.parent().ok_or_else(|| Failure::new("ValueError: the file has no directory"))?;
    fs::create_dir_all(parent)?;
    Ok(parent.into())
}

fn files(instance: &Instance) -> Answer {
    let directory = directory(instance)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&directory)? {
        let entry = entry?;
        files.push(json!({"name": entry.file_name().to_string_lossy(), "size": entry.metadata()?.len()}));
    }
    Ok(json!({"dir": directory, "files": files}))
}

fn clear_storage(instance: &Instance) -> Answer {
    let mut removed = 0;
    for entry in fs::read_dir(directory(instance)?)? {
        fs::remove_file(entry?.path())?;
        removed += 1;
    }
    Ok(json!({"removed": removed}))
}

fn rename(instance: &Instance, params: Params<'_>) -> Answer {
    let directory = directory(instance)?;
    fs::rename(directory.join(params.text("src")?), directory.join(params.text("dst")?))?;
    Ok(json!({"renamed": true}))
}

fn set_sources(instance: &mut Instance, params: Params<'_>) -> Answer {
    instance.sources =
        crate::primitive::arrays(params, "sources")?.into_iter().map(IdentityHash::new).collect();
    Ok(json!({"count": instance.sources.len()}))
}
