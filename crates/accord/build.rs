//! Puts the scenario files of the repository and the packs of evaluations into the program, so
//! `accord reproduce` and `accord evaluate` work anywhere.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// An entry of `data`. Each is a link to a file or folder of the repository, which a package has in full.
/// Where git checks links out as files, as on Windows, the text of the file is the target.
fn data(name: &str) -> PathBuf {
    let data = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("data");
    match std::fs::read_to_string(data.join(name)) {
        Ok(target) if target.starts_with("../") => data.join(target.trim()),
        _ => data.join(name),
    }
}

fn main() {
    let dir = data("scenarios");
    for (name, path) in [
        ("ACCORD_RESULTS", dir.join("results.txt")),
        ("ACCORD_READINGS", dir.join("readings.txt")),
        ("ACCORD_FIGURES", data("figures.toml")),
        ("ACCORD_VERDICTS", data("verdicts.txt")),
    ] {
        println!("cargo:rerun-if-changed={}", path.display());
        println!("cargo:rustc-env={name}={}", path.display());
    }
    println!("cargo:rerun-if-changed={}", dir.display());
    let mut names: Vec<String> = std::fs::read_dir(&dir)
        .expect("the repository has a folder of scenarios")
        .map(|entry| entry.expect("a readable folder").file_name())
        .filter_map(|name| name.into_string().ok()?.strip_suffix(".toml").map(String::from))
        .collect();
    // xia05-fig4 before xia05-fig10.
    names.sort_by_key(|n| {
        let digits = n.len() - n.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = n.split_at(n.len() - digits);
        (stem.to_string(), number.parse::<u32>().unwrap_or(0))
    });
    let mut table = String::from("&[\n");
    for name in names {
        let path = dir.join(format!("{name}.toml"));
        println!("cargo:rerun-if-changed={}", path.display());
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    table.push_str("]\n");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("scenarios.rs"), table).expect("a writable folder");
    std::fs::write(Path::new(&out).join("packs.rs"), packs()).expect("a writable folder");
    std::fs::write(Path::new(&out).join("examples.rs"), examples()).expect("a writable folder");
}

/// The files of the examples of the book: a table of paths below their folder, and the bytes.
fn examples() -> String {
    let root = data("examples");
    let (mut files, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        println!("cargo:rerun-if-changed={}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut table = String::from("&[\n");
    for path in files {
        println!("cargo:rerun-if-changed={}", path.display());
        let name = path.strip_prefix(&root).expect("it is below");
        let name = name.to_str().expect("names are text");
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),").expect("writing to a string");
    }
    table + "]\n"
}

/// The files of the packs: a table of "PACK/FILE" without the ending, and the text.
fn packs() -> String {
    let root = data("packs");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for pack in std::fs::read_dir(&root).expect("the repository has a folder of packs") {
        let pack = pack.expect("a readable folder").path();
        println!("cargo:rerun-if-changed={}", pack.display());
        for file in std::fs::read_dir(&pack).expect("a pack is a folder") {
            files.push(file.expect("a readable folder").path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut table = String::from("&[\n");
    for path in files {
        println!("cargo:rerun-if-changed={}", path.display());
        let name = path.strip_prefix(&root).expect("it is below").with_extension("");
        let name = name.to_str().expect("names are text");
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    table + "]\n"
}
