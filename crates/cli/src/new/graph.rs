//! The links and flows of templates other than dumbbell and parking lot.

use super::template::Sizes;
use crate::draft::Line;
use accord::traffic::{Dice, Purpose};
use accord::units::{Duration, Rate};

/// A network and the paths of its flows.
#[derive(Default)]
pub struct Graph {
    pub links: Vec<Line>,
    /// The nodes on each flow's path, or its two ends for the shortest path.
    pub ways: Vec<Vec<String>>,
}

/// The properties of the links, and the random numbers.
pub struct Maker {
    rate: Rate,
    delay: Duration,
    dice: Dice,
    graph: Graph,
}

impl Maker {
    /// Returns a network whose links have this rate and delay.
    pub fn new(rate: Rate, delay: Duration, seed: u64) -> Maker {
        Maker { rate, delay, dice: Dice::new(seed, 0, Purpose::Template), graph: Graph::default() }
    }

    fn link(&mut self, from: &str, to: &str, delay: Duration) {
        self.graph.links.push(Line {
            name: format!("{from}-{to}"),
            ends: [from.into(), to.into()],
            rate: self.rate,
            delay,
        });
    }

    fn below(&mut self, n: usize) -> usize {
        (self.dice.uniform() * n as f64) as usize
    }

    /// Adds `count` flows, each between two nodes of a list.
    fn pairs(mut self, flows: usize, nodes: &[String]) -> Graph {
        for _ in 0..flows {
            let from = self.below(nodes.len());
            // One of the others, with equal probability.
            let to = (from + 1 + self.below(nodes.len() - 1)) % nodes.len();
            let way = [from, to].map(|i| nodes[i].clone());
            self.graph.ways.push(way.into());
        }
        self.graph
    }

    /// Returns a star: leaves around a hub.
    pub fn star(mut self, sizes: &Sizes) -> Graph {
        let leaves = named("leaf", sizes.of("nodes"));
        for leaf in &leaves {
            self.link(leaf, "hub", self.delay);
        }
        self.pairs(sizes.of("flows"), &leaves)
    }

    pub fn ring(mut self, sizes: &Sizes) -> Graph {
        let nodes = named("n", sizes.of("nodes"));
        for (i, node) in nodes.iter().enumerate() {
            let next = &nodes[(i + 1) % nodes.len()];
            self.link(node, next, self.delay);
        }
        self.pairs(sizes.of("flows"), &nodes)
    }

    /// Returns a tree with flows from its leaves to its root.
    pub fn tree(mut self, sizes: &Sizes) -> Graph {
        let mut level = vec!["root".to_string()];
        for depth in 0..sizes.of("depth") {
            let mut next = Vec::new();
            for parent in &level {
                for i in 1..=sizes.of("branches") {
                    let child = match depth {
                        0 => format!("t{i}"),
                        _ => format!("{parent}-{i}"),
                    };
                    self.link(&child, parent, self.delay);
                    next.push(child);
                }
            }
            level = next;
        }
        for leaf in level.iter().cycle().take(sizes.of("flows")) {
            let way = vec![leaf.clone(), "root".into()];
            self.graph.ways.push(way);
        }
        self.graph
    }

    /// Returns the fat tree of Al-Fares and others (SIGCOMM 2008): k pods of k/2 edge and k/2
    /// aggregation switches, (k/2)² core switches, k/2 hosts at each edge switch.
    pub fn fat_tree(mut self, sizes: &Sizes) -> Graph {
        let pods = sizes.of("pods");
        let half = pods / 2;
        let edge = |pod: usize, i: usize| format!("p{pod}-edge{i}");
        let aggregation = |pod: usize, i: usize| format!("p{pod}-agg{i}");
        let core = |agg: usize, i: usize| format!("core{}", (agg - 1) * half + i);
        let host = |pod: usize, edge: usize, i: usize| format!("p{pod}-e{edge}-h{i}");
        let mut hosts = Vec::new();
        for pod in 1..=pods {
            for i in 1..=half {
                for j in 1..=half {
                    self.link(&host(pod, i, j), &edge(pod, i), self.delay);
                    hosts.push((pod, i, j));
                }
                for j in 1..=half {
                    self.link(&edge(pod, i), &aggregation(pod, j), self.delay);
                }
            }
            for i in 1..=half {
                for j in 1..=half {
                    self.link(&aggregation(pod, i), &core(i, j), self.delay);
                }
            }
        }
        for _ in 0..sizes.of("flows") {
            let from = self.below(hosts.len());
            let to = (from + 1 + self.below(hosts.len() - 1)) % hosts.len();
            let (by, over) = (1 + self.below(half), 1 + self.below(half));
            let ((pod, at, i), (pod_to, at_to, i_to)) = (hosts[from], hosts[to]);
            let mut way = vec![host(pod, at, i), edge(pod, at)];
            if (pod, at) != (pod_to, at_to) {
                way.push(aggregation(pod, by));
                if pod != pod_to {
                    way.extend([core(by, over), aggregation(pod_to, by)]);
                }
                way.push(edge(pod_to, at_to));
            }
            way.push(host(pod_to, at_to, i_to));
            self.graph.ways.push(way);
        }
        self.graph
    }

    /// Returns Waxman's random network (IEEE JSAC 1988): nodes anywhere in a square, two of which
    /// are joined with probability `alpha` · exp(−distance / (`beta` · diagonal)). If there are
    /// several components, the shortest links join them. The delay is that of the diagonal.
    pub fn waxman(mut self, sizes: &Sizes, alpha: f64, beta: f64) -> Graph {
        let nodes = named("n", sizes.of("nodes"));
        let places: Vec<[f64; 2]> =
            (nodes.iter()).map(|_| [self.dice.uniform(), self.dice.uniform()]).collect();
        let mut apart = Vec::new();
        let mut part: Vec<usize> = (0..nodes.len()).collect();
        let mut joined = Vec::new();
        for (i, a) in places.iter().enumerate() {
            for (j, b) in places.iter().enumerate().skip(i + 1) {
                // Relative to the diagonal.
                let distance = (a[0] - b[0]).hypot(a[1] - b[1]) / std::f64::consts::SQRT_2;
                if self.dice.uniform() < alpha * (-distance / beta).exp() {
                    joined.push((i, j, distance))
                } else {
                    apart.push((i, j, distance))
                }
            }
        }
        for &(i, j, _) in &joined {
            unite(&mut part, i, j);
        }
        apart.sort_by(|a, b| a.2.total_cmp(&b.2));
        joined.extend((apart.into_iter()).filter(|&(i, j, _)| unite(&mut part, i, j)));
        joined.sort_by_key(|&(i, j, _)| (i, j));
        for (i, j, distance) in joined {
            let ps = self.delay.as_ps() as f64 * distance;
            // Rounded to a microsecond for readability.
            let delay = Duration::from_us((ps / 1e6).round() as u64);
            self.link(&nodes[i], &nodes[j], delay);
        }
        self.pairs(sizes.of("flows"), &nodes)
    }
}

fn named(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|i| format!("{prefix}{i}")).collect()
}

/// Merges the components of two nodes, and returns true if they were different. `part` has for each
/// node a node of its component, and for the first node of a component itself.
fn unite(part: &mut [usize], a: usize, b: usize) -> bool {
    let find = |part: &mut [usize], mut i: usize| {
        while part[i] != i {
            part[i] = part[part[i]];
            i = part[i];
        }
        i
    };
    let (a, b) = (find(part, a), find(part, b));
    part[a] = b;
    a != b
}
