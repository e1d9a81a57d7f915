//! nginx, as a single process.

use std::process::Command;

use super::{Place, installed};

pub(super) fn command(place: &Place) -> Command {
    let Place { ports, behind, folder, documents, files } = place;
    let (plain, tls, mutual) = (ports.plain, ports.tls, ports.mutual);
    let (folder, documents) = (folder.display(), documents.display());
    let (authority, certificate, key) =
        (files.authority.display(), files.certificate.display(), files.key.display());
    let behind = behind.map_or_else(String::new, location);
    let path = place.configure(&format!(
        "daemon off;
master_process off;
pid {folder}/pid;
error_log stderr;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 10m;
    types {{ text/plain txt; }}
    gzip on;
    gzip_types text/plain;
    keepalive_requests 4;
    keepalive_timeout 1s;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    root {documents};
    map $http_upgrade $hop {{ default upgrade; '' close; }}
    server {{
        listen 127.0.0.1:{plain};
        listen 127.0.0.1:{tls} ssl;
        location /nothing {{ return 204; }}
        location /moved {{ return 301 /hello.txt; }}
        location /kept {{ return 307 /behind; }}
        {behind}
    }}
    server {{
        listen 127.0.0.1:{mutual} ssl;
        ssl_verify_client on;
        ssl_client_certificate {authority};
    }}
}}
"
    ));
    let mut command = installed::debian("nginx", "nginx-light", &[]);
    command.arg("-c").arg(path);
    command
}

fn location(port: u16) -> String {
    format!(
        "location /behind {{
            proxy_pass http://127.0.0.1:{port};
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $hop;
        }}"
    )
}
