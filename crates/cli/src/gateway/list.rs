//! `accord gateway list`: the gateways that run on this host.

use super::parts::answer;
use crate::fail::Failure;
use crate::output::{data, json, note};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A gateway that runs.
#[derive(Debug, Serialize)]
struct Running {
    /// The number of the process.
    process: u32,
    /// The site file.
    site: PathBuf,
    /// The state, as `accord gateway status --json` has it.
    status: Option<Value>,
    /// The reason why there is no state.
    error: Option<String>,
}

/// Carries out the command.
pub fn run(as_json: bool) -> Result<bool, Failure> {
    let mut found: Vec<Running> = processes().into_iter().map(asked).collect();
    found.sort_by(|a, b| a.site.cmp(&b.site));
    if as_json {
        json(&found)?;
        return Ok(true);
    }
    if found.is_empty() {
        note("no gateway runs on this host that this user can see");
        return Ok(true);
    }
    let width = found.iter().map(|g| g.site.display().to_string().len()).max().unwrap_or(0);
    data(format!(
        "{:<width$}  {:>8}  {:>6}  {:>6}  {:>9}  {:>7}",
        "site", "process", "peers", "up", "not well", "kept, %"
    ))?;
    for Running { process, site, status, error } in &found {
        let peers = status.as_ref().and_then(|s| s["peers"].as_array());
        let Some(peers) = peers else {
            let why = error.as_deref().unwrap_or("its answer cannot be read");
            data(format!("{:<width$}  {process:>8}  {why}", site.display()))?;
            continue;
        };
        let up = peers.iter().filter(|p| p["up"] == true).count();
        let ill = peers.iter().filter(|p| p["reason"].is_string()).count();
        let kept = peers.iter().filter_map(|p| p["contract_kept"].as_f64()).reduce(f64::min);
        let kept = kept.map_or("-".into(), |kept| format!("{:.0}", 100.0 * kept));
        data(format!(
            "{:<width$}  {process:>8}  {:>6}  {up:>6}  {ill:>9}  {kept:>7}",
            site.display(),
            peers.len()
        ))?;
    }
    Ok(true)
}

/// Asks a gateway for its state.
fn asked((process, site): (u32, PathBuf)) -> Running {
    let found = answer(&site, "GET /status").and_then(|text| {
        serde_json::from_str(&text)
            .map_err(|e| Failure::new(format!("its answer cannot be read: {e}")))
    });
    let (status, error) = match found {
        Ok(status) => (Some(status), None),
        Err(Failure::Unable(why) | Failure::Other { message: why, .. }) => (None, Some(why)),
        Err(_) => (None, Some("its site file has mistakes".into())),
    };
    Running { process, site, status, error }
}

/// Returns the processes of this program that are gateways, with their site files.
fn processes() -> Vec<(u32, PathBuf)> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter_map(|number| Some((number, site_of(number)?))).collect()
}

/// Returns the site file of a process, if it is a gateway.
fn site_of(process: u32) -> Option<PathBuf> {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let words: Vec<String> =
        line.split(|b| *b == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let file = site_in(&words)?;
    let folder = std::fs::read_link(format!("/proc/{process}/cwd")).unwrap_or_default();
    Some(folder.join(file))
}

/// Returns the site file in the words of a command, if it runs a gateway.
fn site_in(words: &[String]) -> Option<&str> {
    let program = Path::new(words.first()?).file_name()?.to_str()?;
    let [_, first, second, rest @ ..] = words else { return None };
    let runs = program.starts_with("accord") && first == "gateway" && second == "run";
    runs.then(|| rest.iter().find(|word| !word.starts_with('-') && !word.is_empty()))?
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::site_in;

    #[test]
    fn a_gateway_is_known_by_its_command() {
        let site = |line: &str| {
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            site_in(&words).map(String::from)
        };
        let file = Some("/etc/accord/a.toml".to_string());
        assert_eq!(site("/usr/bin/accord gateway run /etc/accord/a.toml"), file);
        assert_eq!(site("accord gateway run --until-stdin-closes /etc/accord/a.toml"), file);
        for other in ["accord gateway status a.toml", "accord gateway run", "sh -c accord", ""] {
            assert_eq!(site(other), None, "{other}");
        }
    }
}
