//! The cryptography behind it.

use rustls::{
    SupportedCipherSuite,
    crypto::{
        CryptoProvider,
        hash::{Hash, HashAlgorithm},
    },
};

use super::Ciphers;

/// Returns the provider that was built in, if one was, with the ciphers in order of preference.
pub(super) fn provider(ciphers: Ciphers) -> Option<CryptoProvider> {
    let mut provider = built_in()?;
    let has_aes = has_aes();
    provider.cipher_suites.sort_by_key(|suite| rank(*suite, ciphers, has_aes));
    Some(provider)
}

/// Returns the SHA-256 of `data`.
pub(super) fn sha256(provider: &CryptoProvider, data: &[u8]) -> Option<[u8; 32]> {
    let mut hashes = provider.cipher_suites.iter().filter_map(SupportedCipherSuite::tls13);
    let hash: &dyn Hash = hashes
        .find(|suite| suite.common.hash_provider.algorithm() == HashAlgorithm::SHA256)
        .map(|suite| suite.common.hash_provider)?;
    hash.hash(data).as_ref().try_into().ok()
}

/// The provider is always passed on explicitly: one for the whole process is the application's to install, if at all.
#[cfg(feature = "aws-lc-rs")]
#[allow(clippy::unnecessary_wraps, reason = "without a provider there is none")]
fn built_in() -> Option<CryptoProvider> {
    Some(rustls::crypto::aws_lc_rs::default_provider())
}

#[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
#[allow(clippy::unnecessary_wraps, reason = "without a provider there is none")]
fn built_in() -> Option<CryptoProvider> {
    Some(rustls::crypto::ring::default_provider())
}

#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
const fn built_in() -> Option<CryptoProvider> {
    None
}

/// Returns the place of a suite in the order of preference, among those of its version: sorting is stable.
fn rank(suite: SupportedCipherSuite, ciphers: Ciphers, has_aes: bool) -> u8 {
    let name = suite.suite().as_str().unwrap_or_default();
    let is_short = name.contains("AES_128");
    let is_chacha = name.contains("CHACHA20");
    let within = match (ciphers, has_aes) {
        (Ciphers::Fast, true) if is_short => 0,
        (Ciphers::Fast, true) => 1 + u8::from(is_chacha),
        (Ciphers::Fast, false) if is_chacha => 0,
        (Ciphers::Fast, false) => 1 + u8::from(!is_short),
        (Ciphers::Long, has_aes) => u8::from(is_chacha == has_aes) + 2 * u8::from(is_short),
    };
    within + if suite.tls13().is_some() { 0 } else { 8 }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn has_aes() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
const fn has_aes() -> bool {
    false
}

#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn order(ciphers: Ciphers, has_aes: bool) -> Vec<&'static str> {
        let mut suites = built_in().unwrap().cipher_suites;
        suites.sort_by_key(|suite| rank(*suite, ciphers, has_aes));
        suites.into_iter().map(|suite| suite.suite().as_str().unwrap()).collect()
    }

    #[test]
    fn the_order_follows_the_processor_or_the_length_of_keys() {
        let [aes_128, aes_256, chacha] =
            ["TLS13_AES_128_GCM_SHA256", "TLS13_AES_256_GCM_SHA384", "TLS13_CHACHA20_POLY1305_SHA256"];
        assert_eq!(order(Ciphers::Fast, true)[..3], [aes_128, aes_256, chacha]);
        assert_eq!(order(Ciphers::Fast, false)[..3], [chacha, aes_128, aes_256]);
        assert_eq!(order(Ciphers::Long, true)[..3], [aes_256, chacha, aes_128]);
        assert_eq!(order(Ciphers::Long, false)[..3], [chacha, aes_256, aes_128]);
        assert!(order(Ciphers::Fast, true)[3].contains("WITH_AES_128_GCM"));
    }

    #[test]
    fn pins_are_sha_256() {
        let provider = provider(Ciphers::Fast).unwrap();
        assert_eq!(sha256(&provider, b"abc").unwrap()[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
