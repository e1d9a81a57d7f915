//! Connections: HTTP, WebSocket and URLs.

mod sessions;
mod url;

pub use sessions::{http_client, http_server, websocket};
pub use url::url;
