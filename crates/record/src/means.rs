//! Runs reduced to their values over one window, for sweeps of many runs.

use crate::run::{Run, Series};
use accord_scenario::Window;

impl Run {
    /// Returns the run with one value per series: the mean, the sum or the greatest value over `window`,
    /// depending on the metric. [`Run::mean`] of the result returns the same values for this window, and none
    /// for any other. The only time is the window's end.
    pub fn means_over(&self, window: Window) -> Run {
        let of = |s: &Series| {
            let value = self.mean(s.metric, s.entity, window).unwrap_or(f64::NAN);
            Series { metric: s.metric, entity: s.entity, values: vec![value] }
        };
        Run {
            manifest: self.manifest.clone(),
            time: vec![window.end.as_secs_f64()],
            series: self.series.iter().map(of).collect(),
            transfers: self.transfers.clone(),
            statistics: self.statistics,
            certificates: self.certificates.clone(),
            notes: self.notes.clone(),
            unfit: self.unfit.clone(),
            broken: self.broken.clone(),
            skipped: self.skipped.clone(),
            only_over: Some(window),
            stalls: self.stalls.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Manifest;
    use accord_scenario::{Engine, Entity, Metric};
    use accord_units::Time;

    fn window(start: f64, end: f64) -> Window {
        Window { start: Time::from_secs_f64(start), end: Time::from_secs_f64(end) }
    }

    fn series(metric: Metric, values: [f64; 4]) -> Series {
        Series { metric, entity: Entity::Link(0), values: values.into() }
    }

    #[test]
    fn values_over_the_window_are_those_of_all_samples() {
        let manifest = Manifest {
            engine: Engine::Packet,
            version: String::new(),
            scenario_hash: String::new(),
            seed: 1,
            digest: String::new(),
            plan: None,
        };
        let mut all = vec![
            series(Metric::Backlog, [9.0, 1.0, f64::NAN, 2.0]),
            series(Metric::Drops, [5.0, 1.0, 0.0, 3.0]),
            series(Metric::Arrivals, [9.0, 10.0, 20.0, 10.0]),
            series(Metric::BacklogMax, [9.0, 1.0, 4.0, 3.0]),
            series(Metric::LossRatio, [f64::NAN; 4]),
        ];
        all.sort_by_key(|s| (s.entity, s.metric));
        let run = Run::new(manifest, vec![1.0, 2.0, 3.0, 4.0], all);
        let (steady, entity) = (window(1.0, 4.0), Entity::Link(0));
        let means = |run: &Run, window| {
            [Metric::Backlog, Metric::Drops, Metric::BacklogMax, Metric::LossRatio]
                .map(|metric| run.mean(metric, entity, window))
        };
        let before = means(&run, steady);
        assert_eq!(before, [Some(1.5), Some(4.0), Some(4.0), Some(0.1)]);
        let run = run.means_over(steady);
        assert_eq!(means(&run, steady), before);
        assert_eq!(means(&run, window(0.0, 4.0)), [None; 4]);
        assert_eq!((&run.time[..], run.series[0].values.len()), (&[4.0][..], 1));
    }

    /// A long window in seconds is off by some picoseconds, and is found nevertheless.
    #[test]
    fn a_long_window_is_found_by_its_seconds() {
        let manifest = Manifest {
            engine: Engine::Theory,
            version: String::new(),
            scenario_hash: String::new(),
            seed: 1,
            digest: String::new(),
            plan: None,
        };
        let exact = |tenths: u64| Time::from_ps(tenths * 100_000_000_000);
        let only = Window { start: exact(40_966), end: exact(81_932) };
        let mut run = Run::new(manifest, Vec::new(), Vec::new());
        run.only_over = Some(only);
        let asked = window(4096.6, 8193.2);
        assert_ne!(asked.start, only.start);
        assert!(run.is_only_over(asked) && !run.is_only_over(window(4096.7, 8193.2)));
        assert_eq!(run.within(asked), 0..1);
    }
}
