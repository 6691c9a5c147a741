//! `accord kernel`.

#[cfg(not(all(feature = "kernel", target_os = "linux")))]
use crate::fail::Failure;
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
use accord::Catalogue;
use clap::{Args, Subcommand};
use std::net::SocketAddr;

/// The commands of `accord kernel`.
#[derive(Args)]
pub struct Kernel {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Runs a command with a controller for its TCP connections, outgoing and accepted. The exit code is
    /// that of the command.
    #[command(
        after_help = "Example:\n  accord kernel run --controller '{ name = \"copa\", delta = 0.25 }' -- iperf3 -c HOST"
    )]
    Run {
        #[command(flatten)]
        choice: Choice,
        /// The command and its arguments.
        #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
        line: Vec<std::ffi::OsString>,
    },
    /// Attaches a controller for all programs that choose it by name with the socket option
    /// `TCP_CONGESTION`, until SIGTERM, Ctrl-C or `accord kernel detach`.
    #[command(
        after_help = "Example:\n  accord kernel attach --controller my.toml --name accord_mine"
    )]
    Attach {
        #[command(flatten)]
        choice: Choice,
        /// The loopback address and port at which Prometheus reads metrics, such as 127.0.0.1:9587.
        #[arg(long, value_name = "ADDRESS", value_parser = loopback)]
        metrics: Option<SocketAddr>,
    },
    /// Lists the attached controllers.
    List,
    /// Prints the state of an attached controller: its connections, their windows and round-trip
    /// times, and the ages of its decisions.
    Status {
        /// The name of the congestion control; optional if only one is attached.
        name: Option<String>,
        /// Prints JSON.
        #[arg(long, conflicts_with = "metrics")]
        json: bool,
        /// Prints the metrics in Prometheus's format.
        #[arg(long)]
        metrics: bool,
    },
    /// Detaches a controller. Its connections continue as Reno.
    Detach {
        /// The name of the congestion control; optional if only one is attached.
        name: Option<String>,
    },
}

/// A controller and its name in the kernel.
#[derive(Args)]
pub struct Choice {
    /// The controller: a name, a table such as '{ name = "copa", delta = 0.25 }', or a TOML file whose key
    /// `controller` is either.
    #[arg(long, value_name = "CONTROLLER")]
    pub controller: String,
    /// The name of the congestion control in the kernel, of at most 15 bytes; by default accord_ and the
    /// controller's name or, with `run`, the number of the process.
    #[arg(long)]
    pub name: Option<String>,
}

/// Parses the address for metrics, which only users of this host reach.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse().ok();
    let address = address.filter(|a: &SocketAddr| a.ip().is_loopback());
    address.ok_or("expected a loopback address and a port, such as 127.0.0.1:9587".into())
}

/// Returns the error that explains how to build the program with controllers in the kernel.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
pub fn run(_: &Kernel, _: &Catalogue) -> Result<bool, Failure> {
    Err(Failure::Unable(accord_kernel::obstacle().unwrap_or_default()))
}

#[cfg(all(feature = "kernel", target_os = "linux"))]
pub use parts::run;

#[cfg(all(feature = "kernel", target_os = "linux"))]
mod parts {
    use super::{Choice, Command, Kernel};
    use crate::fail::Failure;
    use crate::output::{data, note};
    use accord::Catalogue;
    use accord::draft::quote;
    use accord::family::Values;
    use accord::language::File;
    use accord_door::Door;
    use accord_kernel::{Ask, Attached, Ended, Error, Group, LONGEST_NAME, Signals, Status};
    use std::io::ErrorKind;
    use std::net::SocketAddr;
    use std::os::fd::AsFd;
    use std::os::unix::fs::DirBuilderExt;
    use std::os::unix::net::UnixStream;
    use std::path::Path;

    /// The directory of the sockets.
    const SOCKETS: &str = "/run/accord/kernel";
    /// The longest wait for a signal before the command is looked at.
    const PATIENCE_MS: u16 = 50;

    impl From<Error> for Failure {
        fn from(e: Error) -> Failure {
            match e {
                Error::Wrong(message) => Failure::new(message),
                Error::Unable(message) => Failure::Unable(message),
            }
        }
    }

    pub fn run(args: &Kernel, catalogue: &Catalogue) -> Result<bool, Failure> {
        match &args.command {
            Command::Run { choice, line } => command(choice, line, catalogue),
            Command::Attach { choice, metrics } => attach(choice, *metrics, catalogue),
            Command::List => {
                names().iter().try_for_each(data).map(|()| true).map_err(Failure::from)
            }
            Command::Status { name, json, metrics } => {
                let what = match (json, metrics) {
                    (true, _) => "GET /status",
                    (_, true) => "GET /metrics",
                    _ => "GET /table",
                };
                data(ask(name.as_deref(), what)?)?;
                Ok(true)
            }
            Command::Detach { name } => {
                ask(name.as_deref(), "POST /detach")?;
                Ok(true)
            }
        }
    }

    /// Parses the controller of a command line.
    fn values(choice: &Choice, catalogue: &Catalogue) -> Result<Values, Failure> {
        let text = &choice.controller;
        let path = Path::new(text);
        if path.extension().is_some_and(|e| e == "py") {
            let failure = Failure::new(format!(
                "--controller {text}: a class of Python runs in a program of Python"
            ));
            return Err(failure
                .hint("the program calls accord.kernel with the class: see docs/src/kernel.md"));
        }
        let file = if path.extension().is_some_and(|e| e == "toml") {
            File::open(path)?
        } else {
            let value = if text.starts_with('{') { text.clone() } else { quote(text) };
            File::parse("--controller", &format!("controller = {value}"))?
        };
        Ok(file.controller(catalogue)?)
    }

    /// Converts the name of a family to that of a congestion control.
    fn name_of(family: &str) -> String {
        let sound = |c: char| match c {
            c if c.is_ascii_alphanumeric() || c == '_' || c == '-' => c,
            '+' => 'p',
            _ => '_',
        };
        let name = "accord_".chars().chain(family.chars().map(sound));
        name.take(LONGEST_NAME).collect()
    }

    /// Opens the socket of a controller.
    fn door(name: &str) -> Result<Door<Ask>, Failure> {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o755).create(SOCKETS);
        made.map_err(|e| Failure::Unable(format!("{SOCKETS} cannot be created: {e}")))?;
        let path = Path::new(SOCKETS).join(format!("{name}.sock"));
        Ok(Door::open(&path, accord_kernel::parse)?)
    }

    fn attach(
        choice: &Choice,
        metrics: Option<SocketAddr>,
        catalogue: &Catalogue,
    ) -> Result<bool, Failure> {
        let values = values(choice, catalogue)?;
        let default = || name_of(values.family().name);
        let name = choice.name.clone().unwrap_or_else(default);
        let signals = Signals::take()?;
        let attached = Attached::new(&name, &values)?;
        let mut doors = vec![door(&name)?];
        if let Some(address) = metrics {
            doors.push(Door::listen(address, Ask::read_metrics)?);
        }
        note(format!(
            "{name} is attached: programs choose it by TCP_CONGESTION, and all by sysctl \
             net.ipv4.tcp_congestion_control={name}"
        ));
        let (ended, status) = attached.serve(&doors, &mut || signals.asked())?;
        say(&status);
        match ended {
            Ended::Stopped => Ok(true),
            Ended::Interrupted => Err(Failure::Ended),
        }
    }

    /// Reports the events in which connections had no decisions.
    fn say(status: &Status) {
        for problem in status.problems() {
            note(format!("{}: {problem}", status.name));
        }
    }

    fn command(
        choice: &Choice,
        line: &[std::ffi::OsString],
        catalogue: &Catalogue,
    ) -> Result<bool, Failure> {
        let [program, arguments @ ..] = line else {
            return Err(Failure::new("expected a command"));
        };
        crate::program::find(program)?;
        let values = values(choice, catalogue)?;
        let default = || format!("accord_{}", std::process::id());
        let name = choice.name.clone().unwrap_or_else(default);
        let signals = Signals::take()?;
        let attached = Attached::new(&name, &values)?;
        let doors = [door(&name)?];
        let unable = |e| {
            Failure::Unable(format!(
                "the command has no control group of version 2: {e}; accord kernel attach needs none"
            ))
        };
        let group = Group::new().map_err(unable)?;
        let _link = attached.choose_for(group.as_fd())?;
        let mut started = std::process::Command::new(program);
        let mut child = group.spawn(started.args(arguments)).map_err(|e| {
            let program = program.to_string_lossy();
            let failure = Failure::new(format!("{program} cannot be started: {e}"));
            failure.hint("the command and its arguments follow --")
        })?;
        let mut status = None;
        let mut look = |asked: Option<Ended>| {
            // Ctrl-C reaches the command, too, which handles it.
            if asked == Some(Ended::Stopped) {
                group.terminate();
            }
            status = child.try_wait().ok().flatten();
            status.map(|_| Ended::Stopped)
        };
        let served = attached.serve(&doors, &mut || look(signals.asked()));
        if served.is_err() {
            group.terminate();
        }
        // The command continues after a client detached the controller.
        drop((doors, attached));
        while look(signals.within(PATIENCE_MS)).is_none() {}
        let (_, end) = served?;
        say(&end);
        status.map_or(Ok(false), |status| Failure::of_command(status).map(|()| true))
    }

    /// Returns the names of the attached controllers.
    fn names() -> Vec<String> {
        let entries = std::fs::read_dir(SOCKETS).into_iter().flatten().flatten();
        let is_served = |path: &Path| match UnixStream::connect(path) {
            Err(e) if e.kind() == ErrorKind::ConnectionRefused => {
                // Its process was killed.
                let _ = std::fs::remove_file(path);
                false
            }
            Err(e) => e.kind() != ErrorKind::NotFound,
            Ok(_) => true,
        };
        let mut names: Vec<String> = entries
            .filter(|entry| is_served(&entry.path()))
            .filter_map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                Some(name.strip_suffix(".sock")?.to_string())
            })
            .collect();
        names.sort();
        names
    }

    /// Sends a request to the process of an attached controller, and returns its answer.
    fn ask(name: Option<&str>, what: &str) -> Result<String, Failure> {
        let name = match name {
            Some(name) => name.to_string(),
            None => match &names()[..] {
                [name] => name.clone(),
                [] => {
                    let failure = Failure::new("no controller is attached");
                    return Err(
                        failure.hint("accord kernel attach and accord kernel run attach one")
                    );
                }
                names => {
                    let failure = Failure::new("several controllers are attached: name one");
                    return Err(failure.hint(format!("names are {}", names.join(", "))));
                }
            },
        };
        let path = Path::new(SOCKETS).join(format!("{name}.sock"));
        match accord_door::ask(&path, what) {
            Ok((200, text)) => Ok(text),
            Ok((code, text)) => Err(Failure::new(format!("{name} refuses: {code} {text}"))),
            // A refused connection is to a process that was killed.
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                let failure = Failure::new(format!("no controller {name} is attached"));
                Err(failure.hint("accord kernel list prints the attached ones"))
            }
            Err(e) => Err(Failure::Unable(match e.kind() {
                ErrorKind::PermissionDenied => {
                    format!("{name} answers only to its owner, such as root")
                }
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    format!("{name} does not answer: its process is stopped or too busy")
                }
                _ => format!("{name} does not answer: {e}"),
            })),
        }
    }
}
