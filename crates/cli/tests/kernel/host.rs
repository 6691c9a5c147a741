//! The program, and the controllers that it attaches.

use crate::bad::BAD;
use crate::common;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// The variable of the environment that makes this test another program.
pub const SELF: &str = "ACCORD_KERNEL_TEST";

/// The program with quinn's controllers and the bad ones.
pub fn main() -> ExitCode {
    accord_cli::main_with(&[accord_quinn::FAMILIES, BAD].concat(), &[])
}

/// Returns the command of the program.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("its own path"));
    command
        .args(arguments)
        .env(SELF, "program")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn ended(arguments: &[&str]) -> common::Ended {
    common::end(program(arguments).spawn().expect("it starts"))
}

/// Returns the missing requirement of this machine.
pub fn missing() -> Option<String> {
    for tool in ["ip", "tc"] {
        if Command::new(tool).arg("-V").output().is_err() {
            return Some(format!("{tool} of iproute2 is not there"));
        }
    }
    let name = name("try");
    let mut child = program(&["kernel", "attach", "--controller", "reno", "--name", &name]);
    let mut child = child.spawn().expect("it starts");
    if answers(&name, &mut child) {
        let detached = ended(&["kernel", "detach", &name]);
        assert_eq!(detached.code, Some(0), "{detached:?}");
        common::end(child).with(0);
        None
    } else {
        let ended = common::end(child).with(3);
        Some(ended.stderr.trim().to_string())
    }
}

/// Returns a unique name.
pub fn name(what: &str) -> String {
    format!("a{}_{what}", std::process::id() % 1_000_000)
}

/// Waits until a controller is attached and answers, or its process ends.
pub fn answers(name: &str, child: &mut Child) -> bool {
    loop {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        if ended(&["kernel", "status", name]).code == Some(0) {
            return true;
        }
        pause();
    }
}

#[expect(clippy::disallowed_methods, reason = "it waits for another process")]
pub fn pause() {
    std::thread::sleep(Duration::from_millis(50));
}

pub fn available(name: &str) -> bool {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text = std::fs::read_to_string(path).expect("it is there");
    text.split_whitespace().any(|word| word == name)
}

/// Sends a signal to a process.
pub fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).expect("a pid");
    kill(Pid::from_raw(pid), signal).expect("it is there");
}

/// An attached controller. Its process is killed when this is dropped.
pub struct Attached {
    pub name: String,
    pub child: Child,
}

impl Attached {
    pub fn new(controller: &str, name: String) -> Attached {
        let arguments = ["kernel", "attach", "--controller", controller];
        let arguments = [&arguments[..], &["--name", &name]].concat();
        let mut command = program(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        assert!(answers(&name, &mut child), "{controller} is not attached");
        assert!(available(&name));
        Attached { name, child }
    }

    pub fn status(&self) -> Value {
        let ended = ended(&["kernel", "status", &self.name, "--json"]);
        ended.with(0).json()
    }

    /// Polls the state until the condition holds.
    pub fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut status = self.status();
        for _ in 0..600 {
            if wanted(&status) {
                return status;
            }
            pause();
            status = self.status();
        }
        panic!("{what}: {status:#}");
    }

    pub fn signal(&self, signal: Signal) {
        send(&self.child, signal);
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
