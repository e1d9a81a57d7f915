//! Waiting for files, and for requests to fetch some.

use proto_rns::{
    dest::LocalDestination,
    identity::{Identity, PublicIdentity},
    link::{LinkConfig, RequestPolicies},
};
use runtime_tokio::rns::{FileSource, IncomingRequest, Link};
use serde_json::json;
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Cp, departure,
    intake::{Happening, Intake},
    protocol::{self, Answer},
};
use crate::{
    failure::Failure,
    interrupt::Interrupt,
    output::{self, quantity::bytes},
    rns::{access::Access, announcer, attach::attach},
};

/// Serves until the user ends it.
///
/// # Errors
/// The node does not start, or a directory is not there.
pub(super) async fn run(options: &Cp, identity: Identity, interrupt: Interrupt) -> Result<(), Failure> {
    let access = Access::of(options.no_auth, &options.allowed, protocol::UTILITY)?;
    let service = Arc::new(Service {
        folder: options.folder()?,
        overwrite: options.overwrite,
        jail: options.jail.as_deref().map(existing).transpose()?,
        compress: !options.no_compress,
        json: options.json,
        access,
    });
    let node = attach(options.config.as_deref()).await?;
    let mut destination = LocalDestination::single(protocol::name(), identity);
    let mut requests = RequestPolicies::default();
    if options.allow_fetch {
        requests.allow(protocol::FETCH, service.access.policy());
    }
    destination.links = Some(LinkConfig { requests: Arc::new(requests), ..protocol::link_config() });
    let destination = node.register(destination).map_err(Failure::check)?;
    service.tell_listening(&destination.hash().to_string())?;
    let serving = async {
        while let Ok(link) = destination.accept().await {
            tokio::spawn(Arc::clone(&service).serve(link));
        }
        Err(Failure::network("the node ended"))
    };
    tokio::select! {
        ended = serving => ended,
        () = announcer::announce(&destination, options.announce) => Ok(()),
        () = interrupt.wait() => {
            node.shutdown().await;
            Ok(())
        }
    }
}

/// What all links share.
#[derive(Debug)]
struct Service {
    folder: PathBuf,
    overwrite: bool,
    jail: Option<PathBuf>,
    compress: bool,
    json: bool,
    access: Access,
}

impl Service {
    /// Serves one peer until its link closes.
    async fn serve(self: Arc<Self>, link: Link) {
        tokio::join!(self.take_files(&link), self.give_files(&link));
    }

    async fn take_files(&self, link: &Link) {
        let mut intake = Intake::new(link, &self.folder, self.overwrite);
        while let Some(happening) = intake.next().await {
            let peer = link.remote_identity();
            match happening {
                Happening::Offered(offer) if !self.access.allows(peer.as_ref()) => {
                    intake.refuse(&offer);
                    self.tell("refused", peer.as_ref(), "a file", "", Some(offer.total_size));
                }
                Happening::Offered(offer) => {
                    if let Err(error) = intake.accept(&offer) {
                        let why = format!("cannot save in {}: {error}", self.folder.display());
                        self.tell("failed", peer.as_ref(), "a file", &why, Some(offer.total_size));
                    }
                }
                Happening::Saved(saved) => {
                    let path = saved.path.display().to_string();
                    self.tell("saved", peer.as_ref(), &path, "", Some(saved.len));
                }
                Happening::Failed(fault) => {
                    self.tell("failed", peer.as_ref(), "a file", &fault.to_string(), None);
                }
            }
        }
    }

    async fn give_files(&self, link: &Link) {
        while let Ok(request) = link.next_request().await {
            self.give(link, &request);
        }
    }

    /// Answers a request for a file, which follows if it may be had.
    fn give(&self, link: &Link, request: &IncomingRequest) {
        let peer = request.identity.as_ref();
        let path = protocol::requested(&request.data).unwrap_or_default();
        let found = tokio::task::block_in_place(|| self.find(path));
        let answer = found.as_ref().map_or_else(|answer| *answer, |_| Answer::Follows);
        if link.respond(request.id, &answer.to_vec()).is_err() {
            return;
        }
        let Ok((name, (content, len))) = found else {
            return self.tell("refused", peer, path, "", None);
        };
        match link.send_resource(content, Some(protocol::metadata(&name)), self.compress) {
            Ok(transfer) => {
                let (path, peer, json) = (path.to_owned(), peer.copied(), self.json);
                tokio::spawn(async move {
                    match transfer.await {
                        Ok(()) => tell(json, "fetched", peer.as_ref(), &path, "", Some(len)),
                        Err(error) => {
                            tell(json, "failed", peer.as_ref(), &path, &error.to_string(), Some(len))
                        }
                    }
                });
            }
            Err(error) => self.tell("failed", peer, path, &error.to_string(), Some(len)),
        }
    }

    /// Opens a file that may be fetched.
    fn find(&self, path: &str) -> Result<(OsString, (FileSource, u64)), Answer> {
        if path.is_empty() {
            return Err(Answer::Failed);
        }
        let wanted = match &self.jail {
            Some(jail) => jail.join(path),
            None => at_home(path),
        };
        // Links and dots are followed before it is judged where that is.
        let Ok(wanted) = fs::canonicalize(&wanted) else {
            // Nobody outside learns what exists elsewhere.
            let leads_out = self.jail.is_some() && (Path::new(path).is_absolute() || path.contains(".."));
            return Err(if leads_out { Answer::NotAllowed } else { Answer::Missing });
        };
        if self.jail.as_ref().is_some_and(|jail| !wanted.starts_with(jail)) {
            return Err(Answer::NotAllowed);
        }
        if !wanted.is_file() {
            return Err(Answer::Missing);
        }
        let opened = departure::open(&wanted).map_err(|_| Answer::Failed)?;
        Ok((wanted.file_name().ok_or(Answer::Failed)?.to_owned(), opened))
    }

    fn tell_listening(&self, destination: &str) -> Result<(), Failure> {
        if self.json {
            return output::json(&json!({ "event": "listening", "destination": destination }));
        }
        output::line(format_args!("rncp listening on <{destination}>"))
    }

    fn tell(&self, event: &str, peer: Option<&PublicIdentity>, file: &str, why: &str, len: Option<u64>) {
        tell(self.json, event, peer, file, why, len);
    }
}

/// Tells what happened. Where standard output is closed there is nobody to tell, and serving goes on.
fn tell(json: bool, event: &str, peer: Option<&PublicIdentity>, file: &str, why: &str, len: Option<u64>) {
    let peer = peer.map(|peer| peer.hash().to_string());
    let told = if json {
        output::json(&json!({
            "event": event,
            "file": file,
            "bytes": len,
            "identity": peer,
            "reason": (!why.is_empty()).then_some(why),
        }))
    } else {
        let len = len.map_or_else(String::new, |len| format!(", {}", bytes(len)));
        let peer = peer.unwrap_or_else(|| "somebody unknown".into());
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        output::line(format_args!("{event} {}{len}, for {peer}{why}", file.escape_debug()))
    };
    drop(told);
}

fn existing(folder: &Path) -> Result<PathBuf, Failure> {
    fs::canonicalize(folder)
        .ok()
        .filter(|folder| folder.is_dir())
        .ok_or_else(|| Failure::file(format_args!("{} is no directory", folder.display())))
}

/// Replaces a leading `~` by the user's directory.
fn at_home(path: &str) -> PathBuf {
    let below_home = path.strip_prefix("~/").and_then(|rest| Some(std::env::home_dir()?.join(rest)));
    below_home.unwrap_or_else(|| path.into())
}
