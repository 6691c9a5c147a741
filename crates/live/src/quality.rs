//! The quality of a live run, which decides if the run may be judged.

use crate::achieved::Achieved;
use crate::driver::Counters;
use crate::lateness::Lateness;
use accord_scenario::Scenario;
use accord_units::Duration;

/// The delay of a packet's hand-over to the kernel above which it counts as late.
const LATE: Duration = Duration::from_ms(1);
/// The maximum share of late packets in a judged run.
const MOST_LATE: f64 = 0.01;
/// The maximum share of packets lost by the kernel in a judged run.
const MOST_LOST: f64 = 0.001;

/// The notes on a run, in addition to its series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// The configured and the measured rates and delays.
    pub notes: Vec<String>,
    /// The reason why the run may not be judged, if there is one.
    pub unfit: Option<String>,
    /// True if lateness is the only reason.
    pub only_late: bool,
    /// The share of late packets, and the 99 % quantile of the lateness.
    pub late: (f64, Duration),
}

/// Returns the quality of a run from the counters of all stations.
pub fn quality(scenario: &Scenario, stations: &[Counters]) -> Quality {
    let mut all = Lateness::default();
    let mut notes = Vec::new();
    let mut links: Vec<_> = stations.iter().flat_map(|b| &b.links).collect();
    links.sort_by_key(|(id, _)| *id);
    for (id, achieved) in links {
        all.merge(&achieved.lateness);
        if !scenario.links[*id].attachment {
            notes.extend(link_note(scenario, *id, achieved));
        }
    }
    let late = all.share_above(LATE);
    let handed: u64 = stations.iter().map(|b| b.handed + b.refused).sum();
    let taken: u64 = stations.iter().map(|b| b.taken).sum();
    let missing = handed.saturating_sub(taken);
    let lost = missing as f64 / handed.max(1) as f64;
    notes.insert(
        0,
        format!(
            "{handed} packets handed to the kernel, late by {} (median), {} (99 %), {} (latest)",
            short(all.quantile(0.5)),
            short(all.quantile(0.99)),
            short(all.max()),
        ),
    );
    if missing > 0 {
        notes.push(format!("{missing} packets were lost by the kernel"));
    }
    let foreign: u64 = stations.iter().map(|b| b.foreign).sum();
    if foreign > 0 {
        notes.push(format!(
            "{foreign} packets of other senders arrived at our sockets and were ignored"
        ));
    }
    let broken = stations.iter().flat_map(|b| &b.broken).map(|(flow, why)| {
        format!("the kernel closed the connection of flow {}: {why}", scenario.flows[*flow].name)
    });
    let broken: Vec<String> = broken.collect();
    notes.extend(broken.iter().cloned());
    notes.extend(stations.iter().flat_map(|b| &b.broken_off).map(|b| b.text(scenario)));
    notes.extend(work(scenario, stations));
    let unfit = if lost > MOST_LOST {
        Some(format!("this machine was too busy: its kernel lost {:.1} % of packets", lost * 100.0))
    } else if let Some(why) = broken.first() {
        // The flow sent nothing from then on, which its figures do not say.
        Some(why.clone())
    } else if late > MOST_LATE {
        Some(format!(
            "this machine was too busy: {:.1} % of packets late by more than {LATE}",
            late * 100.0
        ))
    } else {
        None
    };
    Quality {
        notes,
        only_late: unfit.is_some() && lost <= MOST_LOST && broken.is_empty(),
        unfit,
        late: (late, all.quantile(0.99)),
    }
}

/// Returns a note on the CPU time of the run.
fn work(scenario: &Scenario, stations: &[Counters]) -> Option<String> {
    let cpu = stations.iter().fold(Duration::ZERO, |sum, b| sum + b.cpu);
    let hops: u64 = stations.iter().map(|b| b.hops).sum();
    let busiest = stations.iter().map(|b| b.cpu).max()?;
    (hops > 0).then(|| {
        format!(
            "{:.1} us of CPU for each packet on each link; the busiest thread used {:.1} % of a core",
            cpu.as_secs_f64() / hops as f64 * 1e6,
            busiest.as_secs_f64() / scenario.duration.as_secs_f64() * 100.0,
        )
    })
}

/// Returns a note on the configured and the measured rate and delay of a link.
fn link_note(scenario: &Scenario, id: usize, achieved: &Achieved) -> Option<String> {
    let link = &scenario.links[id];
    let late = achieved.late()?;
    // If only a few packets leave back to back, only their lateness can be measured.
    let rate = achieved.rate(scenario.duration.mul_f64(0.5));
    // A varying rate or delay has no single value for comparison.
    let changes = link.parts.is_some()
        || scenario.events.iter().any(|e| {
            use accord_scenario::Change;
            matches!(e.change, Change::Delay(l, _) | Change::Rate(l, _) if l == id)
        });
    if changes {
        return Some(format!("{}: packets {} late on average", link.name, short(late)));
    }
    let rate = match rate {
        Some(rate) => format!("{:.4} Mbps while busy and ", rate.as_bps_f64() / 1e6),
        None => "too few packets back to back to measure the rate, ".into(),
    };
    let delay = (link.delay + late).as_ms_f64();
    Some(format!(
        "{}: {} and {} configured, {rate}{delay:.3} ms achieved",
        link.name, link.rate, link.delay,
    ))
}

/// Returns a duration with three digits.
fn short(d: Duration) -> String {
    match d.as_secs_f64() {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_units::{Bytes, Rate, Time};

    fn counters(late: &[u64], handed: u64, taken: u64) -> Counters {
        let mut achieved = Achieved::default();
        for (i, us) in late.iter().enumerate() {
            let nominal = Time::ZERO + Duration::from_ms(8 * (i as u64 + 1));
            let real = nominal + Duration::from_us(*us);
            achieved.released(nominal, real, Bytes::new(1000), Rate::from_bps(1_000_000));
        }
        Counters { links: vec![(0, achieved)], handed, taken, ..Counters::default() }
    }

    #[test]
    fn a_busy_machine_is_found_out() {
        let s = crate::tests::dumbbell();
        let quiet: Vec<u64> = vec![50; 1000];
        let mut busy = quiet.clone();
        busy[..20].fill(2_000);
        assert_eq!(quality(&s, &[counters(&quiet, 1000, 1000)]).unfit, None);
        let unfit = quality(&s, &[counters(&busy, 1000, 1000)]).unfit.unwrap();
        assert_eq!(unfit, "this machine was too busy: 2.0 % of packets late by more than 1 ms");
        let lossy = quality(&s, &[counters(&quiet, 1000, 900)]).unfit.unwrap();
        assert_eq!(lossy, "this machine was too busy: its kernel lost 10.0 % of packets");
    }

    #[test]
    fn a_connection_that_the_kernel_closed_allows_no_verdict() {
        let s = crate::tests::dumbbell();
        let name = &s.flows[0].name;
        let why =
            format!("the kernel closed the connection of flow {name}: Connection reset by peer");
        for late in [50, 2_000] {
            let broken = vec![(0, "Connection reset by peer".to_string())];
            let closed = Counters { broken, ..counters(&[late; 1000], 1000, 1000) };
            let found = quality(&s, &[closed]);
            assert_eq!(found.unfit.as_ref(), Some(&why), "{late} us late");
            assert!(found.notes.contains(&why) && !found.only_late);
        }
    }

    #[test]
    fn the_notes_hold_what_was_achieved_against_what_was_asked_for() {
        let s = crate::tests::dumbbell();
        let notes = quality(&s, &[counters(&[100; 100], 100, 100)]).notes;
        assert_eq!(
            notes,
            [
                "100 packets handed to the kernel, late by 100 us (median), 100 us (99 %), 100 us (latest)",
                "bottleneck: 1 Mbps and 20 ms configured, 1.0000 Mbps while busy and 20.100 ms achieved",
            ]
        );
    }
}
