//! The checks of the gateway's fuzz targets, over their seeds and some thousands of mutations of these.
//! `FUZZ=100000 cargo test -p accord-gateway --test fuzz` looks further.

#[path = "common/dice.rs"]
mod dice;
#[path = "../../fuzz/bodies/gateway_key.rs"]
mod key;
#[path = "../../fuzz/bodies/gateway_message.rs"]
mod message;
#[path = "../../fuzz/bodies/gateway_outer.rs"]
mod outer;
#[path = "../../fuzz/bodies/gateway_packet.rs"]
mod packet;
#[path = "../../fuzz/bodies/gateway_site.rs"]
mod site;

use dice::Dice;
use std::path::Path;

/// Gives a body its seeds, all accepted, and mutations of them, some accepted.
fn look(target: &str, body: fn(&[u8]) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let entries = std::fs::read_dir(folder.join(target)).expect("seeds");
    let mut paths: Vec<_> = entries.map(|e| e.expect("readable").path()).collect();
    paths.sort();
    assert!(paths.len() > 5, "{} seeds", paths.len());
    let read = |path| std::fs::read(path).expect("a seed");
    let seeds: Vec<Vec<u8>> = paths.iter().map(read).collect();
    for (path, seed) in paths.iter().zip(&seeds) {
        assert!(body(seed), "{} is refused", path.display());
    }
    let rounds = std::env::var("FUZZ").ok().and_then(|n| n.parse().ok());
    let rounds: u64 = rounds.unwrap_or(5000);
    let mut fine = 0;
    for round in 0..rounds {
        let mut dice = Dice(round);
        let mut bytes = seeds[dice.below(seeds.len() as u64) as usize].clone();
        for _ in 0..=dice.below(3) {
            mutate(&mut bytes, &mut dice);
        }
        fine += u64::from(body(&bytes));
    }
    // The damage is neither harmless nor hopeless.
    assert!((rounds / 50..rounds * 49 / 50).contains(&fine), "{target}: {fine} of {rounds}");
}

fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if bytes.is_empty() {
        return;
    }
    let at = dice.below(bytes.len() as u64) as usize;
    match dice.below(6) {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = dice.next() as u8,
        2 => bytes.truncate(at),
        3 => {
            bytes.remove(at);
        }
        4 => {
            let end = (at + 1 + dice.below(20) as usize).min(bytes.len());
            let part = bytes[at..end].to_vec();
            let to = dice.below(bytes.len() as u64) as usize;
            bytes.splice(to..to, part);
        }
        _ => {
            // Another digit often makes sense.
            let digits: Vec<usize> =
                (0..bytes.len()).filter(|i| bytes[*i].is_ascii_digit()).collect();
            match digits.len() as u64 {
                0 => bytes.insert(at, dice.next() as u8),
                n => bytes[digits[dice.below(n) as usize]] = b'0' + dice.below(10) as u8,
            }
        }
    }
}

#[test]
fn sites() {
    look("gateway_site", site::check);
}

#[test]
fn packets() {
    look("gateway_packet", packet::check);
}

#[test]
fn keys() {
    look("gateway_key", key::check);
}

#[test]
fn messages() {
    look("gateway_message", message::check);
}

#[test]
fn outer_headers() {
    look("gateway_outer", outer::check);
}
