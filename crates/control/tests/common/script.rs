//! Scripts of acknowledgements for slow starts: those that a sender gets on a path while its window grows, whatever
//! the controller under test does. Times are in whole microseconds, so other programs can take the same scripts.

use std::collections::VecDeque;
use std::fmt::Write;

/// A path with one bottleneck.
#[derive(Clone, Copy)]
pub struct Path {
    pub name: &'static str,
    /// Packets of the bottleneck per second, by the time in microseconds.
    pub rate: fn(u64) -> u64,
    /// The round-trip time without a queue in microseconds, by the time.
    pub base: fn(u64) -> u64,
    /// The largest additional delay of a packet in microseconds.
    pub jitter: u64,
    /// The period in microseconds at which acknowledgements arrive, one for all packets since the last; zero for
    /// one per packet.
    pub bunch: u64,
    /// The packets that the queue holds.
    pub buffer: u64,
    /// The microseconds in which the application sends nothing.
    pub pause: (u64, u64),
    /// The packets that the window grows by per packet acknowledged while there is no queue.
    pub growth: u64,
    /// The end in microseconds.
    pub end: u64,
}

pub const PATH: Path = Path {
    name: "",
    rate: |_| 1250,
    base: |_| 40_000,
    jitter: 0,
    bunch: 0,
    buffer: u64::MAX,
    pause: (0, 0),
    growth: 1,
    end: 3_000_000,
};

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The time in microseconds.
    pub at: u64,
    /// The packets newly acknowledged.
    pub packets: u64,
    /// The packets found lost by it: those with three later ones acknowledged.
    pub lost: u64,
    /// The round-trip time of the latest one in microseconds.
    pub rtt: u64,
    /// True if the application was the limit.
    pub paused: bool,
    /// The round-trip times so far: the smallest in microseconds.
    pub min_rtt: u64,
}

struct Sent {
    number: u64,
    at: u64,
    back: u64,
}

/// A number from 0 to `most`, always the same for an index.
fn scattered(index: u64, most: u64) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 33) * (most + 1)) >> 31
}

impl Path {
    /// The acknowledgements up to the end, or up to that of the last packet in flight when the first loss is found.
    pub fn script(&self) -> Vec<Heard> {
        let mut script: Vec<Heard> = Vec::new();
        let mut flying: VecDeque<Sent> = VecDeque::new();
        let (mut window, mut now, mut free, mut back, mut number) = (10, 0, 0, 0, 0);
        let mut dropped: VecDeque<u64> = VecDeque::new();
        let (mut min_rtt, mut stopped, mut out) = (u64::MAX, false, 0);
        loop {
            let (from, to) = self.pause;
            if now >= from && now < to && flying.is_empty() {
                now = to;
            }
            while !stopped && out < window && !(from..to).contains(&now) {
                let start = now.max(free);
                let service = 1_000_000 / (self.rate)(start);
                out += 1;
                number += 1;
                if (start - now) / service >= self.buffer {
                    dropped.push_back(number);
                    continue;
                }
                free = start + service;
                let jitter = scattered(number, self.jitter);
                let arrival = free + (self.base)(start) + jitter;
                back = back.max(match self.bunch {
                    0 => arrival,
                    bunch => arrival.div_ceil(bunch) * bunch,
                });
                flying.push_back(Sent { number, at: now, back });
            }
            let Some(at) = flying.front().map(|first| first.back) else {
                return script;
            };
            if at >= self.end {
                return script;
            }
            now = at;
            let mut heard = Heard { at, min_rtt, ..Heard::default() };
            while let Some(first) = flying.front().filter(|first| first.back == at) {
                heard.packets += 1;
                heard.rtt = at - first.at;
                min_rtt = min_rtt.min(heard.rtt);
                heard.paused = at >= from && first.at < to && to > 0;
                let number = first.number;
                flying.pop_front();
                while dropped.front().is_some_and(|lost| lost + 3 <= number) {
                    dropped.pop_front();
                    heard.lost += 1;
                }
            }
            heard.min_rtt = min_rtt;
            out -= heard.packets + heard.lost;
            if !heard.paused {
                let queues = heard.rtt > min_rtt + min_rtt / 11;
                window += heard.packets * if queues { 1 } else { self.growth };
            }
            stopped |= heard.lost > 0;
            script.push(heard);
        }
    }

    /// The script as lines for another program: time, packets, lost packets, round-trip time, the smallest one and 1
    /// for a pause.
    pub fn lines(&self) -> String {
        let mut lines = String::new();
        for h in self.script() {
            let Heard { at, packets, lost, rtt, min_rtt, paused } = h;
            writeln!(lines, "{at} {packets} {lost} {rtt} {min_rtt} {}", u8::from(paused))
                .expect("text");
        }
        lines
    }
}

/// Returns the rows of a record: the name of a path, and its numbers.
pub fn record(text: &str) -> Vec<(String, Vec<f64>)> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    rows.map(|row| {
        let mut cells = row.split(',');
        let name = cells.next().expect("a name").to_string();
        (name, cells.map(|cell| cell.parse().expect("a number")).collect())
    })
    .collect()
}

/// Writes the scripts into the folder `SCRIPTS` of the environment, if there is one, for the programs that make the
/// records.
pub fn export(paths: &[Path]) {
    if let Some(folder) = std::env::var_os("SCRIPTS") {
        for path in paths {
            let file = std::path::Path::new(&folder).join(path.name);
            std::fs::write(file, path.lines()).expect("written");
        }
    }
}
