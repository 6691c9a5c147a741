#![no_main]

#[path = "../bodies/gateway_outer.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    body::check(bytes);
});
