//! Files that are written whole, and the reader with a limit.

use accord_files::{
    Whole, create_dirs, finish_all, open, publish, read, read_text, write, write_new,
};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a folder");
    let names = entries.map(|e| e.expect("readable").file_name().into_string().expect("text"));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_file_is_there_whole_or_as_it_was() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("mine.toml");
    write(&path, b"first").expect("written");
    assert_eq!(read(&path, 5).expect("read"), b"first");
    let unfinished = Whole::replace(&path).expect("begun");
    unfinished.open().expect("open").write_all(b"half").expect("written");
    assert_eq!(read(&path, 5).expect("read"), b"first");
    drop(unfinished);
    assert_eq!(read(&path, 5).expect("read"), b"first");
    assert_eq!(names(dir.path()), ["mine.toml"]);
    write(&path, b"second").expect("written");
    assert_eq!(read_text(&path, 6).expect("read"), "second");
    assert_eq!(names(dir.path()), ["mine.toml"]);
}

#[test]
fn a_new_file_replaces_none() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a");
    write_new(&path, b"one").expect("written");
    let late = Whole::create(&dir.path().join("b")).expect("begun");
    write(&dir.path().join("b"), b"theirs").expect("written");
    for refused in [write_new(&path, b"two"), late.finish()] {
        assert_eq!(refused.expect_err("it is there").kind(), ErrorKind::AlreadyExists);
    }
    assert_eq!(read(&path, 9).expect("read"), b"one");
    assert_eq!(read(&dir.path().join("b"), 9).expect("read"), b"theirs");
    assert_eq!(names(dir.path()), ["a", "b"]);
}

#[test]
fn many_files_are_finished_together() {
    let dir = tempfile::tempdir().expect("a folder");
    for n in [3, 100] {
        let to = dir.path().join(format!("{n}/deep"));
        create_dirs(&to).expect("made");
        let files = (0..n).map(|i| {
            let file = Whole::replace(&to.join(i.to_string())).expect("begun");
            file.open().expect("open").write_all(b"x").expect("written");
            file
        });
        finish_all(files.collect()).expect("finished");
        assert_eq!(names(&to).len(), n);
    }
}

#[test]
fn a_name_as_long_as_file_systems_allow_is_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let name = "a".repeat(255);
    write(&dir.path().join(&name), b"x").expect("written");
    assert_eq!(names(dir.path()), [name]);
}

#[test]
fn a_directory_replaces_another_with_all_that_is_in_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (partial, target) = (dir.path().join(".partial"), dir.path().join("target"));
    for contents in ["old", "new"] {
        fs::create_dir_all(partial.join("001")).expect("made");
        fs::write(partial.join("001/file"), contents).expect("written");
        publish(&partial, &target).expect("published");
        assert_eq!(fs::read_to_string(target.join("001/file")).expect("read"), contents);
        assert_eq!(names(dir.path()), ["target"]);
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn the_rights_and_the_link_stay() {
        let dir = tempfile::tempdir().expect("a folder");
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        symlink("real", &link).expect("a link");
        // A link to a file that is not there yet.
        write(&link, b"first").expect("written");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("set");
        write(&link, b"second").expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(read(&real, 9).expect("read"), b"second");
        assert_eq!(fs::metadata(&real).expect("there").mode() & 0o777, 0o640);
        symlink("circle", dir.path().join("circle")).expect("a link");
        assert!(write(&dir.path().join("circle"), b"x").is_err());
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        write(Path::new("/dev/null"), b"x").expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        // As /dev/stdout is, where the output goes to another program.
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
        write(Path::new(&name), b"piped").expect("written");
        drop(writer);
        let mut text = String::new();
        std::io::Read::read_to_string(&mut reader, &mut text).expect("text");
        assert_eq!(text, "piped");
    }

    #[test]
    fn files_without_an_end_are_refused_unread() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        symlink("/dev/zero", at("zero")).expect("a link");
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status();
        assert!(made.expect("mkfifo").success());
        let sparse = fs::File::create(at("sparse")).expect("made");
        sparse.set_len(20_000_000_000).expect("sparse");
        for (name, why) in [
            ("zero", "it is a device, not a plain file"),
            ("pipe", "it is a pipe, not a plain file"),
            ("sparse", "it is larger than 8 MiB"),
            (".", "it is a directory, not a plain file"),
        ] {
            for refused in [open(&at(name), 8 << 20).err(), read(&at(name), 8 << 20).err()] {
                assert_eq!(refused.expect("refused").to_string(), why);
            }
        }
        // It has no size, and an end.
        let status = Path::new("/proc/self/status");
        assert!(!read(status, 1 << 20).expect("read").is_empty());
        assert_eq!(
            read(status, 10).expect_err("too long").to_string(),
            "it is larger than 10 bytes"
        );
    }
}
