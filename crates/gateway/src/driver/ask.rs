//! Requests of clients to a gateway.

use crate::config::Mode;
use crate::trial::LONGEST;
use accord_door::line;
use accord_units::{Duration as Length, Rate};

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The state as JSON.
    Status,
    /// The state as a table.
    Table,
    /// The state as metrics of Prometheus.
    Metrics,
    /// Another mode for a peer.
    Mode(String, Mode),
    /// A trial of a peer: the place of the class, the rate on the wire and the length.
    Try(String, usize, Rate, Length),
    /// The latest trial of a peer.
    Tried(String),
}

/// Reads a request, or returns the HTTP status of its error.
pub fn parse(head: &[u8]) -> Result<Ask, u16> {
    let (method, parts) = line(head)?;
    match (method, &parts[..]) {
        ("GET", ["status"]) => Ok(Ask::Status),
        ("GET", ["table"]) => Ok(Ask::Table),
        ("GET", ["metrics"]) => Ok(Ask::Metrics),
        ("POST", ["mode", peer, mode]) => {
            let mode = mode.parse().map_err(|_| 400u16)?;
            Ok(Ask::Mode((*peer).to_string(), mode))
        }
        ("GET", ["trial", peer]) => Ok(Ask::Tried((*peer).to_string())),
        ("POST", ["trial", peer, class, bps, ms]) => {
            let number = |text: &str| text.parse::<u64>().map_err(|_| 400u16);
            let (class, rate) = (number(class)?, Rate::from_bps(number(bps)?));
            let length = Length::from_ms(number(ms)?.min(10_000_000));
            let sound = rate > Rate::ZERO && !length.is_zero() && length <= LONGEST;
            match usize::try_from(class).ok().filter(|_| sound) {
                Some(class) => Ok(Ask::Try((*peer).to_string(), class, rate, length)),
                None => Err(400),
            }
        }
        ("GET" | "POST", _) => Err(404),
        _ => Err(400),
    }
}

/// Reads a request for metrics. Others are refused, since anybody on the host may make it.
pub fn parse_metrics(head: &[u8]) -> Result<Ask, u16> {
    match parse(head)? {
        Ask::Metrics => Ok(Ask::Metrics),
        _ => Err(404),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_are_read() {
        let read = |line: &str| parse(format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        assert_eq!(read("GET /status"), Ok(Ask::Status));
        assert_eq!(read("GET /metrics"), Ok(Ask::Metrics));
        let mode = Ask::Mode("berlin".into(), Mode::Shadow);
        assert_eq!(read("POST /mode/berlin/shadow"), Ok(mode));
        assert_eq!(read("POST /mode/berlin/fast"), Err(400));
        let length = Length::from_ms(5000);
        let trial = Ask::Try("berlin".into(), 1, Rate::from_bps(1000), length);
        assert_eq!(read("POST /trial/berlin/1/1000/5000"), Ok(trial));
        assert_eq!(read("GET /trial/berlin"), Ok(Ask::Tried("berlin".into())));
        for wrong in ["x/1000/5000", "1/0/5000", "1/1000/0", "1/1000/99999999999"] {
            assert_eq!(read(&format!("POST /trial/berlin/{wrong}")), Err(400), "{wrong}");
        }
        assert_eq!(read("GET /"), Err(404));
        assert_eq!(parse_metrics(b"GET /metrics HTTP/1.1\r\n\r\n"), Ok(Ask::Metrics));
        for other in ["GET /status", "POST /mode/berlin/shadow", "GET /"] {
            assert_eq!(parse_metrics(other.as_bytes()), Err(404), "{other}");
        }
        assert_eq!(read("DELETE /status"), Err(400));
        assert_eq!(parse(b""), Err(400));
        assert_eq!(parse(b"\xff\xff"), Err(400));
    }

    proptest! {
        /// Any request is understood or refused, and half a request is refused.
        #[test]
        fn any_request_is_understood_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            words in "(GET|POST|PUT|) /(status|mode|trial|)/?[a-z0-9/]{0,20} HTTP/1.1\r\n",
        ) {
            let _ = parse(&bytes);
            match parse(words.as_bytes()) {
                Ok(Ask::Try(_, _, rate, length)) => {
                    prop_assert!(rate > Rate::ZERO && !length.is_zero() && length <= LONGEST);
                }
                Ok(_) => {}
                Err(code) => prop_assert!(matches!(code, 400 | 404)),
            }
        }
    }
}
