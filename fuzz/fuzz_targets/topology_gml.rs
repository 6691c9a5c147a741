#![no_main]

#[path = "../bodies/topology.rs"]
mod body;

use accord_import::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    body::check(Format::Gml, bytes);
});
