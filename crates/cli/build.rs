//! Passes the commit to the program, for `--version`. The time and the machine are left out, so
//! a commit determines the program.

use std::path::Path;
use std::process::Command;

fn main() {
    // Packages without a repository can say it themselves.
    println!("cargo:rerun-if-env-changed=ACCORD_COMMIT");
    let given = std::env::var("ACCORD_COMMIT").ok();
    let commit = given.or_else(commit).unwrap_or("unknown".into());
    println!("cargo:rustc-env=ACCORD_COMMIT={commit}");
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

fn commit() -> Option<String> {
    // Sources that were unpacked inside of another repository are none of its commits.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // HEAD names a branch, whose file changes with each commit; its log changes with both.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
    git(&["rev-parse", "--short=12", "HEAD"])
}
