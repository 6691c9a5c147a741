//! `accord_net.h` is what cbindgen makes of the sources.

use std::path::Path;
use std::process::Command;

/// The files that the header depends on.
const SOURCES: [&str; 3] = ["cbindgen.toml", "src/lib.rs", "src/types.rs"];
/// The command that makes it.
const MAKE: &str = "cargo install --locked cbindgen && UPDATE_DOCS=1 cargo test -p accord-c header";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_string()
}

/// Returns the first line of the header: hashes of the sources and of the rest of the header.
fn head(body: &str) -> String {
    let sources = SOURCES.map(read).concat();
    format!("// Made by cbindgen; the test has the command. {} {}\n", hash(&sources), hash(body))
}

/// Returns true if a test may write files of the sources.
fn writes() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

#[test]
fn the_header_is_current() {
    if writes() {
        let made = Command::new("cbindgen").current_dir(root()).output();
        let made = made.unwrap_or_else(|e| panic!("cbindgen: {e}; {MAKE}"));
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let body = String::from_utf8(made.stdout).expect("text");
        std::fs::write(root().join("accord_net.h"), head(&body) + &body).expect("written");
    }
    let header = read("accord_net.h");
    let (first, body) = header.split_once('\n').expect("lines");
    assert_eq!(format!("{first}\n"), head(body), "accord_net.h is out of date: {MAKE}");
}

/// A function without a declaration would not be in the header.
#[test]
fn the_header_has_all_functions() {
    let (source, header) = (read("src/lib.rs"), read("accord_net.h"));
    let functions = source.split("extern \"C\" fn ").skip(1).map(|rest| rest.split('(').next());
    let names: Vec<_> = functions.map(|name| name.expect("a name")).collect();
    assert!(names.len() > 10, "{names:?}");
    assert!(names.iter().all(|name| header.contains(&format!("{name}("))), "{names:?}");
}
