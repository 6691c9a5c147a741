#![no_main]

#[path = "../bodies/measured.rs"]
mod body;

use accord_import::measured::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    body::check(Format::Pcap, bytes);
});
