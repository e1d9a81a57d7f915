//! Cryptography behind one trait, so that a host can put faster code in the place of the portable one.
//!
//! Signatures and key agreements, which cost tens of microseconds, go through [`CryptoProvider`]. Hashes and tokens
//! cost the same with every crate, so they are plain functions and types here. The two differ in nothing that can be
//! seen from outside: every provider gives the same results.

mod dalek;
mod digest;
mod entropy;
mod provider;
mod token;

pub use dalek::Dalek;
pub use digest::{HmacKey, RunningTag, hkdf, hkdf_array, hmac_sha256, sha256};
pub use entropy::{Entropy, SecureEntropy, draw};
pub use provider::{Claim, CryptoProvider, Signature, Signer};
pub use token::{TOKEN_OVERHEAD, Token, TokenError, TokenKey, token_len};
