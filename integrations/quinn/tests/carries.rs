//! The controllers that quinn can carry. The page of the book has the same table.

#[path = "support/pair.rs"]
mod pair;

use accord_quinn::{Factory, Refused};
use pair::{Link, Pair};
use quinn_proto::TransportConfig;
use std::sync::Arc;
use std::time::Duration;

/// Returns the outcome of each controller of Accord in quinn.
#[test]
fn the_page_says_which_controllers_quinn_carries() {
    let mut table = String::from("| controller | in quinn |\n|---|---|\n");
    for family in accord::control::FAMILIES {
        let verdict = match Factory::new(&family.defaults()) {
            Ok(_) => "works".to_owned(),
            Err(refused) => format!("refused: {}", why(&refused)),
        };
        table += &format!("| `{}` | {verdict} |\n", family.name);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/quinn.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (start, end) = ("<!-- carried -->\n\n", "\n<!-- end of carried -->");
    let from = page.find(start).expect("a mark") + start.len();
    let to = page.find(end).expect("a mark");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page = format!("{}{table}{}", &page[..from], &page[to..]);
        std::fs::write(path, page).expect("the page");
    } else {
        assert_eq!(page[from..to], table, "UPDATE_DOCS=1 writes it anew");
    }
}

fn why(refused: &Refused) -> String {
    let text = refused.to_string();
    let (_, why) = text.split_once(": it ").expect("a reason");
    format!("it {why}")
}

/// The refusals that users of quinn depend on.
#[test]
fn what_quinn_cannot_carry_is_refused() {
    let refused = |name: &str| {
        let mut all = accord::control::FAMILIES.iter();
        let family = all.find(|f| f.name == name).expect("it is registered");
        Factory::new(&family.defaults()).err().map(|refused| refused.why)
    };
    assert_eq!(refused("cubic"), None);
    for (name, start) in [
        ("monaco", "needs pairs of control packets"),
        ("bbr3", "needs samples of the delivery rate"),
        ("none", "does not respond to the network"),
        ("vegas-rem", "counts marked packets"),
        ("dctcp", "counts marked packets"),
    ] {
        assert!(refused(name).is_some_and(|why| why.starts_with(start)), "{name}");
    }
    let aqm = accord::aqm::FAMILIES[0];
    let refused = Factory::new(&aqm.defaults()).err();
    assert_eq!(refused, Some(Refused { name: aqm.name, why: "is a queue discipline" }));
}

/// Supported controllers move data: 10 MB over 20 Mbit/s, which takes at least 4 s, within 20 s.
#[test]
fn what_quinn_carries_moves_data() {
    let link = Link { rate: 20_000_000, buffer: 100_000, delay: Duration::from_millis(20) };
    let mut carried = 0;
    for family in accord::control::FAMILIES {
        let Ok(factory) = Factory::new(&family.defaults()) else {
            continue;
        };
        carried += 1;
        let mut config = TransportConfig::default();
        config.congestion_controller_factory(Arc::new(factory));
        let server = Arc::new(TransportConfig::default());
        let mut pair = Pair::new(Arc::new(config), server, link);
        pair.connect();
        let start = pair.now();
        let done = pair.send(10_000_000, Duration::from_secs(20));
        let seconds = (pair.now() - start).as_secs_f64();
        assert!(done, "{}: {} bytes in {seconds} s", family.name, pair.received());
        println!("{}: 10 MB in {seconds:.2} s", family.name);
    }
    assert!(carried >= 8, "{carried} controllers");
}
