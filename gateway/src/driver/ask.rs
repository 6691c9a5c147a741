//! Requests of clients to a gateway.

use crate::config::Mode;
use crate::trial::LONGEST;
use accord_units::{Duration as Length, Rate, Time};

/// The longest trace, in milliseconds.
const LONGEST_TRACE: u64 = 3_600_000;

/// The time for which metrics are shown. Any user of the host may ask for them, as often as they like.
const SHOWN: Length = Length::from_ms(500);

/// The metrics as of a time.
#[derive(Debug, Default)]
pub struct Shown(Option<(Time, String)>);

impl Shown {
    /// Returns the metrics, which `render` makes if the latest are too old.
    pub fn text(&mut self, now: Time, render: impl FnOnce() -> String) -> String {
        let latest = self.0.take().filter(|(at, _)| now.since(*at) < SHOWN);
        let (at, text) = latest.unwrap_or_else(|| (now, render()));
        self.0.insert((at, text)).1.clone()
    }
}

/// A request of a client.
pub type Ask = accord_door::Ask<Order>;

/// A request that only gateways have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// A new mode for a peer.
    Mode(String, Mode),
    /// A trial of a peer: the place of the class, the rate on the wire and the length.
    Try(String, usize, Rate, Length),
    /// The latest trial of a peer.
    Tried(String),
    /// A trace of a peer for a time.
    Trace(String, Length),
    /// The lines of the trace since the latest request.
    Traced,
}

/// Reads a request, or returns the HTTP status of its error.
pub fn parse(head: &[u8]) -> Result<Ask, u16> {
    Ask::read(head, |method, parts| match (method, parts) {
        ("POST", ["mode", peer, mode]) => {
            let mode = mode.parse().map_err(|_| 400);
            Some(mode.map(|mode| Order::Mode((*peer).to_string(), mode)))
        }
        ("POST", ["trace", peer, ms]) => Some(match ms.parse() {
            Ok(ms @ 1..=LONGEST_TRACE) => {
                Ok(Order::Trace((*peer).to_string(), Length::from_ms(ms)))
            }
            _ => Err(400),
        }),
        ("GET", ["trace"]) => Some(Ok(Order::Traced)),
        ("GET", ["trial", peer]) => Some(Ok(Order::Tried((*peer).to_string()))),
        ("POST", ["trial", peer, numbers @ ..]) if numbers.len() == 3 => {
            Some(trial(peer, numbers).ok_or(400))
        }
        _ => None,
    })
}

/// Reads the numbers of a trial: the class, the rate in bit/s and the length in milliseconds.
fn trial(peer: &str, numbers: &[&str]) -> Option<Order> {
    let numbers: Vec<u64> = numbers.iter().map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let [class, bps, ms] = numbers[..] else {
        return None;
    };
    let (rate, length) = (Rate::from_bps(bps), Length::from_ms(ms.min(10_000_000)));
    let sound = rate > Rate::ZERO && !length.is_zero() && length <= LONGEST;
    let class = usize::try_from(class).ok().filter(|_| sound)?;
    Some(Order::Try(peer.to_string(), class, rate, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_door::Ask::{Do, Show};
    use accord_door::Form;
    use proptest::prelude::*;

    /// However often metrics are asked for, they are made twice per second.
    #[test]
    fn metrics_are_made_at_most_twice_per_second() {
        let (mut shown, mut made) = (Shown::default(), 0);
        for ms in 1000..2000 {
            let text = shown.text(Time::ZERO + Length::from_ms(ms), || {
                made += 1;
                format!("{ms}")
            });
            assert_eq!(text, if ms < 1500 { "1000" } else { "1500" });
        }
        assert_eq!(made, 2);
    }

    #[test]
    fn requests_are_read() {
        let read = |line: &str| parse(format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        assert_eq!(read("GET /status"), Ok(Show(Form::Status)));
        assert_eq!(read("GET /metrics"), Ok(Show(Form::Metrics)));
        let mode = Do(Order::Mode("berlin".into(), Mode::Shadow));
        assert_eq!(read("POST /mode/berlin/shadow"), Ok(mode));
        assert_eq!(read("POST /mode/berlin/fast"), Err(400));
        let length = Length::from_ms(5000);
        let trial = Do(Order::Try("berlin".into(), 1, Rate::from_bps(1000), length));
        assert_eq!(read("POST /trial/berlin/1/1000/5000"), Ok(trial));
        assert_eq!(read("GET /trial/berlin"), Ok(Do(Order::Tried("berlin".into()))));
        for wrong in ["x/1000/5000", "1/0/5000", "1/1000/0", "1/1000/99999999999"] {
            assert_eq!(read(&format!("POST /trial/berlin/{wrong}")), Err(400), "{wrong}");
        }
        let length = Length::from_secs(60);
        assert_eq!(read("POST /trace/b/60000"), Ok(Do(Order::Trace("b".into(), length))));
        assert_eq!(read("GET /trace"), Ok(Do(Order::Traced)));
        assert_eq!(read("POST /trace/b/0"), Err(400));
        assert_eq!(read("GET /"), Err(404));
        assert_eq!(read("DELETE /status"), Err(400));
        assert_eq!(parse(b""), Err(400));
        assert_eq!(parse(b"\xff\xff"), Err(400));
    }

    proptest! {
        /// Any request is understood or rejected, and half a request is rejected.
        #[test]
        fn any_request_is_understood_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            words in "(GET|POST|PUT|) /(status|mode|trial|)/?[a-z0-9/]{0,20} HTTP/1.1\r\n",
        ) {
            let _ = parse(&bytes);
            match parse(words.as_bytes()) {
                Ok(Do(Order::Try(_, _, rate, length))) => {
                    prop_assert!(rate > Rate::ZERO && !length.is_zero() && length <= LONGEST);
                }
                Ok(_) => {}
                Err(code) => prop_assert!(matches!(code, 400 | 404)),
            }
        }
    }
}
