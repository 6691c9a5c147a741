//! The unit of systemd, judged by systemd-analyze. Without that program the test is skipped with the reason.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "it says why it is skipped")]

use std::path::Path;
use std::process::Command;

/// The exposure level that the unit stays below, of 10.
const EXPOSED: f64 = 3.0;

/// Runs systemd-analyze on the unit. Returns its exit status and output, or `None` if there is no such program.
fn analyze(words: &[&str], unit: &Path) -> Option<(bool, String)> {
    let output = Command::new("systemd-analyze").args(words).arg(unit).output();
    let output = match output {
        Ok(output) => output,
        Err(e) => {
            eprintln!("SKIPPED: systemd-analyze cannot be run: {e}");
            return None;
        }
    };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    Some((output.status.success(), text))
}

#[test]
fn the_unit_is_one_that_systemd_takes_and_has_few_rights() {
    let folder = tempfile::tempdir().expect("a folder");
    let unit = folder.path().join("accord-gateway@site.service");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/accord-gateway@.service");
    let text = std::fs::read_to_string(path).expect("readable");
    // The program may not be installed here.
    let program = std::env::current_exe().expect("a program");
    let installed = text.replace("/usr/bin/accord", &program.display().to_string());
    std::fs::write(&unit, &installed).expect("written");
    let Some((_, said)) = analyze(&["verify", "--man=no"], &unit) else {
        return;
    };
    // A key that is newer than the systemd here is ignored, as it would be by that systemd.
    let wrong = |line: &&str| {
        line.contains("accord-gateway@") && !line.contains("'FileDescriptorStorePreserve'")
    };
    let wrong: Vec<&str> = said.lines().filter(wrong).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let Some((_, said)) = analyze(&["security", "--offline=true", "--no-pager"], &unit) else {
        return;
    };
    let level = said.lines().find_map(|line| {
        let (_, level) = line.split_once("exposure level for accord-gateway@site.service: ")?;
        level.split_whitespace().next()?.parse::<f64>().ok()
    });
    match level {
        Some(level) => assert!(level < EXPOSED, "{level}\n{said}"),
        None => eprintln!("SKIPPED: this systemd-analyze judges no files: {said}"),
    }
}

/// A gateway that ends for whatever reason is started again, however often, and finds its device, its socket
/// and the addresses of its peers.
#[test]
fn the_unit_never_gives_up() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/accord-gateway@.service");
    let text = std::fs::read_to_string(path).expect("readable");
    for line in [
        "Restart=always",
        "StartLimitIntervalSec=0",
        "FileDescriptorStorePreserve=yes",
        "RuntimeDirectoryPreserve=restart",
        // Any user can start threads for clients.
        "CPUSchedulingResetOnFork=yes",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}");
    }
}
