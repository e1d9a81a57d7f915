//! Connections of the six schemes: [`Client`] for HTTP, [`WebSocket`], [`UdpChannel`] and [`Multicast`].
//!
//! Each holds one [`Connection`](proto_conn::client::Connection) and its driver's task. Dropped, it closes in the
//! background, in good order.

mod body;
mod channel;
mod client;
mod clock;
mod desk;
mod open;
mod websocket;

pub use body::Body;
pub use channel::{Multicast, UdpChannel};
pub use client::{Client, Response};
pub use clock::wall_clock;
pub use proto_conn::{
    Code, Error, Flags, HeaderError, Headers, Kind, Message, Method, Payload, Phase, Url,
    client::{Closed, Options, Proxy, Reconnect, State, Timeouts},
    http, tls, ws,
};
pub use websocket::WebSocket;
