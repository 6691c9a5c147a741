//! The client's side.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The maximum time for an answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Sends a request with a method and a path such as `GET /status`, and returns the HTTP status and
/// the text without trailing blanks.
///
/// # Errors
///
/// Fails if the program does not answer.
pub fn ask(socket: &Path, what: &str) -> std::io::Result<(u16, String)> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "{what} HTTP/1.1\r\nHost: accord\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Ok((code.unwrap_or(0), body.trim_end().to_string()))
}
