//! Repeated outputs of `ss -tin`: connections of the kernel's TCP.
//!
//! `ss` prints no times, so each output follows a line with the time: seconds since 1970, or
//! thousandths, millionths or billionths of them, or a date as `date --iso-8601=ns` prints it.
//!
//! ```sh
//! while sleep 0.1; do date +%s.%N; ss -tinH state established; done
//! ```
//!
//! The time may also be in front of each line, as with `ts` of moreutils.
//!
//! A connection is a line with its two addresses, followed by its values on indented lines, or on
//! the same line with `-O`.

use super::draft::Draft;
use super::{Flow, Quantity, Sample};
use crate::error::{ImportError, quote};
use chrono::DateTime;
use std::collections::BTreeMap;

pub fn read(text: &str, draft: &mut Draft) {
    let mut now: Option<f64> = None;
    // The name of the connection to which the next lines belong.
    let mut connected: Option<String> = None;
    // True if they belong to a listening socket, which has no peer.
    let mut listens = false;
    let mut last_time = f64::NEG_INFINITY;
    // The latest values of each connection.
    let mut last: BTreeMap<String, Vec<(Quantity, f64)>> = BTreeMap::new();
    let (lines, whole) = (text.lines().count(), text.ends_with('\n'));
    for (i, line) in text.lines().enumerate() {
        let at = |message: String| move || ImportError::at(i + 1, message).hint(HINT);
        if line.trim().is_empty() || line.contains("Recv-Q") {
            continue;
        }
        if let Some(time) = time(line.trim()) {
            (connected, listens) = (None, false);
            now = (time >= last_time).then_some(time);
            match now {
                Some(time) => last_time = time,
                // The lines below it have no time.
                None => draft.damage(at("the time is earlier than the previous one".into())),
            }
            continue;
        }
        let line = match stamped(line) {
            Some((time, rest)) => {
                now = (time >= last_time).then_some(time);
                if now.is_none() {
                    draft.damage(at("the time is earlier than the previous one".into()));
                    continue;
                }
                last_time = time;
                rest
            }
            None => line,
        };
        let info = if line.starts_with([' ', '\t']) {
            line
        } else {
            let Some((name, info)) = connection(line) else {
                (connected, listens) = (None, false);
                let what = format!("{} is neither a time nor a connection", quote(line));
                draft.damage(at(what));
                continue;
            };
            listens = name.ends_with(":*");
            connected = (!listens).then_some(name);
            info
        };
        if listens {
            continue;
        }
        let Some(now) = now else {
            if last_time == f64::NEG_INFINITY {
                let message = "there is no time before the first connection";
                draft.damage(at(message.into()));
            }
            continue;
        };
        let Some(name) = &connected else {
            let message = "there is no connection before these values";
            draft.damage(at(message.into()));
            continue;
        };
        // The last word of a truncated file may be incomplete.
        let info = if whole || i + 1 < lines {
            info
        } else {
            info.trim_end_matches(|c: char| !c.is_whitespace())
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
        // Totals that decreased belong to a new connection with the same addresses.
        let flow = if last.get(name).is_some_and(|old| old.iter().any(less)) {
            draft.new_flow(name)
        } else {
            draft.flow(name)
        };
        draft.payload(flow, mss(info));
        for (quantity, value) in &figures {
            draft.add(flow, now, *quantity, *value);
        }
        last.insert(name.clone(), figures);
    }
    draft.measured.flows.iter_mut().for_each(begin_totals);
}

/// Starts totals that appear late at zero at the first sample: `ss` omits totals of zero.
fn begin_totals(flow: &mut Flow) {
    let Some(time) = flow.samples.first().map(|s| s.time) else {
        return;
    };
    let first = |quantity| flow.samples.iter().find(|s: &&Sample| s.quantity == quantity);
    let late = |quantity: &Quantity| first(*quantity).is_some_and(|s| s.time > time);
    let zeros: Vec<Sample> = (Quantity::TOTALS.into_iter().filter(late))
        .map(|quantity| Sample { time, quantity, value: 0.0 })
        .collect();
    flow.samples.splice(0..0, zeros);
}

const HINT: &str =
    "create the file with: while sleep 0.1; do date +%s.%N; ss -tinH state established; done";

/// Returns the time of a line that has only a time, in seconds.
pub fn time(line: &str) -> Option<f64> {
    if let Ok(date) = DateTime::parse_from_rfc3339(&line.replace(',', ".")) {
        return Some(date.timestamp() as f64 + f64::from(date.timestamp_subsec_nanos()) * 1e-9);
    }
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let number = line.chars().all(digits).then(|| line.replace(',', "."))?;
    let mut seconds: f64 = number.parse().ok().filter(|s: &f64| *s < 1e20)?;
    // Seconds since 1970 have ten digits.
    while seconds >= 1e11 {
        seconds *= 1e-3;
    }
    Some(seconds)
}

/// Returns the time at the start of a line, and the rest of the line after one space. A queue length, which
/// may also be there, is shorter than the seconds since 1970.
pub fn stamped(line: &str) -> Option<(f64, &str)> {
    let (word, rest) = line.split_once([' ', '\t'])?;
    let whole = word.split(['.', ',']).next().unwrap_or(word);
    let date = whole.len() >= 10 && !rest.trim().is_empty();
    Some((time(word).filter(|_| date)?, rest))
}

/// Returns the two addresses of a connection, and the rest of the line. Ports may be names.
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
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.' | '*');
        let is_end = |(host, port): (&str, &str)| {
            !host.is_empty() && !port.is_empty() && port.chars().all(named)
        };
        match word.rsplit_once(':').is_some_and(is_end) {
            true => ends.push(word),
            // The second address follows the first.
            false if !ends.is_empty() => return None,
            false => {}
        }
        rest = behind;
    }
    Some((format!("{} > {}", ends[0], ends[1]), rest))
}

/// Returns the maximum segment size of a line, in bytes.
fn mss(line: &str) -> Option<f64> {
    let value = line.split_whitespace().find_map(|word| word.strip_prefix("mss:"))?;
    value.parse().ok().filter(|v: &f64| (1.0..=65_535.0).contains(v))
}

/// Returns the quantities of a line.
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
            value.filter(sound).ok_or_else(|| {
                format!("{} of {} is not a number", quote(value_of(word)), quote(name))
            })
        };
        match name {
            "mss" => mss = Some(number(value)?),
            "cwnd" => cwnd = Some(number(value)?),
            "ssthresh" => ssthresh = Some(number(value)?),
            // The smoothed value, and its variation.
            "rtt" => {
                let smoothed = value.split('/').next().unwrap_or(value);
                found.push((Quantity::Rtt, number(smoothed)? * 1e-3));
            }
            "minrtt" => found.push((Quantity::MinRtt, number(value)? * 1e-3)),
            "bytes_sent" => found.push((Quantity::Sent, number(value)?)),
            "bytes_acked" => found.push((Quantity::Arrived, number(value)?)),
            // The current number, and the total.
            "retrans" => {
                let total = value.split('/').next_back().unwrap_or(value);
                retrans = Some(number(total)?);
            }
            _ => {}
        }
    }
    // `ss` omits totals of zero.
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
