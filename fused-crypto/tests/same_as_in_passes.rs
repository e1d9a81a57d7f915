//! What is done in one pass is what is done in several, with every length and however the bytes are cut.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use fused_crypto::{Alongside, Fused, Hashed};
use proptest::prelude::*;
use support::{Keys, part_hashes, state_after};

#[test]
fn every_short_length_is_sealed_and_hashed_alike() {
    let Some(fused) = Fused::detect() else { return };
    let keys = Keys::new([1; 32], [2; 32]);
    let bytes: Vec<u8> = (0..=255).cycle().take(1_200).collect();
    for len in 0..bytes.len() {
        let plain = &bytes[..len];
        let expected = keys.seal([len.to_le_bytes()[0]; 16], plain);
        let mut out = b"before".to_vec();
        fused.seal(keys.seal_key(), [len.to_le_bytes()[0]; 16], &[plain], &mut out);
        assert_eq!(out, [b"before", &expected[..]].concat(), "{len}");
        let part_size = 1 + len % 300;
        let alongside = Alongside { content: &[plain], part_size, suffix: [7; 4] };
        let mut out = Vec::new();
        let hashed =
            fused.seal_alongside(keys.seal_key(), [len.to_le_bytes()[0]; 16], &[plain], &alongside, &mut out);
        assert_eq!(out, expected, "{len}");
        let parts = part_hashes(&expected, part_size, [7; 4]);
        assert_eq!(hashed, Hashed { content: state_after(plain), parts }, "{len}");
    }
}

proptest! {
    #[test]
    fn long_streams_are_sealed_and_hashed_alike(
        seed: [[u8; 32]; 2],
        vector: [u8; 16],
        lengths in prop::collection::vec(0..24_000_usize, 0..4),
        content in 0..70_000_usize,
        part_size in prop_oneof![1..200_usize, 200..9_000_usize, Just(131_036_usize), Just(usize::MAX)],
        suffix: [u8; 4],
    ) {
        let Some(fused) = Fused::detect() else { return Ok(()) };
        let keys = Keys::new(seed[0], seed[1]);
        let noise: Vec<u8> = (0..72_000_u32).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 24).to_le_bytes()[0]).collect();
        let mut rest = &noise[..];
        let plaintext: Vec<&[u8]> = lengths
            .iter()
            .map(|len| {
                let (slice, later) = rest.split_at(*len);
                rest = later;
                slice
            })
            .collect();
        let (left, right) = noise[..content].split_at(content / 3);
        let alongside = Alongside { content: &[left, right], part_size, suffix };
        let mut out = Vec::new();
        let hashed = fused.seal_alongside(keys.seal_key(), vector, &plaintext, &alongside, &mut out);
        let expected = keys.seal(vector, &plaintext.concat());
        prop_assert_eq!(&out, &expected);
        let parts = part_hashes(&expected, part_size, suffix);
        prop_assert_eq!(hashed, Hashed { content: state_after(&noise[..content]), parts });
        let mut alone = Vec::new();
        fused.seal(keys.seal_key(), vector, &plaintext, &mut alone);
        prop_assert_eq!(alone, expected);
    }

    #[test]
    fn two_states_at_once_are_as_one_after_the_other(
        before: [[u8; 64]; 2],
        blocks in prop::array::uniform2(prop::collection::vec(any::<[u8; 64]>(), 0..20)),
    ) {
        let Some(fused) = Fused::detect() else { return Ok(()) };
        let mut states = before.map(|before| state_after(&before));
        let [first, second] = &mut states;
        let count = fused.compress_two([first, second], [&blocks[0], &blocks[1]]);
        prop_assert_eq!(count, blocks[0].len().min(blocks[1].len()));
        for lane in 0..2 {
            let whole = [&before[lane][..], blocks[lane][..count].as_flattened()].concat();
            prop_assert_eq!(states[lane], state_after(&whole));
        }
    }
}

#[test]
fn the_cbc_example_of_nist_sp_800_38a_is_reproduced() {
    let Some(fused) = Fused::detect() else { return };
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let key = hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4").try_into().unwrap();
    let vector = hex("000102030405060708090a0b0c0d0e0f").try_into().unwrap();
    let plain = hex(concat!(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51",
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
    ));
    let sealed = hex(concat!(
        "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d",
        "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
    ));
    let keys = Keys::new([0; 32], key);
    let mut out = Vec::new();
    fused.seal(keys.seal_key(), vector, &[&plain], &mut out);
    assert_eq!(out[16..80], sealed);
}
