//! Cryptography behind one trait, so that a host can put faster code in the place of the portable one.
//!
//! Signatures and key agreements, which cost tens of microseconds, go through [`CryptoProvider`], and so does what a
//! processor does faster at once than in turn: sealing and hashing. A hash alone costs the same with every crate, so
//! hashes are plain functions and types here. Providers differ in nothing that can be seen from outside: every one
//! gives the same results.

mod alongside;
mod dalek;
mod digest;
mod entropy;
mod provider;
mod running_hash;
mod token;

pub(crate) use alongside::hash_parts;
pub use alongside::{Alongside, AlongsideHashes};
pub use dalek::Dalek;
pub use digest::{HmacKey, RunningTag, hkdf, hkdf_array, hmac_sha256, sha256};
pub use entropy::{Entropy, SecureEntropy, draw};
pub(crate) use provider::which_hold;
pub use provider::{Claim, CryptoProvider, Signature, Signer};
pub(crate) use running_hash::update_two;
pub use running_hash::{HashState, RunningHash};
pub use token::{TOKEN_OVERHEAD, Token, TokenError, TokenKey, token_len};
