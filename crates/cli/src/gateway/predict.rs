//! `accord gateway predict`: the scenario of a site file and its paths, and theory's results for
//! it.

use super::args::{Given, Predict};
use super::parts::{answer, named, read};
use crate::draft::Place;
use crate::fail::Failure;
use crate::output::{data, note};
use accord::draft::{Draft, Line, quote};
use accord::record::Quiet;
use accord::scenario::{Entity, Metric};
use accord::units::{Bytes, Duration, Rate};
use accord::{Catalogue, Engine, File, Options, run as run_engine};
use accord_gateway::config::{Mode, PeerConfig, Site};
use serde_json::Value;

/// The rate of a link that is not a bottleneck, and the delay of a short one.
const FAST: Rate = Rate::from_bps(1_000_000_000_000);
const NEAR: Duration = Duration::from_us(1);
/// The length of the scenario in seconds, and the time from which it is assumed to be steady.
const LENGTH: u32 = 60;
const SETTLED: u32 = 20;

/// The number of connections in each tunnel.
const HOSTS: u32 = 4;
/// The bytes of a control packet of a gateway on the wire.
const CONTROL: Bytes = Bytes::new(140);

/// The nodes of the site and behind its uplink.
const HERE: &str = "gateway";
const NETWORK: &str = "network";

/// Returns the node of a peer, distinct from the others for any name.
fn node(peer: &str) -> String {
    format!("peer.{peer}")
}

pub fn run(args: &Predict, catalogue: &Catalogue) -> Result<bool, Failure> {
    let place = Place { file: args.output.as_ref(), force: args.force };
    place.check()?;
    let site = read(&args.site)?;
    let paths = paths(&site, args)?;
    let name = args.site.file_stem().unwrap_or_default().to_string_lossy();
    let text = scenario(&site, &paths, &name)?;
    if args.output.is_some() {
        place.write(&text, &name, catalogue)?;
    }
    shares(&site, &text, catalogue)
}

/// Returns the paths to the peers that are controlled or sent to at the cap, in order: as given, or
/// as measured by the running gateway.
fn paths(site: &Site, args: &Predict) -> Result<Vec<Given>, Failure> {
    for given in &args.path {
        named(site, &given.peer)?;
    }
    let given = |name: &str| args.path.iter().rfind(|g| g.peer == name);
    let known = |p: &PeerConfig| given(&p.name).is_some_and(|g| g.round_trip.is_some());
    // Only values not given have to be measured.
    let status: Value = if site.peers.iter().all(known) {
        Value::Null
    } else {
        let text = answer(&args.site, "GET /status").map_err(|e| match e {
            Failure::Unable(why) => Failure::Unable(format!(
                "{why}; start it, or give --path 'PEER=40 ms' for each peer"
            )),
            other => other,
        })?;
        serde_json::from_str(&text)
            .map_err(|e| Failure::new(format!("the gateway's answer cannot be read: {e}")))?
    };
    let measured = |name: &str| {
        let mut peers = status["peers"].as_array()?.iter();
        let seconds = peers.find(|p| p["name"] == name)?["min_rtt_s"].as_f64()?;
        Some(Duration::from_secs_f64(seconds))
    };
    let path = |peer: &PeerConfig| {
        let given = given(&peer.name).cloned().unwrap_or_default();
        let round_trip = given.round_trip.or_else(|| measured(&peer.name));
        if round_trip.is_none() {
            let failure = Failure::new(format!("the round-trip time of {} is unknown", peer.name));
            let hint = format!(
                "wait until its tunnel has sent data, or give --path '{}=40 ms'",
                peer.name
            );
            return Err(failure.hint(hint));
        }
        if given.rate.is_none() && site.interface.uplink.is_none() {
            let failure = Failure::new(format!("the rate of the path to {} is unknown", peer.name));
            let hint =
                format!("set uplink below [gateway], or give --path '{}=30 Mbps'", peer.name);
            return Err(failure.hint(hint));
        }
        Ok(Given { peer: peer.name.clone(), round_trip, ..given })
    };
    site.peers.iter().map(path).collect()
}

/// Returns the suffix of the names of groups of connections, which no peer's name has.
fn hosts(site: &Site) -> String {
    let mut end = "-hosts".to_string();
    while site.peers.iter().any(|p| p.name.ends_with(&end)) {
        end += "-hosts";
    }
    end
}

/// Returns the scenario: the site's uplink, a path per peer behind it, and a tunnel per peer with
/// connections that offer its cap.
fn scenario(site: &Site, paths: &[Given], name: &str) -> Result<String, Failure> {
    let mut draft = Draft::default();
    draft.comment(&format!(
        "The tunnels of {name} with data for their caps, written by accord gateway predict.\n\
         Rates of tunnels are those of packets on the wire. Other traffic is unknown and left out.\n\
         Routers forward EF first; control_priority = false is a link that does not."
    ));
    draft.line("");
    draft.text("title", format!("The tunnels of {name}"));
    draft.text("duration", format!("{LENGTH} s"));
    draft.line(format!("steady = [\"{SETTLED} s\", \"{LENGTH} s\"]"));
    let uplink = site.interface.uplink.unwrap_or(FAST);
    let mut links = vec![Line {
        name: "uplink".into(),
        ends: [HERE.into(), NETWORK.into()],
        rate: uplink,
        delay: NEAR,
        back: (uplink, NEAR),
    }];
    for path in paths {
        let round_trip = path.round_trip.unwrap_or(NEAR);
        let rate = path.rate.unwrap_or(FAST);
        let delay = round_trip.mul_f64(0.5).max(NEAR + NEAR) - NEAR;
        links.push(Line {
            name: format!("path.{}", path.peer),
            ends: [NETWORK.into(), node(&path.peer)],
            rate,
            delay,
            back: (rate, delay),
        });
    }
    draft.links(&links, None);
    let hosts = hosts(site);
    for (peer, path) in site.peers.iter().zip(paths) {
        draft.table(&format!("flow.{}", peer.name));
        draft.text("from", HERE);
        draft.text("to", node(&peer.name));
        draft.text("packet", site.interface.packet());
        if peer.mode == Mode::Bypass {
            draft.line(format!("demand = {{ constant = \"{}\" }}", peer.cap));
            draft.text("controller", "none");
            continue;
        }
        draft.text("control", CONTROL);
        draft.line(format!("tunnel = {{ queue = \"{}\" }}", site.interface.queue));
        let loss = site.interface.loss.word();
        let target = quote(&site.interface.target.to_string());
        draft.line(format!(
            "controller = {{ name = \"monaco\", target = {target}, loss = \"{loss}\" }}"
        ));
        let service = &peer.service;
        let limit = match service.limit {
            Some(limit) => format!(", limit = \"{limit}\""),
            None => String::new(),
        };
        draft.line(format!(
            "service = {{ contract = \"{}\", weight = {}{limit} }}",
            service.contract, service.weight
        ));
        draft.table(&format!("flow.{}{hosts}", peer.name));
        draft.line(format!("count = {HOSTS}"));
        draft.text("through", &peer.name);
        draft.text("controller", "cubic");
        draft.text("packet", Bytes::new(site.interface.mtu.into()));
        // Scenarios have no caps. A cap below the path's rate becomes the hosts' demand.
        if peer.cap < uplink.min(path.rate.unwrap_or(FAST)) {
            let inside = f64::from(site.interface.mtu) / site.interface.packet().as_f64();
            let each = Rate::from_bps_f64(peer.cap.as_bps_f64() * inside / f64::from(HOSTS));
            draft.line(format!("demand = {{ constant = \"{each}\" }}"));
        }
    }
    Ok(draft.out)
}

/// Prints theory's rate of each tunnel.
fn shares(site: &Site, text: &str, catalogue: &Catalogue) -> Result<bool, Failure> {
    let points = File::parse("predict", text)?.points(catalogue, None)?;
    let scenario = &points[0];
    let run = run_engine(scenario, Engine::Theory, &Options::default(), &mut Quiet)?;
    let mbps = |bps: f64| format!("{:.2}", bps / 1e6);
    let row = |cells: [&str; 4]| {
        data(format!("{:<14}  {:>9}  {:>9}  {:>9}", cells[0], cells[1], cells[2], cells[3]))
    };
    row(["peer", "contract", "share", "cap"])?;
    row(["", "Mbps", "Mbps", "Mbps"])?;
    for peer in &site.peers {
        let flow = scenario.flows.iter().position(|f| f.name == peer.name);
        let share =
            flow.and_then(|flow| run.mean(Metric::Throughput, Entity::Flow(flow), scenario.steady));
        let [contract, cap] = [peer.service.contract, peer.cap].map(|r| mbps(r.as_bps_f64()));
        row([&peer.name, &contract, &share.map_or("-".into(), mbps), &cap])?;
    }
    for text in &run.notes {
        note(text);
    }
    Ok(true)
}
