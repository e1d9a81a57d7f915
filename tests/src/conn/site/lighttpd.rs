//! lighttpd.

use std::process::Command;

use super::{
    Place,
    installed::{self, Module},
};

pub(super) fn command(place: &Place) -> Command {
    let Place { ports, documents, files, .. } = place;
    let (plain, tls) = (ports.plain, ports.tls);
    let (documents, both) = (documents.display(), files.both.display());
    let path = place.configure(&format!(
        "server.modules = (\"mod_openssl\", \"mod_deflate\")
server.document-root = \"{documents}\"
server.bind = \"127.0.0.1\"
server.port = {plain}
mimetype.assign = (\".txt\" => \"text/plain\")
deflate.allowed-encodings = (\"gzip\")
deflate.mimetypes = (\"text/plain\")
$SERVER[\"socket\"] == \"127.0.0.1:{tls}\" {{
    ssl.engine = \"enable\"
    ssl.pemfile = \"{both}\"
}}
"
    ));
    let mut command = installed::debian("lighttpd", "lighttpd", &MODULES);
    command.arg("-D").arg("-f").arg(path);
    command
}

/// What it needs besides, each in a package of its own.
const MODULES: [Module; 2] = [
    Module { file: "/usr/lib/lighttpd/mod_openssl.so", package: "lighttpd-mod-openssl" },
    Module { file: "/usr/lib/lighttpd/mod_deflate.so", package: "lighttpd-mod-deflate" },
];
