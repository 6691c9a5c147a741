//! The server's side.
//!
//! Each client has a thread, which reads its request and passes it to the program's thread. That thread
//! answers when it has time. A client has a second in total for its request and a second for the answer. At
//! most [`MOST`] are served at once. To make room for another, the oldest one that has not sent its request
//! is dropped.

use socket2::Socket;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The maximum time for a client's request, and for an answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The maximum number of clients served at once.
const MOST: usize = 64;
/// The maximum length of a request.
const LONGEST_REQUEST: usize = 4096;

/// The reason why a program cannot run as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request is wrong, such as a path that is not a socket.
    #[error("{0}")]
    Wrong(String),
    /// The machine or the user's permissions do not allow it, or another program uses the socket.
    #[error("{0}")]
    Unable(String),
}

/// A request, and the channel for its answer: the HTTP status and the text.
#[derive(Debug)]
pub struct Request<A> {
    /// The content of the request.
    pub ask: A,
    /// The channel for the answer.
    pub answer: Sender<(u16, String)>,
}

/// The place of a socket.
#[derive(Debug)]
enum Place {
    /// A path, and the file there by its device and number.
    Path(PathBuf, (u64, u64)),
    /// An address of TCP.
    Address(SocketAddr),
}

/// A socket, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Door<A> {
    place: Place,
    /// True once this value is dropped, which ends the thread.
    closed: Arc<AtomicBool>,
    /// The requests received.
    pub requests: Receiver<Request<A>>,
}

impl<A: Send + 'static> Door<A> {
    /// Opens the socket at this path, which only the owner may use. `parse` reads the head of a
    /// request, or returns the HTTP status of its error: see [`Ask::read`](crate::Ask::read).
    ///
    /// # Errors
    ///
    /// Fails if the path is in use or not allowed.
    pub fn open(path: &Path, parse: fn(&[u8]) -> Result<A, u16>) -> Result<Door<A>, Error> {
        let unable = |e: std::io::Error| {
            Error::Unable(format!("socket {} cannot be opened: {e}", path.display()))
        };
        if UnixStream::connect(path).is_ok() {
            return Err(Error::Unable(format!(
                "socket {} is in use: is this running already?",
                path.display()
            )));
        }
        match std::fs::symlink_metadata(path) {
            // The socket was left by a process that was killed.
            Ok(there) if there.file_type().is_socket() => {
                std::fs::remove_file(path).map_err(unable)?;
            }
            Ok(_) => {
                return Err(Error::Wrong(format!(
                    "{} exists and is not a socket; status needs an unused path",
                    path.display()
                )));
            }
            Err(_) => {}
        }
        let listener = UnixListener::bind(path).map_err(unable)?;
        let rights = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, rights).map_err(unable)?;
        let file = file(path).map_err(unable)?;
        let place = Place::Path(path.to_path_buf(), file);
        Door::start(place, OwnedFd::from(listener).into(), parse).map_err(unable)
    }

    /// Opens a TCP socket at this address. If it is a loopback address, all users of the host may use it.
    ///
    /// # Errors
    /// Fails if the address is taken or not allowed.
    pub fn listen(
        address: SocketAddr,
        parse: fn(&[u8]) -> Result<A, u16>,
    ) -> Result<Door<A>, Error> {
        let unable = |e| Error::Unable(format!("{address} cannot be listened at: {e}"));
        let listener = TcpListener::bind(address).map_err(unable)?;
        let place = Place::Address(listener.local_addr().map_err(unable)?);
        Door::start(place, OwnedFd::from(listener).into(), parse).map_err(unable)
    }

    fn start(
        place: Place,
        listener: Socket,
        parse: fn(&[u8]) -> Result<A, u16>,
    ) -> std::io::Result<Door<A>> {
        let (sender, requests) = channel();
        let closed: Arc<AtomicBool> = Arc::default();
        let ends = closed.clone();
        std::thread::Builder::new()
            .name("status".into())
            .spawn(move || serve(&listener, parse, &sender, &ends))?;
        Ok(Door { place, closed, requests })
    }
}

impl<A> Drop for Door<A> {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // The thread waits for a client, and this is the last one.
        match &self.place {
            Place::Path(path, own) => {
                let _ = UnixStream::connect(path);
                // Another process may have replaced the file.
                if file(path).is_ok_and(|there| there == *own) {
                    let _ = std::fs::remove_file(path);
                }
            }
            Place::Address(address) => {
                let _ = TcpStream::connect_timeout(address, PATIENCE);
            }
        }
    }
}

/// Returns the device and inode of this path.
fn file(path: &Path) -> std::io::Result<(u64, u64)> {
    let there = std::fs::symlink_metadata(path)?;
    Ok((there.dev(), there.ino()))
}

/// Serves clients until the program ends.
fn serve<A: Send + 'static>(
    listener: &Socket,
    parse: fn(&[u8]) -> Result<A, u16>,
    requests: &Sender<Request<A>>,
    closed: &AtomicBool,
) {
    // The clients that have not sent their requests, the oldest first, by their numbers.
    let silent: Arc<Mutex<BTreeMap<u64, Socket>>> = Arc::default();
    let served = Arc::new(());
    for number in 0.. {
        let accepted = listener.accept();
        if closed.load(Ordering::Relaxed) {
            return;
        }
        let Ok((mut client, _)) = accepted else { continue };
        if Arc::strong_count(&served) > MOST
            && let Some((_, oldest)) = lock(&silent).pop_first()
        {
            // The client's thread notices the shutdown.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        // Clients that have sent requests wait for the program, which is busy.
        if Arc::strong_count(&served) > 4 * MOST {
            continue;
        }
        let Ok(handle) = client.try_clone() else { continue };
        lock(&silent).insert(number, handle);
        let (silent, served, requests) = (silent.clone(), served.clone(), requests.clone());
        let work = move || {
            let head = read(&mut client);
            lock(&silent).remove(&number);
            answer(&mut client, parse(&head), &requests);
            drop(served);
        };
        // Without a thread the client gets no answer.
        let _ = std::thread::Builder::new().name("client".into()).spawn(work);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// Passes a request to the program, and writes the answer.
fn answer<A>(client: &mut Socket, ask: Result<A, u16>, requests: &Sender<Request<A>>) {
    let (code, text) = match ask {
        Err(code) => (code, String::new()),
        Ok(ask) => {
            let (answer, answered) = channel();
            if requests.send(Request { ask, answer }).is_err() {
                return;
            }
            let answer = answered.recv_timeout(PATIENCE);
            answer.unwrap_or((503, "the program does not answer\n".into()))
        }
    };
    let kind = if text.starts_with('{') {
        "application/json"
    } else {
        "text/plain; version=0.0.4; charset=utf-8"
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
    write(client, (head + &text).as_bytes());
}

/// Returns the time that a client has left since `begun`, or `None` if it has passed.
#[allow(clippy::disallowed_methods, reason = "the time of a client is limited")]
fn left(begun: &mut Option<Instant>) -> Option<Duration> {
    let deadline = *begun.get_or_insert_with(Instant::now) + PATIENCE;
    Some(deadline.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
}

/// Writes an answer. Ignores errors: a client that has left or reads slowly gets no answer.
fn write(client: &mut Socket, mut text: &[u8]) {
    let mut begun = None;
    while let Some(left) = left(&mut begun).filter(|_| !text.is_empty()) {
        let _ = client.set_write_timeout(Some(left));
        match client.write(text) {
            Ok(n) if n > 0 => text = &text[n..],
            _ => return,
        }
    }
}

/// Reads the head of a request. Returns an empty one if it is incomplete.
fn read(client: &mut Socket) -> Vec<u8> {
    let (mut head, mut part) = (Vec::new(), [0; 512]);
    let mut begun = None;
    while head.len() < LONGEST_REQUEST && !head.windows(4).any(|w| w == b"\r\n\r\n") {
        let Some(left) = left(&mut begun) else { break };
        let _ = client.set_read_timeout(Some(left));
        match client.read(&mut part) {
            Ok(n) if n > 0 => head.extend_from_slice(&part[..n]),
            _ => break,
        }
    }
    if head.windows(4).any(|w| w == b"\r\n\r\n") { head } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::line;

    fn first(head: &[u8]) -> Result<String, u16> {
        let (_, parts) = line(head)?;
        parts.first().map(|word| word.to_string()).ok_or(400)
    }

    #[test]
    fn nothing_but_a_socket_is_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("site.key");
        let target = dir.path().join("target");
        std::fs::write(&path, "a key").expect("written");
        let error = Door::open(&path, first).map(|_| ()).expect_err("no socket");
        assert!(error.to_string().contains("is not a socket"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "a key");
        std::fs::create_dir(&target).expect("made");
        assert!(Door::open(&target, first).is_err() && target.is_dir());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("made");
        assert!(Door::open(&link, first).is_err() && link.is_symlink());
        // The socket of a killed process is replaced.
        let socket = dir.path().join("socket");
        drop(UnixListener::bind(&socket).expect("bound"));
        let door = Door::open(&socket, first).expect("opened");
        drop(door);
        assert!(!socket.exists());
        // A replacement of the socket stays.
        let door = Door::open(&socket, first).expect("opened");
        std::fs::remove_file(&socket).expect("removed");
        std::fs::write(&socket, "another's").expect("written");
        drop(door);
        assert!(socket.exists());
    }

    #[test]
    fn a_socket_of_tcp_answers_until_it_is_dropped() {
        let any = "127.0.0.1:0".parse().expect("an address");
        let door = Door::listen(any, first).expect("opened");
        let Place::Address(address) = door.place else { panic!("{:?}", door.place) };
        let mut client = TcpStream::connect(address).expect("connected");
        client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("written");
        let request = door.requests.recv().expect("a request");
        assert_eq!(request.ask, "metrics");
        let _ = request.answer.send((200, "a 1\n".into()));
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("a 1\n"));
        drop(client);
        let taken = Door::listen(address, first).map(|_| ());
        assert!(matches!(taken, Err(Error::Unable(_))), "{taken:?}");
        drop(door);
        while Door::listen(address, first).is_err() {
            std::thread::yield_now();
        }
    }

    /// No number of silent clients delays another one. All of them connect before it, and none of them has
    /// timed out when it is answered.
    #[test]
    fn idle_clients_do_not_delay_others() {
        let any = "127.0.0.1:0".parse().expect("an address");
        let door = Door::listen(any, first).expect("opened");
        let Place::Address(address) = door.place else { panic!("{:?}", door.place) };
        let connect = || TcpStream::connect(address).expect("connected");
        let idle: Vec<TcpStream> = (0..2 * MOST).map(|_| connect()).collect();
        let mut client = connect();
        client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("written");
        // A second for each of them would be two minutes.
        let request = door.requests.recv_timeout(30 * PATIENCE).expect("a request");
        let _ = request.answer.send((200, "a 1\n".into()));
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("an answer");
        assert!(answer.ends_with("a 1\n"), "{answer}");
        drop(idle);
    }

    #[test]
    fn a_client_that_dribbles_is_cut_off() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("socket");
        let door = Door::open(&path, first).expect("opened");
        let mut slow = UnixStream::connect(&path).expect("connected");
        let (done, stopped) = channel::<()>();
        let dribble = std::thread::spawn(move || {
            // A byte before each read timeout could go on for ever, until this end is closed.
            while stopped.recv_timeout(PATIENCE / 5).is_err() && slow.write_all(b"x").is_ok() {}
            let mut answer = String::new();
            let _ = slow.read_to_string(&mut answer);
            answer
        });
        let mut client = UnixStream::connect(&path).expect("connected");
        client.write_all(b"GET /status HTTP/1.1\r\n\r\n").expect("written");
        // The slow client is not finished before this one has its turn.
        let request = door.requests.recv_timeout(60 * PATIENCE).expect("a request");
        assert_eq!(request.ask, "status");
        let _ = done.send(());
        let answer = dribble.join().expect("it ends");
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
}
