//! The Unix socket for status, metrics and commands: HTTP, one request per connection.
//!
//! A thread reads requests and passes them to the gateway's, which answers between packets. A client
//! that is slow is cut off after a second, and holds up nobody but other clients.

use crate::config::Mode;
use crate::error::RunError;
use crate::trial::LONGEST;
use accord_units::{Duration as Length, Rate};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long a client may take, and how long an answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest request.
const LONGEST_REQUEST: usize = 4096;

/// What a client asks for.
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

/// A request, and the way back of the answer: the status of HTTP and the text.
#[derive(Debug)]
pub struct Request {
    /// What is asked for.
    pub ask: Ask,
    /// Where the answer goes.
    pub answer: Sender<(u16, String)>,
}

/// The socket, which is removed when this is dropped.
#[derive(Debug)]
pub struct Door {
    path: PathBuf,
    /// The requests that came.
    pub requests: Receiver<Request>,
}

impl Door {
    /// Opens the socket at this path, which only the owner may use.
    pub fn open(path: &Path) -> Result<Door, RunError> {
        let unable = |e: std::io::Error| {
            RunError::Unable(format!("socket {} cannot be opened: {e}", path.display()))
        };
        if UnixStream::connect(path).is_ok() {
            return Err(RunError::Unable(format!(
                "socket {} is in use: is this gateway running already?",
                path.display()
            )));
        }
        // What a gateway left that was killed.
        let _ = std::fs::remove_file(path);
        let listener = UnixListener::bind(path).map_err(unable)?;
        let rights = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, rights).map_err(unable)?;
        let (sender, requests) = channel();
        std::thread::Builder::new()
            .name("status".into())
            .spawn(move || serve(&listener, &sender))
            .map_err(unable)?;
        Ok(Door {
            path: path.to_path_buf(),
            requests,
        })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        // The thread ends when it finds that nobody takes its requests.
        let _ = UnixStream::connect(&self.path);
    }
}

/// Serves clients until the gateway is gone.
fn serve(listener: &UnixListener, requests: &Sender<Request>) {
    for client in listener.incoming() {
        let Ok(mut client) = client else { continue };
        let _ = client.set_read_timeout(Some(PATIENCE));
        let _ = client.set_write_timeout(Some(PATIENCE));
        let (code, text) = match parse(&read(&mut client)) {
            Err(code) => (code, String::new()),
            Ok(ask) => {
                let (answer, answered) = channel();
                if requests.send(Request { ask, answer }).is_err() {
                    return;
                }
                let answer = answered.recv_timeout(PATIENCE);
                answer.unwrap_or((503, "the gateway does not answer\n".into()))
            }
        };
        let kind = match text.starts_with('{') {
            true => "application/json",
            false => "text/plain; version=0.0.4; charset=utf-8",
        };
        let reason = match code {
            200 => "OK",
            400 => "Bad Request",
            404 => "Not Found",
            409 => "Conflict",
            _ => "Service Unavailable",
        };
        let head = format!(
            "HTTP/1.1 {code} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            text.len()
        );
        // A client that went away wants no answer.
        let _ = client.write_all((head + &text).as_bytes());
    }
}

/// Reads the head of a request.
fn read(client: &mut UnixStream) -> Vec<u8> {
    let (mut head, mut part) = (Vec::new(), [0; 512]);
    while head.len() < LONGEST_REQUEST && !head.windows(4).any(|w| w == b"\r\n\r\n") {
        match client.read(&mut part) {
            Ok(n) if n > 0 => head.extend_from_slice(&part[..n]),
            _ => break,
        }
    }
    head
}

/// Reads what is asked for, or returns the status of HTTP that says what is wrong.
pub fn parse(head: &[u8]) -> Result<Ask, u16> {
    let text = std::str::from_utf8(head).map_err(|_| 400u16)?;
    let line = text.lines().next().ok_or(400u16)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let parts: Vec<&str> = path.split('/').skip(1).collect();
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
            assert_eq!(
                read(&format!("POST /trial/berlin/{wrong}")),
                Err(400),
                "{wrong}"
            );
        }
        assert_eq!(read("GET /"), Err(404));
        assert_eq!(read("DELETE /status"), Err(400));
        assert_eq!(parse(b""), Err(400));
        assert_eq!(parse(b"\xff\xff"), Err(400));
    }

    proptest! {
        /// Whatever a client writes is understood or refused, and nothing is understood of half a request.
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
