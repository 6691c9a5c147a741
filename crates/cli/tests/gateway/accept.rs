//! `accord gateway accept`, with a thread in the place of a gateway.

use crate::common::accord;
use crate::site;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Stands in for a running gateway: it takes trials, and answers each by `found`.
pub struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<String>>>,
    socket: std::path::PathBuf,
}

impl Running {
    pub fn new(dir: &Path, found: fn(u64) -> String) -> Running {
        let socket = dir.join("site.sock");
        let listener = UnixListener::bind(&socket).expect("bound");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let (mut asked, mut bps) = (Vec::new(), 0);
            while !stopped.load(Ordering::Relaxed) {
                let (mut client, _) = listener.accept().expect("a client");
                let (mut text, mut room) = (String::new(), [0; 1024]);
                while !text.contains("\r\n\r\n") {
                    match client.read(&mut room) {
                        Ok(n @ 1..) => text += &String::from_utf8_lossy(&room[..n]),
                        _ => break,
                    }
                }
                let line = text.lines().next().unwrap_or("").to_string();
                let parts: Vec<&str> = line.split(['/', ' ']).collect();
                let body = match parts.first() {
                    Some(&"POST") => {
                        bps = parts.get(5).and_then(|part| part.parse().ok()).unwrap_or(0);
                        asked.push(line.clone());
                        String::new()
                    }
                    _ => found(bps),
                };
                let length = body.len();
                let _ = write!(client, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
            }
            asked
        });
        Running { stop, thread: Some(thread), socket }
    }

    /// Stops it, and returns the requested trials.
    pub fn end(mut self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        let _ = UnixStream::connect(&self.socket);
        let thread = self.thread.take().expect("it runs");
        thread.join().expect("no panic")
    }
}

/// Returns a tunnel's answer to a trial with the capacity `most`: the excess is lost.
fn carries(most: u64, bps: u64) -> String {
    let arrived = bps.min(most) as f64;
    let lost = 1.0 - arrived / bps as f64;
    format!(
        "{{\"over\":true,\"loss_ratio\":{lost},\"rate_bytes_per_s\":{},\"round_trip_s\":0.02,\
         \"delay_variation_s\":0.004}}",
        arrived / 8.0
    )
}

fn ten_mbps(bps: u64) -> String {
    carries(10_000_000, bps)
}

fn six_mbps(bps: u64) -> String {
    carries(6_000_000, bps)
}

pub const ACCEPT: &[&str] = &["gateway", "accept", "site.toml", "berlin", "--step", "1 s"];

#[test]
fn accept_passes_a_tunnel_that_holds_its_contract() {
    let folder = site();
    let dir = folder.path();
    // Tests the tunnel's own contract; by default that of the voice class is also tested.
    let of_default = [ACCEPT, &["--class", "default"]].concat();
    let running = Running::new(dir, ten_mbps);
    let ended = accord(dir, &of_default).with(0);
    assert!(ended.stderr.contains("5 of 5 steps passed"), "{ended:?}");
    assert_eq!(ended.stdout.matches("passed").count(), 5, "{ended:?}");
    let asked = running.end();
    let rates = [2_500_000, 5_000_000, 7_500_000, 10_000_000, 12_500_000];
    let expected = rates.map(|bps| format!("POST /trial/berlin/1/{bps}/1000 HTTP/1.1"));
    assert_eq!(asked, expected);
}

#[test]
fn accept_fails_a_tunnel_that_does_not_hold_its_contract() {
    let folder = site();
    let dir = folder.path();
    let running = Running::new(dir, six_mbps);
    let ended = accord(dir, &[ACCEPT, &["--class", "default", "--json"]].concat()).with(1);
    let steps = ended.json();
    let passed = steps.as_array().expect("steps").iter();
    let passed: Vec<bool> = passed.map(|s| s["passed"] == true).collect();
    assert_eq!(passed, [true, true, false, false, false], "{ended:?}");
    running.end();
}

fn late(bps: u64) -> String {
    six_mbps(bps).replace("\"over\"", "\"late_s\":0.035,\"over\"")
}

/// A step that failed while the gateway's own machine was late says nothing of the path.
#[test]
fn accept_says_that_the_machine_was_late() {
    let folder = site();
    let dir = folder.path();
    let running = Running::new(dir, late);
    let words = [ACCEPT, &["--class", "default"]].concat();
    let ended = accord(dir, &words).with(3);
    let message = "this machine, not the path, was late: packets of 3 failed steps were queued up to 35 ms late";
    assert!(ended.stderr.contains(message), "{ended:?}");
    let marks = ended.stdout.lines().filter(|line| line.ends_with("late"));
    assert_eq!(marks.count(), 3, "{ended:?}");
    running.end();
}

#[test]
fn accept_says_what_is_missing() {
    let folder = site();
    let dir = folder.path();
    let ended = accord(dir, ACCEPT).with(3);
    assert!(ended.stderr.contains("site.sock"), "no gateway runs: {ended:?}");
    for (args, says) in [
        (&["gateway", "accept", "site.toml", "rome"][..], "peers are berlin, paris"),
        (&["gateway", "accept", "site.toml", "paris"][..], "contract"),
        (&[ACCEPT, &["--class", "video"]].concat()[..], "classes are voice, default"),
    ] {
        let ended = accord(dir, args).with(2);
        assert!(ended.stderr.contains(says), "{args:?}: {ended:?}");
    }
    let running = Running::new(dir, |_| "{\"over\":true}".into());
    let ended = accord(dir, ACCEPT).with(3);
    assert!(ended.stderr.contains("does not count trials"), "{ended:?}");
    running.end();
}

/// A step has a unit, and bounds.
#[test]
fn the_length_of_a_step_has_a_unit() {
    let folder = site();
    for (step, says) in [("5", "--step"), ("0.5 s", "from 1 s"), ("2 h", "--step")] {
        let words = ["gateway", "accept", "site.toml", "berlin", "--step", step];
        let refused = accord(folder.path(), &words).with(2);
        assert!(refused.stderr.contains(says), "{step}: {refused:?}");
    }
}
