//! Commands of the gateway, which need a build with it: `cargo test -p accord-cli --features
//! lab,gateway --test gateway`.

#![cfg(all(feature = "gateway", unix))]
#![allow(clippy::disallowed_methods, reason = "real time passes here")]

mod accept;
#[path = "../common/mod.rs"]
mod common;
mod predict;
mod runs;

use accept::Running;
use common::{accord, skipped};
use std::path::Path;
use std::process::Command;

/// Returns a folder with a site of two peers and a class, over an uplink of 30 Mbps.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let made = accord(dir, &["gateway", "keys", "site.key"]).with(0);
    let own = made.stdout.trim();
    let key = |file: &str| accord(dir, &["gateway", "keys", file]).with(0).stdout;
    let (berlin, paris) = (key("berlin.key"), key("paris.key"));
    assert_ne!(own, berlin.trim());
    let text = format!(
        "[gateway]\nkey = \"site.key\"\nlisten = \"127.0.0.1:0\"\nuplink = \"30 Mbps\"\n\
         status = \"site.sock\"\n[class.voice]\ndscp = [\"EF\"]\n\
         [peer.berlin]\npublic_key = \"{}\"\nnetworks = [\"10.2.0.0/24\"]\ncap = \"50 Mbps\"\n\
         service = {{ contract = \"10 Mbps\", weight = 2 }}\n\
         [peer.berlin.class.voice]\ncontract = \"1 Mbps\"\n\
         [peer.paris]\npublic_key = \"{}\"\nnetworks = [\"10.3.0.0/24\"]\ncap = \"50 Mbps\"\n",
        berlin.trim(),
        paris.trim()
    );
    std::fs::write(dir.join("site.toml"), text).expect("written");
    folder
}

/// No command shows a key of a file of wg-quick, or of a site file with a key at a wrong place.
#[test]
fn no_command_shows_a_key() {
    let folder = site();
    let dir = folder.path();
    let secret = std::fs::read_to_string(dir.join("berlin.key")).expect("readable");
    let secret = secret.trim();
    let text = std::fs::read_to_string(dir.join("site.toml")).expect("readable");
    let files = [
        format!("[Interface]\nPrivateKey = {secret}\n[Peer]\nAllowedIPs = 0.0.0.0/0\n"),
        text.replacen("site.key", secret, 1),
        text.replacen("[peer.paris]", &format!("preshared_key = \"{secret}\"\n[peer.paris]"), 1),
        text.replacen("50 Mbps", secret, 1),
        text.replacen("[peer.paris]", &format!("{secret}\n[peer.paris]"), 1),
    ];
    for file in files {
        std::fs::write(dir.join("wrong.toml"), &file).expect("written");
        for words in [
            &["check", "wrong.toml"][..],
            &["check", "wrong.toml", "--json"],
            &["run", "wrong.toml"],
            &["status", "wrong.toml"],
            &["predict", "wrong.toml", "--path", "berlin=40 ms"],
            &["accept", "wrong.toml", "berlin"],
            &["mode", "wrong.toml", "berlin", "shadow"],
        ] {
            let words: Vec<&str> = ["gateway"].iter().chain(words).copied().collect();
            let shown = accord(dir, &words);
            let said = format!("{}{}", shown.stdout, shown.stderr);
            assert!(!said.contains(&secret[..20]) && !said.is_empty(), "{words:?}: {said}");
        }
    }
}

/// An error in the file does not hide the running gateway.
#[test]
fn status_works_with_an_invalid_file() {
    let folder = site();
    let dir = folder.path();
    let running = Running::new(dir, |_| "fine".into());
    let path = dir.join("site.toml");
    let text = std::fs::read_to_string(&path).expect("readable");
    std::fs::write(&path, text.replacen("\"50 Mbps\"", "\"much\"", 1)).expect("written");
    let status = ["gateway", "status", "site.toml", "--metrics"];
    let shown = accord(dir, &status).with(0);
    assert_eq!(shown.stdout, "fine\n");
    assert!(shown.stderr.contains("site.toml:11:7: \"much\" does not"), "{shown:?}");
    // Commands with an effect need a valid file.
    accord(dir, &["gateway", "mode", "site.toml", "berlin", "shadow"]).with(2);
    running.end();
}

/// A configuration that would not start is refused before.
#[test]
fn a_peer_with_the_gateways_own_key_is_refused() {
    let folder = site();
    let dir = folder.path();
    let checked = accord(dir, &["gateway", "check", "site.toml"]).with(0);
    let said = "site.toml is valid: 2 peers, ";
    assert!(checked.stdout.starts_with(said), "{checked:?}");
    for peer in ["berlin", "paris"] {
        let said =
            format!("warning: peer {peer}: its cap of 50 Mbps is above the uplink of 30 Mbps");
        assert!(checked.stderr.contains(&said), "{checked:?}");
    }
    let own = accord(dir, &["gateway", "keys", "site.key"]).with(0).stdout;
    let berlin = accord(dir, &["gateway", "keys", "berlin.key"]).with(0).stdout;
    let text = std::fs::read_to_string(dir.join("site.toml")).expect("readable");
    let text = text.replace(berlin.trim(), own.trim());
    std::fs::write(dir.join("own.toml"), text).expect("written");
    for command in ["check", "run"] {
        let refused = accord(dir, &["gateway", command, "own.toml"]).with(2);
        let message = "peer berlin has the key of this gateway itself";
        assert!(refused.stderr.contains(message), "{refused:?}");
    }
}

/// A file of wg-quick becomes the files of a gateway, which `check` takes. Keys are in files of their own, and on
/// no screen.
#[test]
fn a_file_of_wg_quick_is_imported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let public = accord(dir, &["gateway", "keys", "own.key"]).with(0).stdout;
    let peer = accord(dir, &["gateway", "keys", "peer.key"]).with(0).stdout;
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).expect("readable");
    let (secret, shared) = (read("own.key"), read("peer.key"));
    let text = format!(
        "[Interface]\nPrivateKey = {secret}Address = 10.1.0.1/24\nDNS = 10.1.0.2\n\
         [Peer]\n# berlin\nPublicKey = {peer}PresharedKey = {shared}AllowedIPs = 0.0.0.0/0\n\
         Endpoint = gw.example.net:51820\nPersistentKeepalive = 25\n"
    );
    std::fs::write(dir.join("wg0.conf"), &text).expect("written");
    std::fs::create_dir(dir.join("to")).expect("made");
    let words = ["gateway", "import", "wg0.conf", "--cap", "50 Mbps", "--to", "to"];
    let made = accord(dir, &words).with(0);
    assert_eq!(made.stdout.trim(), "to/wg0.toml");
    assert!(made.stderr.contains("line 4: DNS is not taken"), "{made:?}");
    let own = accord(dir, &["gateway", "keys", "to/wg0.key"]).with(0);
    assert_eq!(own.stdout, public);
    assert_eq!(read("to/wg0-berlin.psk"), shared);
    for secret in ["to/wg0.key", "to/wg0-berlin.psk"] {
        let mode = dir.join(secret).metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
    let site = read("to/wg0.toml");
    assert!(site.contains("fwmark = 51820"), "{site}");
    let checked = accord(dir, &["gateway", "check", "to/wg0.toml"]).with(0);
    assert!(checked.stdout.contains("1 peer"), "{checked:?}");
    // No file is replaced, and a message names each fault with its place.
    let again = accord(dir, &words).with(2);
    assert!(again.stderr.contains("to/wg0.toml is there already"), "{again:?}");
    std::fs::write(dir.join("wg0.conf"), text.replace("0.0.0.0/0", "all")).expect("written");
    let wrong = accord(dir, &words).with(2);
    assert!(wrong.stderr.contains("wg0.conf:9"), "{wrong:?}");
    for said in [&made, &checked, &again, &wrong] {
        for key in [secret.trim(), shared.trim()] {
            assert!(!said.stderr.contains(key) && !said.stdout.contains(key), "{said:?}");
        }
        assert!(!site.contains(secret.trim()) && !site.contains(shared.trim()));
    }
}

/// A folder that is not there is made, and a disk that is full leaves no file that is in the way later.
#[test]
fn keys_are_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let made = accord(dir, &["gateway", "keys", "etc/accord/site.key"]).with(0);
    let again = accord(dir, &["gateway", "keys", "etc/accord/site.key"]).with(0);
    assert_eq!(made.stdout, again.stdout);
    // A file system of one page, which another file fills.
    std::fs::create_dir(dir.join("full")).expect("made");
    let script = "mount -t tmpfs -o size=4k none full && head -c 4096 /dev/zero > full/other && \
                  { \"$0\" gateway keys full/site.key; echo $? > code; ls full > list; }";
    let program = env!("CARGO_BIN_EXE_accord");
    let ran = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, program])
        .current_dir(dir)
        .output();
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_default();
    match ran {
        Ok(ran) if read("code").is_empty() => {
            skipped(&format!("no file system: {}", String::from_utf8_lossy(&ran.stderr)));
        }
        Ok(ran) => {
            assert_ne!(read("code"), "0\n");
            assert_eq!(read("list"), "other\n");
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(said.contains("cannot be written"), "{said}");
        }
        Err(e) => skipped(&format!("unshare: {e}")),
    }
}

/// The example of a hub and two spokes: with the keys in their places, each file is right.
#[test]
fn the_example_of_a_hub_is_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let sites = ["hamburg", "berlin", "munich"];
    let keys = sites.map(|site| {
        let key = accord(dir, &["gateway", "keys", &format!("{site}.key")]).with(0);
        key.stdout.trim().to_string()
    });
    for site in sites {
        let path = format!("../../docs/examples/gateway/hub/{site}.toml");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let mut text = std::fs::read_to_string(path).expect("readable");
        let file = format!("{site}.toml");
        std::fs::write(dir.join(&file), &text).expect("written");
        let refused = accord(dir, &["gateway", "check", &file]).with(2);
        assert!(refused.stderr.contains("expected a key"), "{refused:?}");
        for (of, key) in sites.iter().zip(&keys) {
            text = text.replace(&format!("(the key of {of})"), key);
        }
        std::fs::write(dir.join(&file), &text).expect("written");
        let checked = accord(dir, &["gateway", "check", &file]).with(0);
        assert!(!checked.stderr.contains("warning"), "{checked:?}");
    }
}

/// The files of a hub and fifty spokes: each is right, without a warning.
#[test]
fn the_files_of_a_hub_and_fifty_spokes_are_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gateway/tools/hub.py");
    let made = Command::new("python3")
        .arg(script)
        .args([env!("CARGO_BIN_EXE_accord"), "--spokes", "50", "--to", "hub"])
        .current_dir(dir)
        .output();
    match made {
        Ok(made) => assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr)),
        Err(e) => return skipped(&format!("python3: {e}")),
    }
    for site in ["hub", "site1", "site50"] {
        let file = format!("hub/{site}.toml");
        let checked = accord(dir, &["gateway", "check", &file]).with(0);
        assert!(!checked.stderr.contains("warning"), "{checked:?}");
        let peers = if site == "hub" { 50 } else { 1 };
        let yields = "yields while the path's queue is longer than 250 ms";
        assert_eq!(checked.stdout.matches(yields).count(), peers, "{checked:?}");
    }
    assert_eq!(dir.join("hub").read_dir().expect("there").count(), 2 * 51);
}
