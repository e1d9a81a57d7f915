//! How the two ends of an RPC connection prove that they know the key.

use super::{RpcError, RpcKey, frame::write_frame};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use proto_rns::crypto::{Entropy, draw, hmac_sha256};
use subtle::ConstantTimeEq;

/// One end's side of the proof.
///
/// ```text
/// server: AwaitAnswer -> AwaitChallenge -> AwaitVerdict -> Done
/// client: AwaitChallenge -> AwaitVerdict -> AwaitAnswer -> Done
/// ```
#[derive(Debug)]
pub(super) struct Handshake {
    key: RpcKey,
    role: Role,
    challenge: Vec<u8>,
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Server,
    Client,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    AwaitAnswer,
    AwaitChallenge,
    AwaitVerdict,
    Done,
}

const CHALLENGE: &[u8] = b"#CHALLENGE#";
const WELCOME: &[u8] = b"#WELCOME#";
const FAILURE: &[u8] = b"#FAILURE#";
const SHA256: &[u8] = b"{sha256}";
const MD5: &[u8] = b"{md5}";
/// The challenges of Pythons before 3.12 have this length and do not name a digest.
const LEGACY_CHALLENGE: usize = 20;

impl Handshake {
    /// Starts as the end that accepted the connection, which sends the first challenge. Draws 40 bytes.
    pub(super) fn server(key: &RpcKey, entropy: &mut dyn Entropy, out: &mut Vec<u8>) -> Self {
        let this = Self::new(key, entropy, Role::Server, Step::AwaitAnswer);
        this.send_challenge(out);
        this
    }

    /// Starts as the end that opened the connection. Draws 40 bytes.
    pub(super) fn client(key: &RpcKey, entropy: &mut dyn Entropy) -> Self {
        Self::new(key, entropy, Role::Client, Step::AwaitChallenge)
    }

    fn new(key: &RpcKey, entropy: &mut dyn Entropy, role: Role, step: Step) -> Self {
        // Older Pythons take this for 48 random bytes and answer with the digest that they have.
        let challenge = [SHA256, &draw::<40>(entropy)].concat();
        Self { key: key.clone(), role, challenge, step }
    }

    /// Takes the other end's next frame and appends what there is to say to it.
    ///
    /// # Errors
    /// The other end did not prove itself, or does not believe this end. The connection is then to be closed once what
    /// was appended is sent.
    pub(super) fn on_frame(&mut self, frame: &[u8], out: &mut Vec<u8>) -> Result<(), RpcError> {
        self.step = match self.step {
            Step::AwaitAnswer => {
                if !is_answer(self.key.as_bytes(), &self.challenge, frame) {
                    write_frame(FAILURE, out);
                    return Err(RpcError::WrongKey);
                }
                write_frame(WELCOME, out);
                match self.role {
                    Role::Server => Step::AwaitChallenge,
                    Role::Client => Step::Done,
                }
            }
            Step::AwaitChallenge => {
                let challenge = frame.strip_prefix(CHALLENGE).ok_or(RpcError::Unexpected)?;
                write_frame(&answer(self.key.as_bytes(), challenge)?, out);
                Step::AwaitVerdict
            }
            Step::AwaitVerdict => match frame {
                WELCOME if self.role == Role::Client => {
                    self.send_challenge(out);
                    Step::AwaitAnswer
                }
                WELCOME => Step::Done,
                FAILURE => return Err(RpcError::KeyRefused),
                _ => return Err(RpcError::Unexpected),
            },
            Step::Done => Step::Done,
        };
        Ok(())
    }

    /// Says whether both ends have proved themselves.
    pub(super) fn is_done(&self) -> bool {
        self.step == Step::Done
    }

    fn send_challenge(&self, out: &mut Vec<u8>) {
        write_frame(&[CHALLENGE, &self.challenge].concat(), out);
    }
}

/// Returns the answer to a challenge, in the digest that it names.
fn answer(key: &[u8], challenge: &[u8]) -> Result<Vec<u8>, RpcError> {
    if challenge.len() == LEGACY_CHALLENGE {
        return Ok(hmac_md5(key, challenge).to_vec());
    }
    if challenge.starts_with(SHA256) {
        return Ok([SHA256, &hmac_sha256(key, &[challenge])].concat());
    }
    if challenge.starts_with(MD5) {
        return Ok([MD5, &hmac_md5(key, challenge)].concat());
    }
    Err(RpcError::UnknownDigest)
}

/// Says whether `answer` proves that whoever sent it knows the key. Older Pythons do not name their digest.
fn is_answer(key: &[u8], challenge: &[u8], answer: &[u8]) -> bool {
    match answer.strip_prefix(SHA256) {
        Some(tag) => hmac_sha256(key, &[challenge]).ct_eq(tag).into(),
        None => hmac_md5(key, challenge).ct_eq(answer.strip_prefix(MD5).unwrap_or(answer)).into(),
    }
}

#[allow(clippy::expect_used, reason = "HMAC takes keys of every length (RFC 2104 §3)")]
fn hmac_md5(key: &[u8], message: &[u8]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of every length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto_rns::crypto::SecureEntropy;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn rfc_2202_case_2_is_reproduced() {
        let tag = hmac_md5(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex(&tag), "750c783e6ab0b503eaa86e310a5db738");
    }

    /// From CPython: `multiprocessing.connection._create_response(b"key", bytes(range(20)))` of 3.13, and the same
    /// with `b"{sha256}" + bytes(range(40))`.
    #[test]
    fn challenges_of_both_kinds_are_answered_as_python_does() {
        let numbers: Vec<u8> = (0..40).collect();
        assert_eq!(hex(&answer(b"key", &numbers[..20]).unwrap()), LEGACY_ANSWER);
        let answered = answer(b"key", &[SHA256, &numbers].concat()).unwrap();
        assert_eq!(&answered[..8], SHA256);
        assert_eq!(hex(&answered[8..]), SHA256_ANSWER);
        assert_eq!(answer(b"key", &[b"{sha384}", &numbers[..]].concat()), Err(RpcError::UnknownDigest));
    }

    #[test]
    fn an_answer_of_either_kind_is_taken_and_no_other() {
        let challenge = [SHA256, &[7; 40]].concat();
        let good = [answer(b"key", &challenge).unwrap(), hmac_md5(b"key", &challenge).to_vec()];
        for good in good {
            assert!(is_answer(b"key", &challenge, &good));
            assert!(!is_answer(b"other", &challenge, &good));
            assert!(!is_answer(b"key", &challenge, &good[..good.len() - 1]));
        }
        assert!(!is_answer(b"key", &challenge, b""));
        assert!(!is_answer(b"key", &challenge, SHA256));
    }

    #[test]
    fn a_challenge_sent_back_is_no_answer() {
        let mut out = Vec::new();
        let mut server = Handshake::server(&RpcKey::new(b"key"), &mut SecureEntropy::new([1; 32]), &mut out);
        let challenge = out.split_off(4);
        assert_eq!(server.on_frame(&challenge, &mut out), Err(RpcError::WrongKey));
        assert!(out.ends_with(FAILURE));
    }

    const LEGACY_ANSWER: &str = "5b2709aec5bcecbd08bd1f92d77ecea1";
    const SHA256_ANSWER: &str = "05b37335205f51ff483146e965fdf576943e0e64675a64ceccba80b6704d76b8";
}
