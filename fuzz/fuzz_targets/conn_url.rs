#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| iolite_fuzz::conn::url(data));
