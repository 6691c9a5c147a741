//! `ss -tin`, again and again: of the kernel's TCP connections.
//!
//! `ss` prints no times. So each output has a line with the time in seconds before it:
//!
//! ```sh
//! while sleep 0.1; do date +%s.%N; ss -tinH state established; done
//! ```
//!
//! A connection is a line with its two addresses, and what is known of it: on the next lines, which
//! are indented, or behind the addresses with `-O`.

use super::draft::Draft;
use super::{Flow, Quantity, Sample};
use crate::error::{ImportError, quote};
use std::collections::BTreeMap;

pub fn read(text: &str, draft: &mut Draft) {
    let mut now: Option<f64> = None;
    // The connection whose figures the next lines have, by its name.
    let mut connected: Option<String> = None;
    let mut last_time = f64::NEG_INFINITY;
    // The figures of each connection when it was last seen.
    let mut last: BTreeMap<String, Vec<(Quantity, f64)>> = BTreeMap::new();
    let (lines, whole) = (text.lines().count(), text.ends_with('\n'));
    for (i, line) in text.lines().enumerate() {
        let at = |message: String| move || ImportError::at(i + 1, message).hint(HINT);
        if line.trim().is_empty() || line.contains("Recv-Q") {
            continue;
        }
        if let Some(time) = time(line.trim()) {
            connected = None;
            now = (time >= last_time).then_some(time);
            match now {
                Some(time) => last_time = time,
                // What is below it has no time.
                None => draft.damage(at("the time is before the one above".into())),
            }
            continue;
        }
        let info = match line.starts_with([' ', '\t']) {
            true => line,
            false => {
                let Some((name, info)) = connection(line) else {
                    connected = None;
                    let what = format!("{} is no time and no connection", quote(line));
                    draft.damage(at(what));
                    continue;
                };
                connected = Some(name);
                info
            }
        };
        let Some(now) = now else {
            if last_time == f64::NEG_INFINITY {
                let message = "there is no time before the first connection";
                draft.damage(at(message.into()));
            }
            continue;
        };
        let Some(name) = &connected else {
            let message = "there is no connection that these figures are of";
            draft.damage(at(message.into()));
            continue;
        };
        // The last word of a file that is cut off may be a part of one.
        let info = match whole || i + 1 < lines {
            true => info,
            false => info.trim_end_matches(|c: char| !c.is_whitespace()),
        };
        let figures = match figures(info) {
            Ok(figures) if figures.is_empty() => continue,
            Ok(figures) => figures,
            Err(message) => {
                draft.damage(at(message));
                continue;
            }
        };
        let less = |&(quantity, value): &(Quantity, f64)| {
            quantity.is_total() && figures.iter().any(|f| f.0 == quantity && f.1 < value)
        };
        // Totals that fell are of another connection with the addresses of one that is over.
        let flow = match last.get(name).is_some_and(|old| old.iter().any(less)) {
            true => draft.new_flow(name),
            false => draft.flow(name),
        };
        for (quantity, value) in &figures {
            draft.add(flow, now, *quantity, *value);
        }
        last.insert(name.clone(), figures);
    }
    draft.measured.flows.iter_mut().for_each(begin_totals);
}

/// Lets totals that a connection has later begin with zero at its first sample: `ss` leaves out what is
/// zero.
fn begin_totals(flow: &mut Flow) {
    let Some(time) = flow.samples.first().map(|s| s.time) else {
        return;
    };
    let first = |quantity| {
        flow.samples
            .iter()
            .find(|s: &&Sample| s.quantity == quantity)
    };
    let late = |quantity: &Quantity| first(*quantity).is_some_and(|s| s.time > time);
    let zeros: Vec<Sample> = (Quantity::TOTALS.into_iter().filter(late))
        .map(|quantity| Sample {
            time,
            quantity,
            value: 0.0,
        })
        .collect();
    flow.samples.splice(0..0, zeros);
}

const HINT: &str =
    "the file is made by: while sleep 0.1; do date +%s.%N; ss -tinH state established; done";

/// The time of a line that is nothing else.
pub fn time(line: &str) -> Option<f64> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let seconds: f64 = line.chars().all(digits).then(|| line.parse().ok())??;
    (seconds.is_finite() && seconds < 1e12).then_some(seconds)
}

/// The two addresses of a connection, and what is behind them.
fn connection(line: &str) -> Option<(String, &str)> {
    let mut ends = Vec::new();
    let mut rest = line;
    while ends.len() < 2 {
        rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if word.is_empty() {
            return None;
        }
        let port = word.rsplit_once(':').map(|(_, port)| port);
        if port.is_some_and(|port| port.parse::<u16>().is_ok()) {
            ends.push(word);
        }
        rest = behind;
    }
    Some((format!("{} > {}", ends[0], ends[1]), rest))
}

/// The quantities that a line tells of.
fn figures(line: &str) -> Result<Vec<(Quantity, f64)>, String> {
    let mut found = Vec::new();
    let (mut mss, mut cwnd, mut ssthresh, mut retrans) = (None, None, None, None);
    for word in line.split_whitespace() {
        let Some((name, value)) = word.split_once(':') else {
            continue;
        };
        let number = |text: &str| {
            let value: Option<f64> = text.parse().ok();
            let sound = |v: &f64| v.is_finite() && *v >= 0.0 && *v < 1e18;
            value
                .filter(sound)
                .ok_or_else(|| format!("{} of {} is no number", quote(value_of(word)), quote(name)))
        };
        match name {
            "mss" => mss = Some(number(value)?),
            "cwnd" => cwnd = Some(number(value)?),
            "ssthresh" => ssthresh = Some(number(value)?),
            // The smoothed one, and its variation.
            "rtt" => {
                let smoothed = value.split('/').next().unwrap_or(value);
                found.push((Quantity::Rtt, number(smoothed)? * 1e-3));
            }
            "minrtt" => found.push((Quantity::MinRtt, number(value)? * 1e-3)),
            "bytes_sent" => found.push((Quantity::Sent, number(value)?)),
            "bytes_acked" => found.push((Quantity::Arrived, number(value)?)),
            // Those in flight now, and those since the beginning.
            "retrans" => {
                let total = value.split('/').next_back().unwrap_or(value);
                retrans = Some(number(total)?);
            }
            _ => {}
        }
    }
    // `ss` leaves out what is zero.
    if let Some(total) = retrans.or(cwnd.map(|_| 0.0)) {
        found.push((Quantity::Retransmitted, total));
    }
    // Windows are in packets.
    let mut in_bytes = |quantity, packets: Option<f64>| {
        if let (Some(mss), Some(packets)) = (mss, packets) {
            found.push((quantity, packets * mss));
        }
    };
    in_bytes(Quantity::Cwnd, cwnd);
    in_bytes(Quantity::Ssthresh, ssthresh);
    Ok(found)
}

fn value_of(word: &str) -> &str {
    word.split_once(':').map_or(word, |(_, value)| value)
}
