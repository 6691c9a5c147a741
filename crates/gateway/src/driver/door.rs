//! The Unix socket for status, metrics and commands: HTTP, one request per connection.
//!
//! A thread reads requests and passes them to the gateway's, which answers between packets. A client
//! has a second for its request and a second for the answer, in all, and holds up nobody but other
//! clients.

use crate::config::Mode;
use crate::error::RunError;
use crate::trial::LONGEST;
use accord_units::{Duration as Length, Rate};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

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
    /// The file of the socket, by device and number.
    file: (u64, u64),
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
        match std::fs::symlink_metadata(path) {
            // What a gateway left that was killed.
            Ok(there) if there.file_type().is_socket() => {
                std::fs::remove_file(path).map_err(unable)?;
            }
            Ok(_) => {
                return Err(RunError::Wrong(format!(
                    "{} is there and is no socket: status has to name a path of its own",
                    path.display()
                )));
            }
            Err(_) => {}
        }
        let listener = UnixListener::bind(path).map_err(unable)?;
        let rights = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, rights).map_err(unable)?;
        let file = file(path).map_err(unable)?;
        let (sender, requests) = channel();
        std::thread::Builder::new()
            .name("status".into())
            .spawn(move || serve(&listener, &sender))
            .map_err(unable)?;
        Ok(Door {
            path: path.to_path_buf(),
            file,
            requests,
        })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // The thread ends when it finds that nobody takes its requests.
        let _ = UnixStream::connect(&self.path);
        // Somebody may have put something else there.
        if file(&self.path).is_ok_and(|there| there == self.file) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Returns the file of this path by its device and number.
fn file(path: &Path) -> std::io::Result<(u64, u64)> {
    let there = std::fs::symlink_metadata(path)?;
    Ok((there.dev(), there.ino()))
}

/// Serves clients until the gateway is gone.
fn serve(listener: &UnixListener, requests: &Sender<Request>) {
    for client in listener.incoming() {
        let Ok(mut client) = client else { continue };
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
        write(&mut client, (head + &text).as_bytes());
    }
}

/// Returns how long there is until a deadline, or `None` if it has passed.
#[allow(
    clippy::disallowed_methods,
    reason = "a client has so long by the clock"
)]
fn left(deadline: Instant) -> Option<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    Some(left).filter(|left| !left.is_zero())
}

/// Returns the time that a client has.
#[allow(
    clippy::disallowed_methods,
    reason = "a client has so long by the clock"
)]
fn deadline() -> Instant {
    Instant::now() + PATIENCE
}

/// Writes an answer. A client that went away, or is slow to take it, wants none.
fn write(client: &mut UnixStream, mut text: &[u8]) {
    let deadline = deadline();
    while let Some(left) = left(deadline).filter(|_| !text.is_empty()) {
        let _ = client.set_write_timeout(Some(left));
        match client.write(text) {
            Ok(n) if n > 0 => text = &text[n..],
            _ => return,
        }
    }
}

/// Reads the head of a request. Returns nothing of one that is not whole.
fn read(client: &mut UnixStream) -> Vec<u8> {
    let (mut head, mut part) = (Vec::new(), [0; 512]);
    let deadline = deadline();
    while head.len() < LONGEST_REQUEST && !head.windows(4).any(|w| w == b"\r\n\r\n") {
        let Some(left) = left(deadline) else { break };
        let _ = client.set_read_timeout(Some(left));
        match client.read(&mut part) {
            Ok(n) if n > 0 => head.extend_from_slice(&part[..n]),
            _ => break,
        }
    }
    match head.windows(4).any(|w| w == b"\r\n\r\n") {
        true => head,
        false => Vec::new(),
    }
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
    fn nothing_but_a_socket_is_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("site.key");
        let target = dir.path().join("target");
        std::fs::write(&path, "a key").expect("written");
        let error = Door::open(&path).map(|_| ()).expect_err("no socket");
        assert!(error.to_string().contains("is no socket"), "{error}");
        assert_eq!(
            std::fs::read_to_string(&path).expect("it is there"),
            "a key"
        );
        std::fs::create_dir(&target).expect("made");
        assert!(Door::open(&target).is_err() && target.is_dir());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("made");
        assert!(Door::open(&link).is_err() && link.is_symlink());
        // A socket that a process left that was killed makes room.
        let socket = dir.path().join("socket");
        drop(UnixListener::bind(&socket).expect("bound"));
        let door = Door::open(&socket).expect("opened");
        drop(door);
        assert!(!socket.exists());
        // What somebody put in its place stays.
        let door = Door::open(&socket).expect("opened");
        std::fs::remove_file(&socket).expect("removed");
        std::fs::write(&socket, "another's").expect("written");
        drop(door);
        assert!(socket.exists());
    }

    #[test]
    fn a_client_that_dribbles_is_cut_off() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("socket");
        let door = Door::open(&path).expect("opened");
        let mut slow = UnixStream::connect(&path).expect("connected");
        let (done, stopped) = channel::<()>();
        let dribble = std::thread::spawn(move || {
            // A byte before each read could run out of patience, until this end is cut off.
            while stopped.recv_timeout(PATIENCE / 5).is_err() && slow.write_all(b"x").is_ok() {}
            let mut answer = String::new();
            let _ = slow.read_to_string(&mut answer);
            answer
        });
        let mut client = UnixStream::connect(&path).expect("connected");
        client
            .write_all(b"GET /status HTTP/1.1\r\n\r\n")
            .expect("written");
        // The dribble does not end before this one had its turn.
        let request = door
            .requests
            .recv_timeout(60 * PATIENCE)
            .expect("a request");
        assert_eq!(request.ask, Ask::Status);
        let _ = done.send(());
        let answer = dribble.join().expect("it ends");
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
            "{answer}"
        );
    }

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
