//! Apache, as a single process.

use std::process::Command;

use super::{Place, installed};

pub(super) fn command(place: &Place) -> Command {
    let Place { ports, folder, documents, files, .. } = place;
    let (plain, tls, mutual) = (ports.plain, ports.tls, ports.mutual);
    let (folder, documents) = (folder.display(), documents.display());
    let (authority, certificate, key) =
        (files.authority.display(), files.certificate.display(), files.key.display());
    let modules: String =
        MODULES.map(|name| format!("LoadModule {name}_module {MODULE_FOLDER}/mod_{name}.so\n")).concat();
    let path = place.configure(&format!(
        "{modules}ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
DefaultRuntimeDir {folder}
ErrorLog /dev/stderr
User www-data
Group www-data
Listen 127.0.0.1:{plain}
Listen 127.0.0.1:{tls}
Listen 127.0.0.1:{mutual}
DocumentRoot {documents}
TypesConfig /dev/null
AddType text/plain .txt
AddOutputFilterByType DEFLATE text/plain
<Directory {documents}>
    Require all granted
</Directory>
SSLCertificateFile {certificate}
SSLCertificateKeyFile {key}
<VirtualHost *:{tls}>
    SSLEngine on
</VirtualHost>
<VirtualHost *:{mutual}>
    SSLEngine on
    SSLVerifyClient require
    SSLCACertificateFile {authority}
</VirtualHost>
"
    ));
    let mut command = installed::debian("apache2", "apache2", &[]);
    command.arg("-X").arg("-f").arg(path);
    command
}

const MODULE_FOLDER: &str = "/usr/lib/apache2/modules";

const MODULES: [&str; 7] = ["mpm_event", "authz_core", "mime", "filter", "deflate", "socache_shmcb", "ssl"];
