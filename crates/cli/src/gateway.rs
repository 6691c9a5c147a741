//! `accord gateway`.

#[cfg(feature = "gateway")]
mod accept;
mod args;
#[cfg(feature = "gateway")]
mod list;
#[cfg(feature = "gateway")]
mod predict;
#[cfg(feature = "gateway")]
mod trace;

use crate::fail::Failure;
use accord::Catalogue;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The commands of `accord gateway`.
#[derive(Args)]
pub struct Gateway {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Creates a private key if the file does not exist, and prints its public key.
    Keys {
        /// The file of the private key.
        file: PathBuf,
    },
    /// Converts a file of wg-quick into the site file and the key files of a gateway. Reports settings that
    /// the gateway ignores.
    #[command(
        after_help = "Example:\n  accord gateway import wg0.conf --cap '50 Mbps' --to /etc/accord"
    )]
    Import(args::Import),
    /// Checks a site file and its key files, and reports contracts that do not fit.
    Check {
        /// The site file.
        site: PathBuf,
        /// Prints the findings as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Sets the guards of a site file with guard = true, without a gateway: packets to networks of peers are
    /// dropped until the gateway runs.
    Guard {
        /// The site file.
        site: PathBuf,
    },
    /// Runs the gateway until SIGTERM or Ctrl-C. SIGHUP reloads the site file. The environment variable
    /// ACCORD_LOG sets the log level: error, warn, info (the default), debug, trace or off.
    Run {
        /// The site file.
        site: PathBuf,
        /// Ends when the standard input closes, and ignores signals: for programs that start
        /// gateways.
        #[arg(long)]
        until_stdin_closes: bool,
    },
    /// Prints the state of the running gateway of this site file.
    Status {
        /// The site file.
        site: PathBuf,
        /// Prints JSON.
        #[arg(long, conflicts_with = "metrics")]
        json: bool,
        /// Prints the metrics in Prometheus's format.
        #[arg(long)]
        metrics: bool,
    },
    /// Prints the gateways that run on this host: their peers, those with a session, those that are not
    /// well, and the smallest part of a contract that was kept.
    List {
        /// Prints JSON, with the state of each.
        #[arg(long)]
        json: bool,
    },
    /// Prints the messages, reports and handshakes of the running gateway with a peer.
    #[command(after_help = "Example:\n  accord gateway trace site.toml berlin --for '10 s'")]
    Trace(args::Trace),
    /// Prints the shares that theory predicts for a site file and its paths, and can write their scenario.
    #[command(
        after_help = "Example:\n  accord gateway predict site.toml --path 'berlin=30 Mbps, 40 ms' -o predicted.toml"
    )]
    Predict(args::Predict),
    /// Tests a tunnel in steps of its contracts, through the running gateway, as in ITU-T Y.1564.
    /// The exit code is 1 if a step fails.
    #[command(
        after_help = "Example:\n  accord gateway accept site.toml berlin --step '30 s' --most-variation '5 ms'"
    )]
    Accept(args::Accept),
    /// Changes the mode of a peer until the next change or start.
    Mode {
        /// The site file.
        site: PathBuf,
        /// The name of the peer.
        peer: String,
        /// The mode: shadow, enforce or bypass. Setting it also re-arms the circuit breaker.
        mode: String,
    },
}

/// Returns this program for gateways in live runs, if this build has them.
pub fn program() -> Option<accord::live::Program> {
    let path = std::env::current_exe().ok()?;
    cfg!(feature = "gateway").then_some(accord::live::Program { path, controller: "monaco" })
}

/// Returns the error that explains how to build the program with the gateway.
#[cfg(not(feature = "gateway"))]
pub fn run(_: &Gateway, _: &Catalogue) -> Result<bool, Failure> {
    Err(Failure::Unable(
        "this build has no gateway; cargo build --release --features gateway includes it".into(),
    ))
}

#[cfg(feature = "gateway")]
pub fn run(args: &Gateway, catalogue: &Catalogue) -> Result<bool, Failure> {
    match &args.command {
        Command::Keys { file } => parts::keys(file),
        Command::Import(args) => parts::import(args),
        Command::Check { site, json } => parts::check(site, *json),
        Command::Guard { site } => parts::guard(site),
        Command::Run { site, until_stdin_closes } => parts::drive(site, *until_stdin_closes),
        Command::Status { site, json, metrics } => {
            let what = match (json, metrics) {
                (true, _) => "GET /status",
                (_, true) => "GET /metrics",
                _ => "GET /table",
            };
            parts::ask(site, what)
        }
        Command::List { json } => list::run(*json),
        Command::Trace(args) => trace::run(args),
        Command::Accept(args) => accept::run(args),
        Command::Predict(args) => predict::run(args, catalogue),
        Command::Mode { site, peer, mode } => parts::mode(site, peer, mode),
    }
}

#[cfg(feature = "gateway")]
mod parts {
    use crate::fail::{Failure, unreadable, unwritable};
    use crate::gateway::args::Import;
    use crate::output::{data, json, note};
    use accord::files::{read_text, write_new};
    use accord::report::show::count;
    use accord::units::Rate;
    use accord_gateway::check::{Contract, check as findings, contracts};
    use accord_gateway::config::{self, LoadError, Mode, PeerConfig, Site, load, status_socket};
    use accord_gateway::keys::{PrivateKey, SharedKey};
    use std::path::{Path, PathBuf};

    pub fn keys(file: &Path) -> Result<bool, Failure> {
        let key = if file.exists() {
            PrivateKey::read(file).map_err(Failure::new)?
        } else {
            let key = PrivateKey::random().map_err(Failure::Unable)?;
            make(file.parent().unwrap_or(Path::new("")))?;
            key.write(file).map_err(Failure::new)?;
            note(format!("created {}: a private key that only its owner can read", file.display()));
            key
        };
        data(key.public())?;
        Ok(true)
    }

    /// Creates a folder if it does not exist, such as /etc/accord on a new machine.
    fn make(folder: &Path) -> Result<(), Failure> {
        if folder.as_os_str().is_empty() {
            return Ok(());
        }
        std::fs::create_dir_all(folder).map_err(unwritable(folder))
    }

    pub fn import(args: &Import) -> Result<bool, Failure> {
        let name = args.file.file_stem().unwrap_or_default().to_string_lossy();
        let source = read_text(&args.file, config::LARGEST).map_err(unreadable(&args.file))?;
        let file = args.file.display().to_string();
        let imported = config::import(&file, &source, &name, args.cap)?;
        let place = |name: &str| args.to.join(name);
        let site = place(&format!("{name}.toml"));
        let (file, key) = &imported.key;
        let secrets = imported.shared.iter().map(|(name, _)| place(name));
        let all = [site.clone(), place(file)].into_iter().chain(secrets);
        for path in all {
            if path.symlink_metadata().is_ok() {
                let failure = Failure::new(format!("{} is there already", path.display()));
                return Err(failure.hint("--to names another folder"));
            }
        }
        make(&args.to)?;
        let mut written = Vec::new();
        let mut write = || {
            key.write(&place(file)).map_err(Failure::new)?;
            written.push(place(file));
            for (name, key) in &imported.shared {
                key.write(&place(name)).map_err(Failure::new)?;
                written.push(place(name));
            }
            write_new(&site, imported.site.as_bytes()).map_err(unwritable(&site))
        };
        // None of them was there before. Half of the files would be in the way of the next attempt.
        write().inspect_err(|_| {
            for path in &written {
                let _ = std::fs::remove_file(path);
            }
        })?;
        for text in &imported.notes {
            note(format!("warning: {text}"));
        }
        data(site.display())?;
        Ok(true)
    }

    /// The networks of a site that this host reaches through other devices, as far as it shows its routes.
    #[cfg(target_os = "linux")]
    fn taken(site: &Site) -> Vec<accord_gateway::Taken> {
        accord_gateway::taken(site).unwrap_or_default()
    }

    #[cfg(not(target_os = "linux"))]
    fn taken(_: &Site) -> [String; 0] {
        []
    }

    pub fn check(path: &Path, as_json: bool) -> Result<bool, Failure> {
        let site = read(path)?;
        let key = &site.interface.key;
        let key = PrivateKey::read(key).map_err(|e| {
            if key.exists() {
                Failure::new(e)
            } else {
                Failure::new(e).hint(format!("accord gateway keys {}", key.display()))
            }
        })?;
        site.check_own_key(&key.public()).map_err(|e| {
            Failure::new(e).hint("it is what accord gateway keys prints at the peer's site")
        })?;
        for file in site.peers.iter().filter_map(|p| p.preshared_key.as_ref()) {
            SharedKey::read(file).map_err(Failure::new)?;
        }
        let (found, taken) = (findings(&site), taken(&site));
        if as_json {
            let contracts = contracts(&site);
            json(
                &serde_json::json!({ "contracts": contracts, "findings": found, "taken": taken }),
            )?;
            return Ok(true);
        }
        #[cfg(target_os = "linux")]
        for accord_gateway::Taken { network, device } in taken {
            note(format!(
                "warning: this host already reaches {network} through {device}: the gateway does not start until \
                 that route is gone"
            ));
        }
        for finding in &found {
            note(format!("warning: {}", finding.message));
        }
        let total: u64 = site.peers.iter().map(|p| p.service.contract.as_bps()).sum();
        data(format!(
            "{} is valid: {}, {} {}, contracts of {}",
            path.display(),
            count(site.peers.len(), "peer"),
            site.classes.len() + 1,
            if site.classes.is_empty() { "class" } else { "classes" },
            Rate::from_bps(total)
        ))?;
        for Contract { peer, contract_bps, yields_from_s } in contracts(&site) {
            let contract = Rate::from_bps(contract_bps);
            data(match yields_from_s {
                Some(s) => format!(
                    "{peer}: its contract of {contract} yields while the path's queue is longer than {:.0} ms",
                    1e3 * s
                ),
                None => format!("{peer}: its contract of {contract} yields to losses only"),
            })?;
        }
        Ok(true)
    }

    #[cfg(target_os = "linux")]
    pub fn guard(path: &Path) -> Result<bool, Failure> {
        let site = read(path)?;
        if !site.interface.guard {
            note(format!("warning: {} has no guard = true: all guards go", path.display()));
        }
        accord_gateway::guard(&site).map_err(|e| Failure::Unable(e.to_string()))?;
        Ok(true)
    }

    #[cfg(not(target_os = "linux"))]
    pub fn guard(_: &Path) -> Result<bool, Failure> {
        Err(Failure::Unable("the gateway needs Linux".into()))
    }

    #[cfg(target_os = "linux")]
    pub fn drive(path: &Path, until_stdin_closes: bool) -> Result<bool, Failure> {
        use accord_door::log::{LevelFilter, Writer};
        use accord_gateway::{Ended, Options, RunError};
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};
        let level = crate::events::level()?.unwrap_or(LevelFilter::INFO);
        let stop: Arc<AtomicBool> = Arc::default();
        if until_stdin_closes {
            let stop = stop.clone();
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
                stop.store(true, Ordering::Relaxed);
            });
        }
        let writer = Writer::start(|line| note(line))
            .map_err(|e| Failure::Unable(format!("the thread of the log does not start: {e}")))?;
        let options = Options {
            path: path.to_path_buf(),
            stop,
            reload: Arc::default(),
            signals: !until_stdin_closes,
            renewal: accord_gateway::RENEWAL,
            level,
            log: writer.sink(),
        };
        let ended = accord_gateway::run(&options);
        writer.finish();
        match ended {
            Ok(Ended::Stopped) => Ok(true),
            Ok(Ended::Interrupted) => Err(Failure::Ended),
            Err(RunError::Config(e)) => Err(wrong(path, e)),
            Err(RunError::Wrong(message)) => Err(Failure::new(message)),
            Err(RunError::Invalid(e)) => Err(Failure::new(e.to_string())),
            Err(RunError::Unable(message)) => Err(Failure::Unable(message)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn drive(_: &Path, _: bool) -> Result<bool, Failure> {
        Err(Failure::Unable("the gateway needs Linux".into()))
    }

    pub fn named<'s>(site: &'s Site, peer: &str) -> Result<&'s PeerConfig, Failure> {
        site.peers.iter().find(|p| p.name == peer).ok_or_else(|| {
            let names: Vec<&str> = site.peers.iter().map(|p| p.name.as_str()).collect();
            let failure = Failure::new(format!("unknown peer {peer}"));
            failure.hint(format!("peers are {}", names.join(", ")))
        })
    }

    pub fn mode(path: &Path, peer: &str, mode: &str) -> Result<bool, Failure> {
        let mode: Mode = mode.parse().map_err(|e: String| Failure::new(e))?;
        named(&read(path)?, peer)?;
        ask(path, &format!("POST /mode/{peer}/{}", mode.word()))
    }

    /// Sends a request to the gateway that runs with a site file, and prints its answer.
    pub fn ask(path: &Path, what: &str) -> Result<bool, Failure> {
        let body = answer(path, what)?;
        if !body.is_empty() {
            data(body)?;
        }
        Ok(true)
    }

    /// Sends a request to the gateway that runs with a site file, and returns its answer.
    #[cfg(unix)]
    pub fn answer(path: &Path, what: &str) -> Result<String, Failure> {
        let socket = socket(path)?;
        let (code, body) = accord_door::ask(&socket, what).map_err(|e| {
            let socket = socket.display();
            Failure::Unable(format!("the gateway does not answer at {socket}: {e}"))
        })?;
        if code != 200 {
            let why = if body.is_empty() { code.to_string() } else { body };
            return Err(Failure::new(format!("the gateway refuses: {why}")));
        }
        Ok(body)
    }

    #[cfg(not(unix))]
    pub fn answer(_: &Path, _: &str) -> Result<String, Failure> {
        Err(Failure::Unable("the gateway needs Linux".into()))
    }

    /// Returns the status socket of a site. A running gateway can be reached even if its file has
    /// an error by now.
    #[cfg(unix)]
    fn socket(path: &Path) -> Result<PathBuf, Failure> {
        let socket = match load(path) {
            Ok(site) => site.interface.status,
            Err(LoadError::Wrong { text, errors }) => {
                let socket = status_socket(&text, path);
                if socket.is_none() {
                    return Err(errors.into());
                }
                note(format!(
                    "warning: {errors}\n  a running gateway continues with the previous version of the file"
                ));
                socket
            }
            Err(error) => return Err(wrong(path, error)),
        };
        socket.ok_or_else(|| {
            let failure = Failure::new(format!("{} names no status socket", path.display()));
            failure.hint("write status = \"/run/accord/site.sock\" below [gateway]")
        })
    }

    pub fn read(path: &Path) -> Result<Site, Failure> {
        load(path).map_err(|e| wrong(path, e))
    }

    /// Returns the failure of a site file, with its place.
    fn wrong(path: &Path, error: LoadError) -> Failure {
        match error {
            LoadError::Unreadable(e) => unreadable(path)(e),
            LoadError::Wrong { errors, .. } => errors.into(),
        }
    }
}
