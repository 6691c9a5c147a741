//! The collector, which merges the parts of all stations at each sample.

use crate::quic::Logs;
use accord_family::InnerState;
use accord_record::{Interrupted, LinkReading, Observer, Recorder, Series};
use accord_scenario::{LinkId, Scenario};
use accord_sim::{Part, merge};
use accord_transport::pcapng::Capture;
use accord_units::Time;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

/// The part of a sample from one station, and the packets that came out of its links since the
/// previous sample, in the form of a capture.
pub type Sample = (Part, Vec<u8>);

/// The recorder, and the incomplete samples.
pub struct Collector<'a> {
    scenario: &'a Scenario,
    recorder: Recorder,
    stations: usize,
    waiting: BTreeMap<u64, Vec<Part>>,
    /// The maximum queue lengths in samples that the recorder has skipped since its last one.
    longest: BTreeMap<LinkId, (u64, u64)>,
}

/// The longest silence of the stations before the observer is called again.
const SILENCE: std::time::Duration = std::time::Duration::from_millis(100);

impl<'a> Collector<'a> {
    /// Creates a collector of samples with a part from each of `stations` stations.
    pub fn new(scenario: &'a Scenario, stations: usize) -> Collector<'a> {
        Collector {
            scenario,
            recorder: Recorder::new(scenario),
            stations,
            waiting: BTreeMap::new(),
            longest: BTreeMap::new(),
        }
    }

    /// Collects until all stations are done, and passes the logs of stacks on.
    ///
    /// # Errors
    /// Fails if the observer stops the run.
    pub fn listen(
        &mut self,
        parts: &Receiver<Sample>,
        logs: &Logs,
        observer: &mut dyn Observer,
    ) -> Result<(), Interrupted> {
        let mut reached = Time::ZERO;
        let names = self.scenario.links.iter().map(|l| l.name.as_str());
        observer.packets(&Capture::new(names).take());
        loop {
            match parts.recv_timeout(SILENCE) {
                Ok((part, packets)) => {
                    observer.packets(&packets);
                    for (flow, records) in &part.logs {
                        observer.log(*flow, records);
                    }
                    reached = self.add(part).unwrap_or(reached);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            logs.show(observer);
            observer.progress(reached)?;
            if observer.wants_record() {
                let (time, series) = self.recorder.clone().finish(self.scenario);
                observer.recorded(time, series);
            }
        }
    }

    /// Adds a part. Returns the time of the sample that it completes.
    fn add(&mut self, part: Part) -> Option<Time> {
        let number = part.number;
        let parts = self.waiting.entry(number).or_default();
        parts.push(part);
        if parts.len() < self.stations {
            return None;
        }
        let parts = self.waiting.remove(&number)?;
        let now = Time::ZERO + self.scenario.sample * number;
        for (id, reading) in parts.iter().flat_map(|p| &p.links) {
            let (packets, bytes) = self.longest.entry(*id).or_default();
            *packets = reading.longest.0.max(*packets);
            *bytes = reading.longest.1.max(*bytes);
        }
        // The recorder's period may have become longer than the stations'.
        let coarser = self.recorder.period().as_ps() / self.scenario.sample.as_ps().max(1);
        if number.is_multiple_of(coarser) {
            let flows = merge(self.scenario, &parts);
            let links: BTreeMap<LinkId, LinkReading> =
                parts.iter().flat_map(|p| p.links.iter().cloned()).collect();
            let longest = std::mem::take(&mut self.longest);
            let link = |id: LinkId| LinkReading {
                longest: longest.get(&id).copied().unwrap_or_default(),
                ..links.get(&id).cloned().unwrap_or_default()
            };
            let mut inner: BTreeMap<usize, InnerState> =
                parts.iter().flat_map(|p| p.inner.iter().cloned()).collect();
            let inner = |flow: usize| inner.remove(&flow).unwrap_or_default();
            (self.recorder).sample(now, flows.into_iter().enumerate(), inner, link);
        }
        Some(now)
    }

    /// Returns the times of the samples and the series.
    pub fn finish(self) -> (Vec<f64>, Vec<Series>) {
        self.recorder.finish(self.scenario)
    }
}

/// Returns a digest of the record. Equal digests mean equal records.
pub fn digest(seed: u64, time: &[f64], series: &[Series]) -> String {
    let all = series.iter().flat_map(|s| &s.values).chain(time);
    // The sum is FNV-1a, a value at a time.
    let hash = all.fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, value| {
        (hash ^ value.to_bits()).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}
