//! Randomly damaged input files and run directories: the program refuses or accepts them, and never
//! panics or hangs. `DAMAGED=10000 cargo test -p accord-cli --test all damaged` runs longer.

use crate::common::*;
use std::path::Path;

const LINKS: &str = "link,capacity_bps\na,10000000\nb,5000000\n";
const FLOWS: &str = "flow,path,utility,weight,cap_bps,floor_bps,limit,alpha,rate_bps\n\
                     f,a b,log,1,,,,,\n\
                     g,a,alpha-fair,2,,,,2,\n\
                     h,b,contract,1,3000000,1000000,1,,\n\
                     k,a,fixed,,,,,,1000000\n";

/// Damages the files of `dir` in turn and passes them to the program. Returns the numbers of
/// refusals and acceptances.
fn look(dir: &Path, files: &[&str], args: &[&str]) -> (u64, u64) {
    let rounds = std::env::var("DAMAGED").ok().and_then(|n| n.parse().ok());
    let whole: Vec<Vec<u8>> =
        (files.iter()).map(|file| std::fs::read(dir.join(file)).expect("it is there")).collect();
    let (mut refused, mut fine) = (0, 0);
    // The last seed makes the Parquet reader panic, in a build with checks.
    for seed in (0..rounds.unwrap_or(50)).chain([2220]) {
        let mut dice = Dice(seed);
        let i = dice.below(files.len());
        let mut bytes = whole[i].clone();
        for _ in 0..=dice.below(3) {
            damage(&mut bytes, &mut dice);
        }
        let path = dir.join(files[i]);
        std::fs::write(&path, &bytes).expect("it can be written");
        let ended = accord(dir, args);
        let panicked = ended.stderr.contains("panicked");
        match ended.code {
            Some(2 | 3) if !panicked => refused += 1,
            Some(0 | 1) if !panicked => fine += 1,
            _ => panic!("seed {seed}, {}: {ended:#?}", files[i]),
        }
        std::fs::write(&path, &whole[i]).expect("it can be written");
    }
    (refused, fine)
}

#[test]
fn run_directories() {
    let dir = folder(&[("small.toml", SMALL)]);
    let args = ["run", "small.toml", "-e", "theory,packet", "-o", "run"];
    accord(dir.path(), &args).with(0);
    let files = ["run/manifest.json", "run/series.parquet"];
    let compare = ["compare", "run", "--json"];
    accord(dir.path(), &compare).with(0);
    let (refused, fine) = look(dir.path(), &files, &compare);
    // Damage may restore the original.
    assert!(refused > 45, "{refused} refused, {fine} fine");
    // A directory of an earlier program has no checksums, so all of it is read.
    let path = dir.path().join(files[0]);
    let text = std::fs::read_to_string(&path).expect("it is there");
    let mut manifest: serde_json::Value = text.parse().expect("JSON");
    let fields = manifest.as_object_mut().expect("an object");
    fields.retain(|name, _| !name.starts_with("checksum"));
    fields["format_version"] = 1.into();
    std::fs::write(&path, manifest.to_string()).expect("it can be written");
    accord(dir.path(), &compare).with(0);
    let (refused, _) = look(dir.path(), &files, &compare);
    assert!(refused > 5, "{refused} refused");
    // The same Parquet as a table of links: read completely, and refused for its columns.
    let tables = ["links.parquet", "flows.parquet"];
    for table in tables {
        std::fs::copy(dir.path().join(files[1]), dir.path().join(table)).expect("copied");
    }
    let (refused, fine) = look(dir.path(), &tables, &["solve", ".", "-q"]);
    assert!(refused > 5 && fine == 0, "{refused} refused, {fine} fine");
}

#[test]
fn tables_of_a_network() {
    let dir = folder(&[("links.csv", LINKS), ("flows.csv", FLOWS)]);
    accord(dir.path(), &["solve", ".", "-q"]).with(0);
    let files = ["links.csv", "flows.csv"];
    let (refused, fine) = look(dir.path(), &files, &["solve", ".", "-q", "--json"]);
    assert!(refused > 5 && fine > 0, "{refused} refused, {fine} fine");
}
