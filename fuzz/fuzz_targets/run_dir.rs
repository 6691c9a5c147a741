#![no_main]

#[path = "../bodies/run_dir.rs"]
mod body;

use std::sync::LazyLock;

static WHOLE: LazyLock<body::Whole> = LazyLock::new(|| {
    let name = format!("accord-fuzz-{}", std::process::id());
    body::Whole::new(&std::env::temp_dir().join(name))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    WHOLE.check(bytes);
});
