//! Randomness for keys.

use proto_rns::crypto::SecureEntropy;

use crate::failure::Failure;

/// Returns a generator for keys that nobody can foretell.
///
/// # Errors
/// The operating system has no entropy.
pub(crate) fn entropy() -> Result<SecureEntropy, Failure> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)
        .map_err(|error| Failure::check(format_args!("the operating system has no entropy: {error}")))?;
    Ok(SecureEntropy::new(seed))
}
