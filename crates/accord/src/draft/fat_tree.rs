//! The fat tree of Al-Fares and others (SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation
//! switches, (k/2)² core switches, k/2 hosts at each edge switch.

use super::Line;
use accord_traffic::{Dice, Purpose};
use accord_units::{Duration, Rate};

fn host(pod: usize, edge: usize, i: usize) -> String {
    format!("p{pod}-e{edge}-h{i}")
}

fn edge(pod: usize, i: usize) -> String {
    format!("p{pod}-edge{i}")
}

fn aggregation(pod: usize, i: usize) -> String {
    format!("p{pod}-agg{i}")
}

/// Returns the name of the `i`-th core switch at aggregation switch `agg`.
fn core(pods: usize, agg: usize, i: usize) -> String {
    format!("core{}", (agg - 1) * (pods / 2) + i)
}

/// Returns the links, all with this rate and delay.
pub(super) fn links(pods: usize, (rate, delay): (Rate, Duration)) -> Vec<Line> {
    let half = pods / 2;
    let mut links = Vec::new();
    let mut link = |from: String, to: String| {
        let (name, back) = (format!("{from}-{to}"), (rate, delay));
        links.push(Line { name, ends: [from, to], rate, delay, back });
    };
    for pod in 1..=pods {
        for i in 1..=half {
            for j in 1..=half {
                link(host(pod, i, j), edge(pod, i));
            }
            for j in 1..=half {
                link(edge(pod, i), aggregation(pod, j));
            }
        }
        for i in 1..=half {
            for j in 1..=half {
                link(aggregation(pod, i), core(pods, i, j));
            }
        }
    }
    links
}

/// Returns the paths of flows between random hosts, over random switches.
pub(super) fn paths(pods: usize, flows: usize, seed: u64) -> Vec<Vec<String>> {
    let half = pods / 2;
    let mut dice = Dice::new(seed, 0, Purpose::Template);
    let mut below = |n: usize| (dice.uniform() * n as f64) as usize;
    // Hosts are numbered pod by pod and edge switch by edge switch.
    let hosts = pods * half * half;
    let place = |n: usize| (n / (half * half) + 1, n / half % half + 1, n % half + 1);
    let mut path = || {
        let from = below(hosts);
        let to = (from + 1 + below(hosts - 1)) % hosts;
        let (by, over) = (1 + below(half), 1 + below(half));
        let ((pod, at, i), (pod_to, at_to, i_to)) = (place(from), place(to));
        let mut path = vec![host(pod, at, i), edge(pod, at)];
        if (pod, at) != (pod_to, at_to) {
            path.push(aggregation(pod, by));
            if pod != pod_to {
                path.extend([core(pods, by, over), aggregation(pod_to, by)]);
            }
            path.push(edge(pod_to, at_to));
        }
        path.push(host(pod_to, at_to, i_to));
        path
    };
    (0..flows).map(|_| path()).collect()
}
