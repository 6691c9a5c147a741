//! Third-party packages have licences that `deny.toml` allows, and come from crates.io.

use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> toml::Table {
    let text = std::fs::read_to_string(root().join(name)).expect("it is there");
    text.parse().expect("TOML")
}

fn words(list: &toml::Value) -> BTreeSet<String> {
    let items = list.as_array().expect("a list").iter();
    items.map(|item| item.as_str().expect("text").to_string()).collect()
}

/// Returns the licences that `deny.toml` allows for all packages, and for this one in addition.
fn allowed(package: &str) -> BTreeSet<String> {
    let licences = &read("deny.toml")["licenses"];
    let mut allowed = words(&licences["allow"]);
    for exception in licences["exceptions"].as_array().expect("a list") {
        if exception["crate"].as_str() == Some(package) {
            allowed.extend(words(&exception["allow"]));
        }
    }
    allowed
}

/// Returns true if the allowed licences satisfy `expression`.
fn may_be_used(expression: &str, allowed: &BTreeSet<String>) -> bool {
    Expression::parse_mode(expression, ParseMode::LAX)
        .is_ok_and(|parsed| parsed.evaluate(|wanted| allowed.contains(&wanted.to_string())))
}

fn cargo(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(args)
        .current_dir(root())
        .output()
        .expect("cargo is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {args:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// Packages for other platforms are not on this machine.
#[test]
fn every_package_of_this_platform_has_an_allowed_licence() {
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let metadata = cargo(&[
        "metadata",
        "--locked",
        "--offline",
        "--format-version=1",
        "--filter-platform",
        host.expect("cargo says it"),
    ]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 100, "{} packages", packages.len());
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let licence = package["license"].as_str().unwrap_or("none");
        if !may_be_used(licence, &allowed(name)) {
            wrong.push(format!("{name}: {licence}"));
        }
    }
    assert!(wrong.is_empty(), "not allowed by deny.toml:\n{}", wrong.join("\n"));
}

/// The packages for all platforms.
#[test]
fn every_package_is_ours_or_comes_from_crates_io() {
    const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
    let lock = read("Cargo.lock");
    let packages = lock["package"].as_array().expect("a list");
    assert!(packages.len() > 100, "{} packages", packages.len());
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        match package.get("source").and_then(toml::Value::as_str) {
            None => assert!(name.starts_with("accord"), "{name} has no source"),
            Some(source) => assert_eq!(source, CRATES_IO, "{name}"),
        }
    }
}

#[test]
fn what_is_allowed_is_open_source() {
    let allowed = allowed("");
    assert!(allowed.len() > 5, "{allowed:?}");
    for name in allowed {
        let id = spdx::license_id(&name).unwrap_or_else(|| panic!("{name} is no licence"));
        assert!(id.is_osi_approved() && !id.is_copyleft(), "{name}");
    }
}

#[test]
fn what_is_not_allowed_is_found() {
    let allowed = allowed("serde");
    for fine in
        ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR GPL-2.0-only) AND Unicode-3.0"]
    {
        assert!(may_be_used(fine, &allowed), "{fine}");
    }
    for wrong in ["none", "CC0-1.0", "GPL-3.0-only", "MIT AND SSPL-1.0", "MIT OR"] {
        assert!(!may_be_used(wrong, &allowed), "{wrong}");
    }
}

/// Each package that is published has the texts of its licences, and names its readme and the
/// place of its documentation.
#[test]
fn packages_have_licences_and_documentation() {
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    // The Python package is published elsewhere, with licences of its own, and the library for C is installed
    // from the sources.
    let elsewhere = ["accord-python", "accord-c"];
    let is_elsewhere = |p: &&Value| elsewhere.iter().any(|name| p["name"] == *name);
    let published = packages.iter().filter(|p| !is_elsewhere(p));
    let mut count = 0;
    for package in published {
        let name = package["name"].as_str().expect("a name");
        let folder = Path::new(package["manifest_path"].as_str().expect("a path")).parent();
        let folder = folder.expect("a folder");
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let text = std::fs::read(folder.join(licence)).unwrap_or_default();
            assert_eq!(text, std::fs::read(root().join(licence)).expect("it is there"), "{name}");
        }
        assert_eq!(package["documentation"], format!("https://docs.rs/{name}"));
        let readme = package["readme"].as_str().expect("a readme");
        assert!(folder.join(readme).exists(), "{name}: {readme}");
        assert!(package["metadata"]["docs"]["rs"].is_object(), "{name}");
        count += 1;
    }
    assert!(count > 20, "{count}");
}
