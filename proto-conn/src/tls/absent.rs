//! What stands for TLS in builds without the feature `tls`: nothing that could be made.

use alloc::boxed::Box;

use super::TlsLayer;
use crate::{Error, Host};

/// How a client speaks TLS. There is none without the feature `tls`.
#[derive(Clone, Debug)]
pub enum TlsClient {}

/// How a server speaks TLS. There is none without the feature `tls`.
#[derive(Clone, Debug)]
pub enum TlsServer {}

impl TlsClient {
    pub(super) fn connect(&self, _host: &Host) -> Result<Box<dyn TlsLayer>, Error> {
        match *self {}
    }
}

impl TlsServer {
    pub(super) fn accept(&self) -> Result<Box<dyn TlsLayer>, Error> {
        match *self {}
    }
}
