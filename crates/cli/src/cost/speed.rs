//! The measured speed of this machine and build in moving packets.

use accord::form::Errors;
use accord::record::Quiet;
use accord::{Catalogue, Engine, File, Options};

/// A small run: some 10 milliseconds of work for an optimised build.
const WORK: &str = include_str!("../../benches/newreno-10.toml");
/// Packet-hops per second if it cannot be measured.
pub const USUAL: f64 = 20e6;

/// Returns packet-hops per second of one core: the best of four short runs, since the first has
/// cold caches and others may be disturbed.
pub fn hops_per_second(catalogue: &Catalogue) -> f64 {
    let points = || -> Result<_, Errors> {
        let mut file = File::parse("newreno-10", WORK)?;
        file.set("duration", "4 s")?;
        file.points(catalogue, None)
    };
    let Ok(points) = points() else {
        return USUAL;
    };
    let once = || {
        let before = cpu_seconds();
        let run = accord::run(&points[0], Engine::Packet, &Options::default(), &mut Quiet);
        let hops = run.map_or(0, |run| run.statistics.packet_hops);
        hops as f64 / (cpu_seconds() - before)
    };
    let best = (0..4).map(|_| once()).fold(0.0, f64::max);
    if best.is_finite() && best > 0.0 { best } else { USUAL }
}

/// Returns the CPU time of this thread so far, from the kernel's files.
pub fn cpu_seconds() -> f64 {
    // The kernel updates the file when the thread yields, or else once per tick.
    std::thread::yield_now();
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = schedstat.split(' ').next().and_then(|ns| ns.parse().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
