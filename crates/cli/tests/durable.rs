//! Nothing is lost: a power cut leaves finished results whole, a full disk leaves earlier files, and
//! files without an end are refused. The first two need root and ext4, and are skipped without.
#![cfg(target_os = "linux")]

use crate::common::*;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system of its own in a file, mounted below a folder.
struct Disk {
    folder: tempfile::TempDir,
    mounted: Vec<PathBuf>,
}

impl Disk {
    /// Returns `None` where there is none for this user.
    fn new(size: &str) -> Option<Disk> {
        let folder = tempfile::tempdir().expect("a folder");
        let image = folder.path().join("image");
        let mut disk = Disk { folder, mounted: Vec::new() };
        let made = shell(&format!("truncate -s {size} {0} && mkfs.ext4 -q {0}", image.display()));
        (made && disk.mount(&image, "disk").is_some()).then_some(disk)
    }

    fn mount(&mut self, image: &Path, name: &str) -> Option<PathBuf> {
        let at = self.folder.path().join(name);
        std::fs::create_dir(&at).expect("made");
        let mounted = shell(&format!("mount -o loop {} {}", image.display(), at.display()));
        mounted.then(|| {
            self.mounted.push(at.clone());
            at
        })
    }

    fn path(&self) -> &Path {
        &self.mounted[0]
    }

    /// Returns the files as they are on the disk at this moment, without data that only memory has.
    fn after_a_power_cut(&mut self) -> PathBuf {
        let cut = self.folder.path().join("cut");
        std::fs::copy(self.folder.path().join("image"), &cut).expect("copied");
        self.mount(&cut, "after").expect("the journal is whole")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        for at in self.mounted.iter().rev() {
            shell(&format!("umount {}", at.display()));
        }
    }
}

fn shell(command: &str) -> bool {
    let done = Command::new("sh").args(["-c", command]).output();
    done.expect("there is a shell").status.success()
}

const NO_DISK: &str = "a power cut and a full disk need root, mkfs.ext4 and loop devices";

/// Every command has ended; then the machine loses its power.
#[test]
fn a_power_cut_leaves_finished_results_whole() {
    let Some(mut disk) = Disk::new("64M") else {
        return skipped(NO_DISK);
    };
    let dir = disk.path().to_path_buf();
    std::fs::write(dir.join("small.toml"), SMALL).expect("written");
    assert!(shell("sync"));
    let run = |args: &[&str]| drop(accord(&dir, args).with(0));
    run(&["run", "small.toml", "-q", "-o", "deep/out"]);
    run(&["run", "small.toml", "-q", "-o", "again"]);
    run(&["run", "small.toml", "-q", "-o", "again", "--seed", "7"]);
    run(&["plot", "again", "-m", "throughput", "-q", "-o", "figure.svg", "--csv", "figure.csv"]);
    run(&["new", "dumbbell", "-o", "new.toml"]);
    run(&["export", "flent", "again", "-o", "mine.flent.gz"]);
    let attack = [
        "attack",
        "small.toml",
        "-q",
        "--property",
        "utilisation of bottleneck >= 2",
        "--vary",
        "topology.dumbbell.rate=4 Mbps..6 Mbps",
        "--runs",
        "2",
        "-o",
        "attack.toml",
    ];
    let attacked = accord(&dir, &attack);
    assert!(matches!(attacked.code, Some(0..=2)), "{attacked:#?}");
    let before = files(&dir);
    let mut after = files(&disk.after_a_power_cut());
    // That these are gone need not be on the disk yet, and they do no harm.
    after.retain(|name, _| !(name.ends_with(".lock") || name.ends_with(".unfinished")));
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    for (name, bytes) in before {
        assert!(
            after[&name] == bytes,
            "{name} has {} of {} bytes",
            after[&name].len(),
            bytes.len()
        );
    }
}

/// The user's own files are as they were when the disk was full.
#[test]
fn a_full_disk_leaves_what_was_there() {
    let Some(disk) = Disk::new("8M") else {
        return skipped(NO_DISK);
    };
    let dir = disk.path().to_path_buf();
    std::fs::write(dir.join("small.toml"), SMALL).expect("written");
    accord(&dir, &["run", "small.toml", "-q", "-o", "out"]).with(0);
    let mine = ["figure.svg", "figure.csv", "new.toml", "mine.flent.gz", "mine.pcap"];
    for name in mine {
        std::fs::write(dir.join(name), format!("{name} of mine")).expect("written");
    }
    let before = files(&dir);
    // All of the disk, to the last block.
    shell(&format!(
        "dd if=/dev/zero of={0}/fill bs=4k; dd if=/dev/zero of={0}/fill2 bs=1",
        dir.display()
    ));
    for args in [
        &["plot", "out", "-m", "throughput", "-q", "-o", "figure.svg", "--csv", "figure.csv"][..],
        &["new", "dumbbell", "-o", "new.toml", "--force"],
        &["export", "flent", "out", "-o", "mine.flent.gz", "--force"],
        &["run", "small.toml", "-q", "-o", "out", "--seed", "7", "--pcap", "mine.pcap"],
    ] {
        let ended = accord(&dir, args).with(3);
        assert!(ended.stderr.contains("No space left"), "{ended:#?}");
    }
    let mut after = files(&dir);
    after.retain(|name, _| !name.starts_with("fill"));
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(after == before);
}

/// A limit on the size of files is an error like a full disk, not a signal that kills without a word.
#[test]
fn a_limit_on_files_is_an_error() {
    let dir = folder(&[("small.toml", SMALL)]);
    let program = env!("CARGO_BIN_EXE_accord");
    let limited = format!("ulimit -f 8; exec {program} run small.toml -q -o out");
    let ended = Command::new("sh").args(["-c", &limited]).current_dir(dir.path()).output();
    let ended = ended.expect("a shell");
    let text = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert!(text.contains("File too large"), "{text}");
    assert_eq!(names(dir.path()), ["small.toml"]);
}

/// Older file systems, and earlier versions, leave a manifest without contents after a power cut.
#[test]
fn the_remains_of_a_run_are_replaced() {
    let dir = folder(&[("small.toml", SMALL)]);
    let run = || accord(dir.path(), &["run", "small.toml", "-q", "-o", "out"]);
    run().with(0);
    let whole = files(dir.path());
    for remains in [0, 500] {
        for name in names(&dir.path().join("out")) {
            std::fs::write(dir.path().join("out").join(name), vec![0; remains]).expect("written");
        }
        let compared = accord(dir.path(), &["compare", "out"]).with(2);
        assert!(compared.stderr.contains("as after a power cut"), "{compared:#?}");
        run().with(0);
        assert!(files(dir.path()) == whole);
    }
    // With a file of somebody else it is not only ours.
    std::fs::write(dir.path().join("out/manifest.json"), "").expect("written");
    std::fs::write(dir.path().join("out/notes.txt"), "mine").expect("written");
    run().with(2);
}

/// Whatever has the name of a file that is read, the program ends at once.
#[test]
fn files_without_an_end_are_refused() {
    let dir = folder(&[("small.toml", SMALL)]);
    accord(dir.path(), &["run", "small.toml", "-q", "-o", "out"]).with(0);
    let at = |name: &str| dir.path().join(name);
    std::os::unix::fs::symlink("/dev/zero", at("zero")).expect("a link");
    assert!(shell(&format!("mkfifo {}", at("pipe").display())));
    let sparse = std::fs::File::create(at("sparse")).expect("made");
    sparse.set_len(20_000_000_000).expect("sparse");
    let commands: [&[&str]; 6] = [
        &["run", "X"],
        &["check", "X"],
        &["import", "X"],
        &["run", "trace.toml"],
        &["compare", "out"],
        &["plot", "out", "-m", "throughput", "-o", "a.svg"],
    ];
    for (odd, why) in [("zero", "is a device"), ("pipe", "is a pipe"), ("sparse", "larger than")] {
        let trace = SMALL.replace("rate = \"5 Mbps\"", &format!("rate = {{ trace = \"{odd}\" }}"));
        std::fs::write(at("trace.toml"), trace).expect("written");
        for name in ["manifest.json", "series.parquet", "scenario.toml"] {
            let (place, kept) = (at("out").join(name), at("kept"));
            std::fs::rename(&place, &kept).expect("moved");
            std::os::unix::fs::symlink(at(odd), &place).expect("a link");
            for command in commands {
                if command[1] == "out" || name == "manifest.json" {
                    let args: Vec<&str> =
                        command.iter().map(|arg| if *arg == "X" { odd } else { arg }).collect();
                    let ended = accord(dir.path(), &args).with(2);
                    let text = ended.stderr.replace("\n  │ ", " ");
                    assert!(text.contains(why), "{args:?}, {name}: {text}");
                }
            }
            std::fs::rename(&kept, &place).expect("moved back");
        }
    }
}

/// A lock that cannot be read back, as with a mask that takes the right to read from new files.
#[test]
fn a_lock_that_cannot_be_read_is_taken() {
    let dir = folder(&[("small.toml", SMALL)]);
    let program = env!("CARGO_BIN_EXE_accord");
    let masked = format!("umask 0477; exec timeout 60 {program} run small.toml -q -o out");
    // Root reads everything, so another user runs it where that is possible.
    let as_nobody = format!(
        "chmod 777 . && cp {program} program && exec setpriv --reuid 65534 --clear-groups \
         sh -c 'umask 0477; exec timeout 60 ./program run small.toml -q -o out'"
    );
    let run = |command: &str| {
        let ended = Command::new("sh").args(["-c", command]).current_dir(dir.path()).output();
        ended.expect("a shell").status.code()
    };
    let code = if shell("test $(id -u) = 0") { run(&as_nobody) } else { run(&masked) };
    // 124: it was still spinning after a minute. 127: there is no `setpriv`.
    assert!(matches!(code, Some(0 | 2 | 3 | 127)), "{code:?}");
}

/// Two commands do not write to one place at the same time.
#[test]
fn evaluate_and_attack_take_locks() {
    let dir = folder(&[("small.toml", SMALL)]);
    for (place, args) in [
        ("out", &["evaluate", "--subject", "vegas", "--pack", "buffers", "-q", "-o", "out"][..]),
        (
            "a.toml",
            &[
                "attack",
                "small.toml",
                "-q",
                "--property",
                "utilisation of bottleneck >= 0.5",
                "--vary",
                "topology.dumbbell.rate=4 Mbps..6 Mbps",
                "-o",
                "a.toml",
            ],
        ),
    ] {
        let target = dir.path().canonicalize().expect("there").join(place);
        let lock = accord::report::Lock::take(&target).expect("free");
        let ended = accord(dir.path(), args).with(2);
        assert!(ended.stderr.contains("another run is being written"), "{ended:#?}");
        drop(lock);
    }
}

/// A run that an engine refuses leaves no directory, and removes none that was there.
#[test]
fn a_refused_run_leaves_nothing() {
    let dir = folder(&[("small.toml", SMALL)]);
    let refused = |output: &str| {
        let set = "flow.a.controller=\"bbr3\"";
        let args = ["run", "small.toml", "-e", "fluid", "--set", set, "-o", output];
        let ended = accord(dir.path(), &args).with(2);
        assert!(ended.stderr.contains("no law for bbr3"), "{ended:#?}");
    };
    refused("new/deep/run");
    assert!(!dir.path().join("new").exists());
    std::fs::create_dir(dir.path().join("old")).expect("it is made");
    refused("old/deep/run");
    let old = std::fs::read_dir(dir.path().join("old")).expect("it is there");
    assert_eq!(old.count(), 0);
}
