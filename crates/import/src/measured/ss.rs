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

use super::{Measured, Quantity, Sample};
use crate::error::{ImportError, quote};

pub fn read(text: &str) -> Result<Measured, ImportError> {
    let mut measured = Measured::default();
    let mut now = None;
    let mut flow = None;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        if line.trim().is_empty() || line.contains("Recv-Q") {
            continue;
        }
        if let Some(time) = time(line.trim()) {
            if now.is_some_and(|now| time < now) {
                return Err(ImportError::at(number, "the time is before the one above"));
            }
            (now, flow) = (Some(time), None);
            continue;
        }
        let info = match line.starts_with([' ', '\t']) {
            true => line,
            false => {
                let (name, info) = connection(line).ok_or_else(|| {
                    let what = format!("{} is no time and no connection", quote(line));
                    ImportError::at(number, what).hint(HINT)
                })?;
                flow = Some(measured.flow(&name)?);
                info
            }
        };
        let (Some(now), Some(flow)) = (now, flow) else {
            let message = match now {
                None => "there is no time before the first connection",
                Some(_) => "there is no connection that these figures are of",
            };
            return Err(ImportError::at(number, message).hint(HINT));
        };
        let samples = figures(info).map_err(|message| ImportError::at(number, message))?;
        let samples = samples.into_iter().map(|(quantity, value)| Sample {
            time: now,
            quantity,
            value,
        });
        measured.flows[flow].samples.extend(samples);
    }
    measured.finish()
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
    let (mut mss, mut cwnd, mut ssthresh) = (None, None, None);
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
                found.push((Quantity::Retransmitted, number(total)?));
            }
            _ => {}
        }
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
