//! Measures the cost of a cache line that is in no near cache.
//!
//!     rustc -O -o target/lines tools/cost/lines.rs && target/lines
//!
//! Prints nanoseconds per random line of a memory of 1 to 512 MB: if the addresses are known ahead, so
//! a core can fetch several lines at the same time, and if each address depends on the line before.

use std::time::Instant;

const READS: usize = 4_000_000;
/// The `u64`s of a line.
const LINE: usize = 8;

fn main() {
    println!("| MB | addresses known | each depends on the last |\n|---|---|---|");
    for megabytes in [1, 8, 64, 512] {
        let lines = (megabytes << 20) / 64;
        let mut random = 88_172_645_463_325_252_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random as usize % lines
        };
        // One cycle through all lines [Sattolo 1986].
        let mut order: Vec<usize> = (0..lines).collect();
        for i in (1..lines).rev() {
            order.swap(i, next() % i);
        }
        let mut memory = vec![0; lines * LINE];
        for (i, &line) in order.iter().enumerate() {
            memory[line * LINE] = order[(i + 1) % lines];
        }
        let known: Vec<usize> = (0..READS).map(|_| next()).collect();
        let timed = |work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e9 / READS as f64
        };
        let mut sum = 0;
        let independent = timed(&mut || sum = known.iter().map(|&line| memory[line * LINE]).sum());
        let mut at = 0;
        let dependent = timed(&mut || (0..READS).for_each(|_| at = memory[at * LINE]));
        std::hint::black_box((sum, at));
        println!("| {megabytes} | {independent:.1} | {dependent:.1} |");
    }
}
