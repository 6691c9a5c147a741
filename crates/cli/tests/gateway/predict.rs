//! `accord gateway predict`.

use crate::common::accord;
use crate::site;

const PREDICT: &[&str] =
    &["gateway", "predict", "site.toml", "--path", "berlin=40 ms", "--path", "paris=20 ms"];

#[test]
fn predict_prints_theorys_shares_and_writes_a_scenario_that_runs() {
    let folder = site();
    let dir = folder.path();
    let found = accord(dir, PREDICT).with(0);
    let share = |stdout: &str, peer: &str| -> f64 {
        let line = stdout.lines().find(|l| l.starts_with(peer));
        let cells: Vec<&str> = line.unwrap_or("").split_whitespace().collect();
        cells.get(2).and_then(|c| c.parse().ok()).unwrap_or(f64::NAN)
    };
    // 30 Mbps: the contract of 10, and 2:1 of the other 20.
    let (berlin, paris) = (share(&found.stdout, "berlin"), share(&found.stdout, "paris"));
    assert!((berlin - 70.0 / 3.0).abs() < 0.2 && (paris - 20.0 / 3.0).abs() < 0.2, "{found:?}");
    // A narrower path reduces the rate of one tunnel, and the other one gets the rest.
    let narrow = [&PREDICT[..6], &["paris=2 Mbps, 20 ms"]].concat();
    let found = accord(dir, &narrow).with(0);
    assert!((share(&found.stdout, "paris") - 2.0).abs() < 0.1, "{found:?}");
    assert!((share(&found.stdout, "berlin") - 28.0).abs() < 0.2, "{found:?}");
    // A cap below the rate of the path limits the hosts' demand.
    let text = std::fs::read_to_string(dir.join("site.toml")).expect("readable");
    let (peers, paris) = text.split_at(text.find("[peer.paris]").expect("a peer"));
    let text = format!("{peers}{}", paris.replace("50 Mbps", "5 Mbps"));
    std::fs::write(dir.join("capped.toml"), text).expect("written");
    let capped = [&["gateway", "predict", "capped.toml"], &PREDICT[3..]].concat();
    let found = accord(dir, &capped).with(0);
    // Control packets have the rest of 25 Mbps.
    for (peer, right) in [("paris", 5.0), ("berlin", 24.86)] {
        let share = share(&found.stdout, peer);
        assert!((share - right).abs() < 0.02, "{found:?}");
    }
    let write = [PREDICT, &["-o", "predicted.toml"]].concat();
    accord(dir, &write).with(0);
    // The tunnels with gateways, packet by packet, with connections of hosts in them. Sixteen keep
    // the edge backlogged; after losses of four it is sometimes empty, which costs share.
    let run = [
        "run",
        "predicted.toml",
        "-e",
        "theory,fluid,packet",
        "--json",
        "--set",
        "flow.berlin-hosts.count=16",
        "--set",
        "flow.paris-hosts.count=16",
    ];
    let table = accord(dir, &run).with(0).json();
    let mean = |group: &str, metric: &str, engine: &str| {
        let rows = table["points"][0]["means"].as_array().expect("rows");
        let mut rows = rows.iter();
        let row = rows.find(|r| r["group"] == group && r["quantity"] == metric);
        let values = row.and_then(|r| r["values"].as_array()).expect("values");
        let found = values.iter().find(|v| v["column"] == engine);
        found.and_then(|v| v["mean"].as_f64()).unwrap_or(f64::NAN)
    };
    for engine in ["fluid", "packet"] {
        for (peer, right) in [("berlin", 70e6 / 3.0), ("paris", 20e6 / 3.0)] {
            let rate = mean(peer, "throughput", engine);
            assert!((rate / right - 1.0).abs() < 0.05, "{engine}, {peer}: {rate}");
        }
    }
    // 60 of 1480 bytes are the tunnel's, and sixteen connections share the others.
    let share = 16.0 * mean("berlin-hosts", "throughput", "packet") * 1480.0 / 1420.0;
    let rate = mean("berlin", "throughput", "packet");
    assert!((share / rate - 1.0).abs() < 0.01, "{share} of {rate}");
    let again = accord(dir, &write).with(2);
    assert!(again.stderr.contains("--force"), "{again:?}");
    accord(dir, &[&write[..], &["--force"]].concat()).with(0);
}

#[test]
fn predict_says_what_it_does_not_know() {
    let folder = site();
    let dir = folder.path();
    let no_peer = [PREDICT, &["--path", "rome=1 ms"]].concat();
    for (args, code, says) in [
        (&PREDICT[..5], 3, "--path"),
        (&no_peer[..], 2, "rome"),
        (&["gateway", "predict", "nowhere.toml"][..], 2, "nowhere.toml"),
        (&[&PREDICT[..6], &["paris=fast"]].concat()[..], 2, "paris"),
    ] {
        let ended = accord(dir, args).with(code);
        assert!(ended.stderr.contains(says), "{args:?}: {ended:?}");
    }
}
