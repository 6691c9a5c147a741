//! Random networks: the fluid settles where theory has the equilibrium, within 1 % of each rate.
//!
//! Flows go both ways over one to three links, with all demands, contracts, weights and accumulation
//! limits, and a rate may change. `ACCORD_CASES=1000 cargo test -p accord-fluid --test all agreement` tries
//! more networks.

use crate::common::{fluid, last};
use accord_record::Quiet;
use accord_scenario::{Entity, Metric};

/// Numbers that only the seed decides (SplitMix64).
struct Random(u64);

impl Random {
    /// Uniform from one number to another.
    fn between(&mut self, from: f64, to: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        from + (to - from) * (z >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        self.between(0.0, count as f64) as usize
    }
}

/// The text of a random network.
fn network(random: &mut Random) -> String {
    let links = 1 + random.below(3);
    let mut text = "duration = \"60 s\"\nsample = \"500 ms\"\n".to_owned();
    for l in 0..links {
        let (there, back) = (random.between(8.0, 20.0), random.between(8.0, 20.0));
        text += &format!(
            "[link.l{l}]\nfrom = \"n{l}\"\nto = \"n{}\"\nrate = \"{there:.2} Mbps\"\ndelay = \"2 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\nreverse = {{ rate = \"{back:.2} Mbps\" }}\n",
            l + 1
        );
    }
    for f in 0..2 + random.below(4) {
        let (first, last) = (random.below(links), 1 + random.below(links));
        let (first, last) = (first.min(last - 1), last.max(first + 1));
        let ends = if random.below(2) == 0 { (first, last) } else { (last, first) };
        let demand = match random.below(8) {
            0 => format!("{{ constant = \"{:.2} Mbps\" }}", random.between(0.2, 4.0)),
            1 => format!("{{ poisson = \"{:.2} Mbps\" }}", random.between(0.2, 4.0)),
            2 => "{ on_off = { burst = \"50 KB\", pause = \"100 ms\", rate = \"4 Mbps\" } }".into(),
            3 => format!("{{ media = {{ max = \"{:.2} Mbps\" }} }}", random.between(0.3, 3.0)),
            4 => "{ size = \"1 MB\" }".into(),
            _ => "\"greedy\"".into(),
        };
        let contract = match random.below(3) {
            0 => format!("contract = \"{:.2} Mbps\", ", random.between(0.2, 1.5)),
            _ => String::new(),
        };
        let limit = match random.below(4) {
            0 => format!(", limit = \"{:.0} B\"", random.between(1e4, 3e4)),
            _ => String::new(),
        };
        text += &format!(
            "[flow.f{f}]\nfrom = \"n{}\"\nto = \"n{}\"\ncontroller = {{ name = \"monaco\", gain = 0.3 }}\n\
             service = {{ {contract}weight = {:.2}{limit} }}\ndemand = {demand}\nstart = \"{:.2} s\"\n\
             access = {{ rate = \"1 Gbps\", delay = \"{:.2} ms\" }}\n",
            ends.0,
            ends.1,
            random.between(1.0, 3.0),
            random.between(0.0, 1.0),
            random.between(2.0, 15.0),
        );
    }
    if random.below(3) == 0 {
        let rate = random.between(8.0, 20.0);
        text += &format!("[[event]]\nat = \"20 s\"\nlink = \"l0\"\nrate = \"{rate:.2} Mbps\"\n");
    }
    text
}

#[test]
fn random_networks_settle_where_theory_has_them() {
    let cases = std::env::var("ACCORD_CASES").map_or(24, |n| n.parse().expect("a number"));
    for seed in 0..cases {
        let text = network(&mut Random(seed));
        let (s, run) = fluid(&text);
        let theory = accord_theory::run(&s, &mut Quiet).expect("a valid problem");
        for (f, flow) in s.flows.iter().enumerate() {
            let expected = last(&theory, Metric::Throughput, Entity::Flow(f));
            let found = last(&run, Metric::Throughput, Entity::Flow(f));
            if expected.is_nan() {
                // Its transfer is done. The fluid delivers its last bytes ever more slowly.
                let silent = found.is_nan() || found < 1.0;
                assert!(silent, "seed {seed}: {} has {found}\n{text}", flow.name);
                continue;
            }
            let off = found / expected - 1.0;
            assert!(
                off.abs() < 0.01,
                "seed {seed}: {} has {found} for {expected}\n{text}\n{:?}\n{:?}",
                flow.name,
                theory.notes,
                run.notes
            );
        }
    }
}

/// An application below its share, over two full links: as a window it would swing at both for ever, and
/// have 3.85 Mbps.
#[test]
fn an_application_keeps_its_rate_between_two_full_links() {
    let flow = |name: &str, to: &str, more: &str| {
        format!(
            "[flow.{name}]\nfrom = \"n0\"\nto = \"{to}\"\ncontroller = \"monaco\"\n{more}\n\
             access = {{ rate = \"1 Gbps\", delay = \"{} ms\" }}\n",
            3 + name.len()
        )
    };
    let link = |l: usize, rate: u32| {
        format!(
            "[link.l{l}]\nfrom = \"n{l}\"\nto = \"n{}\"\nrate = \"{rate} Mbps\"\ndelay = \"5 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n",
            l + 1
        )
    };
    let app = "service = { weight = 2, contract = \"2.5 Mbps\" }\n\
               demand = { constant = \"4 Mbps\" }\nstart = \"600 ms\"";
    let text = "duration = \"60 s\"\nsample = \"500 ms\"\n".to_owned()
        + &link(0, 12)
        + &link(1, 7)
        + &flow("app", "n2", app)
        + &flow("long", "n2", "")
        + &flow("plain", "n1", "");
    let (_, run) = fluid(&text);
    for (f, expected) in [4e6, 3e6, 5e6].into_iter().enumerate() {
        let found = last(&run, Metric::Throughput, Entity::Flow(f));
        assert!((found / expected - 1.0).abs() < 2e-3, "flow {f}: {found} for {expected}");
    }
}
