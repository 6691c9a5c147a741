//! Compiles the BPF program with clang, for the feature `bpf`.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    if std::env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let clang = std::env::var("CLANG").unwrap_or("clang".into());
    let out = std::env::var("OUT_DIR").expect("cargo says it");
    let object = Path::new(&out).join("tcp.bpf.o");
    // Version 3 of the instruction set has atomic operations that return a value [Linux 5.12].
    let flags = ["-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3"];
    // The program names its source by this place, and not by that of the machine that built it.
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says it");
    let done = Command::new(&clang)
        .args(flags)
        .arg(format!("-ffile-prefix-map={here}=accord-kernel"))
        .args(["-c", "src/bpf/tcp.bpf.c", "-o"])
        .arg(&object)
        .status();
    match done {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} cannot compile src/bpf/tcp.bpf.c: {status}"),
        Err(e) => panic!(
            "the feature bpf needs clang, and {clang} cannot be run: {e}; on Debian and Ubuntu: \
             apt install clang libelf-dev zlib1g-dev"
        ),
    }
}
