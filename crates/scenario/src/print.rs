//! The printer of resolved scenarios in the scenario language, without omissions.

mod parts;

use crate::expectation::{Over, Subject, Target, Window};
use crate::figure;
use crate::network::{
    Carrier, Change, Direction, Event, Flow, GREEDY, Group, Limit, Link, LinkId, Recorded,
    Scenario, Tunnel, UNLIMITED,
};
use accord_family::{Kind, Param, Service, Value, Values};
use accord_traffic::{Demand, Draw, PacketSizes};
use std::fmt::{Display, Write};
use toml_writer::{ToTomlValue, TomlStringBuilder};

/// Returns the scenario as a file in which nothing varies, and nothing is left to defaults or to chance.
/// Parsing the text gives an equal [`Scenario`], so the hash of the text identifies the scenario. `scenario`
/// must come from a file.
pub fn print(scenario: &Scenario) -> String {
    let mut out = String::new();
    let s = scenario;
    line(&mut out, "id", &text(&s.id));
    line(&mut out, "title", &text(&s.title));
    line(&mut out, "source", &text(&s.source));
    line(&mut out, "notes", &text(&s.notes));
    if let Some(metric) = s.figure {
        line(&mut out, "figure", &text(metric.name()));
    }
    line(&mut out, "duration", &quoted(s.duration));
    line(&mut out, "seed", &s.seed.to_string());
    line(&mut out, "sample", &quoted(s.sample));
    if s.inner {
        line(&mut out, "inner", "true");
    }
    line(&mut out, "steady", &window(s.steady));
    let mut fluid = vec![("link_model", text(s.fluid.link_model.name()))];
    fluid.extend(s.fluid.step.map(|step| ("step", quoted(step))));
    line(&mut out, "fluid", &table(&fluid));
    let nodes = s.nodes.iter().map(|n| text(&n.name));
    line(&mut out, "nodes", &list(nodes));
    for (name, label) in &s.point {
        section(&mut out, &format!("[sweep.{}]", key(name)));
        line(&mut out, "values", &list([text(label)]));
    }
    for [there, back] in s.links.as_chunks().0 {
        link(&mut out, s, there, back);
    }
    for g in &s.groups {
        group(&mut out, s, g);
    }
    // The paths of flows in a tunnel follow the path of the tunnel.
    let follows = |e: &Event| match e.change {
        Change::Route { flow, .. } => s.flows[flow].through.is_some(),
        _ => false,
    };
    for e in s.events.iter().filter(|e| !follows(e)) {
        event(&mut out, s, e);
    }
    for i in 0..s.expectations.len() {
        expectation(&mut out, s, i);
    }
    out
}

impl Scenario {
    /// Returns the BLAKE3 hash of the printed scenario, in hexadecimal.
    pub fn hash(&self) -> String {
        blake3::hash(print(self).as_bytes()).to_hex().to_string()
    }
}

fn section(out: &mut String, head: &str) {
    out.push('\n');
    out.push_str(head);
    out.push('\n');
}

fn line(out: &mut String, key: &str, value: &str) {
    writeln!(out, "{key} = {value}").expect("a string takes all");
}

/// Returns a text as a TOML string.
pub fn text(s: &str) -> String {
    TomlStringBuilder::new(s).as_basic().to_toml_value()
}

/// Returns a name as a TOML key. Only letters of ASCII need no quotes.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.chars().all(bare) { name.to_string() } else { text(name) }
}

fn quoted(x: impl Display) -> String {
    format!("\"{x}\"")
}

fn number(x: f64) -> String {
    format!("{x:?}")
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    format!("[{}]", items.join(", "))
}

fn table<K: Display>(items: &[(K, String)]) -> String {
    let items: Vec<_> = items.iter().map(|(k, v)| format!("{k} = {v}")).collect();
    format!("{{ {} }}", items.join(", "))
}

fn window(w: Window) -> String {
    list([quoted(w.start), quoted(w.end)])
}

/// Returns the parameters of a controller or queue discipline.
fn params(values: &Values) -> Vec<(&'static str, String)> {
    let write = |value: Value| match value {
        Value::Absent => None,
        Value::Number(x) => Some(number(x)),
        Value::Integer(n) => Some(n.to_string()),
        Value::Flag(flag) => Some(flag.to_string()),
        value => Some(quoted(value)),
    };
    let given = |(param, value): (&'static Param, Value)| {
        let text = match param.kind {
            Kind::Aggregates(_) => aggregates(values),
            _ => write(value),
        };
        Some((param.name, text?))
    };
    values.iter().filter_map(given).collect()
}

/// Returns the parameters of each aggregate.
fn aggregates(values: &Values) -> Option<String> {
    let named: Vec<_> =
        (values.aggregates()).map(|(name, of)| (text(name), table(&params(of)))).collect();
    (!named.is_empty()).then(|| table(&named))
}

/// Returns the keys of one direction of a link.
fn port(link: &Link) -> Vec<(&'static str, String)> {
    let limit = match link.queue.limit {
        Limit::Packets(n) => quoted(format_args!("{n} pkt")),
        Limit::Bytes(bytes) => quoted(bytes),
        Limit::Unlimited => quoted(UNLIMITED),
    };
    let name = link.queue.discipline.family().name;
    let mut queue = vec![("discipline", text(name)), ("limit", limit)];
    queue.extend(params(&link.queue.discipline));
    let trace = link.parts.as_ref().and_then(|p| p.trace.as_ref());
    let mut keys = vec![
        ("rate", trace.map_or_else(|| quoted(link.rate), parts::trace)),
        ("delay", quoted(link.delay)),
        ("queue", table(&queue)),
        ("loss", number(link.loss)),
        ("control_loss", number(link.control_loss)),
        ("control_priority", link.control_priority.to_string()),
    ];
    keys.extend(link.parts.as_deref().map(parts::keys).unwrap_or_default());
    keys
}

fn link(out: &mut String, s: &Scenario, forward: &Link, reverse: &Link) {
    section(out, &format!("[link.{}]", text(&forward.name)));
    line(out, "from", &text(&s.nodes[forward.from].name));
    line(out, "to", &text(&s.nodes[forward.to].name));
    let keys = port(forward);
    for (key, value) in &keys {
        line(out, key, value);
    }
    if forward.attachment {
        line(out, "attachment", "true");
    }
    if is_same(forward, reverse) {
        return;
    }
    let different = parts::different(&keys, port(reverse));
    if !different.is_empty() {
        line(out, "reverse", &table(&different));
    }
}

/// Returns whether both directions of a link certainly have the same keys.
fn is_same(forward: &Link, reverse: &Link) -> bool {
    let of = |l: &Link| (l.rate, l.delay, l.loss, l.control_loss, l.control_priority);
    of(forward) == of(reverse)
        && (&forward.queue, &forward.parts) == (&reverse.queue, &reverse.parts)
}

/// Returns the nodes of a path.
fn path(s: &Scenario, links: &[LinkId]) -> String {
    let first = links.first().map(|&l| s.links[l].from);
    let nodes = first.into_iter().chain(links.iter().map(|&l| s.links[l].to));
    list(nodes.map(|n| text(&s.nodes[n].name)))
}

/// Returns the keys of a path and of its reverse. The reverse is omitted if it is the same path
/// backwards.
fn paths(s: &Scenario, forward: &[LinkId], reverse: &[LinkId]) -> Vec<(&'static str, String)> {
    let mut keys = vec![("path", path(s, forward))];
    if !is_back(forward, reverse) {
        keys.push(("reverse_path", path(s, reverse)));
    }
    keys
}

/// Returns whether a reverse path is the same path backwards.
fn is_back(forward: &[LinkId], reverse: &[LinkId]) -> bool {
    // The directions of a duplex link are neighbours: 2n and 2n + 1.
    let back = forward.iter().rev().map(|l| l ^ 1);
    back.eq(reverse.iter().copied())
}

fn demand(demand: &Demand) -> String {
    match demand {
        Demand::Greedy => quoted(GREEDY),
        Demand::Size(size) => table(&[("size", quoted(size))]),
        Demand::Constant(rate) => table(&[("constant", quoted(rate))]),
        Demand::Poisson(rate) => table(&[("poisson", quoted(rate))]),
        Demand::OnOff { rate, burst, pause } => {
            let mut keys = Vec::new();
            keys.extend(rate.map(|rate| ("rate", quoted(rate))));
            keys.extend([("burst", draw(burst)), ("pause", draw(pause))]);
            table(&[("on_off", table(&keys))])
        }
        Demand::Media(media) => parts::media(media),
        Demand::Web(w) => {
            let mut keys = vec![
                ("body_mu", number(w.body_mu)),
                ("body_sigma", number(w.body_sigma)),
                ("tail_share", number(w.tail_share)),
                ("tail_least", quoted(w.tail_least)),
                ("tail_shape", number(w.tail_shape)),
                ("largest", quoted(w.largest)),
                ("objects_shape", number(w.objects_shape)),
                ("off_scale", quoted(w.off_scale)),
                ("off_shape", number(w.off_shape)),
                ("think_least", quoted(w.think_least)),
                ("think_shape", number(w.think_shape)),
                ("longest", quoted(w.longest)),
            ];
            keys.extend(w.load.map(|load| ("load", quoted(load))));
            table(&[("web", table(&keys))])
        }
    }
}

fn draw(draw: &Draw<impl Display>) -> String {
    match draw {
        Draw::Constant(x) => quoted(x),
        Draw::Exponential(x) => table(&[("exponential", quoted(x))]),
        Draw::Pareto { mean, shape } => {
            let law = table(&[("mean", quoted(mean)), ("shape", number(*shape))]);
            table(&[("pareto", law)])
        }
    }
}

fn packet(flow: &Flow) -> String {
    match &flow.sizes {
        None => quoted(flow.packet),
        Some(PacketSizes::Exponential(mean)) => table(&[("exponential", quoted(mean))]),
        Some(PacketSizes::Uniform(least, most)) => {
            table(&[("uniform", format!("[{}, {}]", quoted(least), quoted(most)))])
        }
        Some(PacketSizes::Mix(sizes)) => {
            let each: Vec<_> =
                sizes.iter().map(|(size, n)| (quoted(size), n.to_string())).collect();
            table(&[("mix", table(&each))])
        }
    }
}

/// Returns a service other than the default. Not every controller takes a service.
fn service(service: &Service) -> Option<String> {
    if *service == Service::default() {
        return None;
    }
    let mut keys = vec![("contract", quoted(service.contract)), ("weight", number(service.weight))];
    keys.extend(service.limit.map(|limit| ("limit", quoted(limit))));
    Some(table(&keys))
}

fn tunnel(tunnel: &Tunnel) -> String {
    table(&[
        ("overhead", quoted(tunnel.overhead)),
        ("queue", quoted(tunnel.queue)),
        ("signal", text(tunnel.signal.word())),
    ])
}

/// A key of a flow, and its value if it is printed.
type FlowKey = (&'static str, fn(&Scenario, &Flow) -> Option<String>);

/// The keys of a flow in their order.
const FLOW: [FlowKey; 19] = [
    ("path", |s, f| Some(path(s, &f.path))),
    ("reverse_path", |s, f| {
        let is_other = !is_back(&f.path, &f.reverse_path);
        is_other.then(|| path(s, &f.reverse_path))
    }),
    ("controller", |_, f| {
        let mut controller = vec![("name", text(f.controller.family().name))];
        controller.extend(params(&f.controller));
        Some(table(&controller))
    }),
    ("kernel", |_, f| match &f.carrier {
        Carrier::Kernel(congestion) => Some(text(congestion.name())),
        Carrier::Ours | Carrier::Quic(_) => None,
    }),
    ("quic", |_, f| match &f.carrier {
        Carrier::Quic(stack) => Some(text(stack.name)),
        Carrier::Ours | Carrier::Kernel(_) => None,
    }),
    ("service", |_, f| service(&f.service)),
    ("tunnel", |_, f| f.tunnel.as_ref().map(tunnel)),
    ("demand", |_, f| f.tunnel.is_none().then(|| demand(&f.demand))),
    ("through", |s, f| f.through.map(|tunnel| text(&member(s, tunnel)))),
    ("start", |_, f| Some(quoted(f.start))),
    ("stop", |_, f| f.stop.map(quoted)),
    ("aggregate", |s, f| Some(text(&s.aggregates[f.aggregate]))),
    ("share", |_, f| Some(number(f.share))),
    ("packet", |_, f| Some(packet(f))),
    ("ack", |_, f| Some(quoted(f.ack))),
    ("control", |_, f| Some(quoted(f.control))),
    ("processing", |_, f| Some(quoted(f.processing))),
    ("min_rto", |_, f| Some(quoted(f.min_rto))),
    ("pacing", |_, f| Some(f.pacing.to_string())),
];

/// Prints a group. Keys shared by all flows belong to the group, and the others to each flow.
fn group(out: &mut String, s: &Scenario, group: &Group) {
    section(out, &format!("[flow.{}]", key(&group.name)));
    let flows = &s.flows[group.flows.clone()];
    let mut common = Vec::new();
    let mut own = Vec::new();
    for (key, value) in FLOW {
        let first = value(s, &flows[0]);
        if flows[1..].iter().all(|f| value(s, f) == first) {
            common.extend(first.map(|value| (key, value)))
        } else {
            own.push((key, value))
        }
    }
    if own.is_empty() {
        line(out, "count", &flows.len().to_string());
    }
    for (key, value) in &common {
        line(out, key, value);
    }
    line(out, "record", &text(group.recorded.name()));
    if own.is_empty() {
        return;
    }
    out.push_str("each = [\n");
    for f in flows {
        let keys = own.iter().filter_map(|(key, value)| Some((*key, value(s, f)?)));
        let keys: Vec<_> = keys.collect();
        writeln!(out, "    {},", table(&keys)).expect("a string takes all");
    }
    out.push_str("]\n");
}

fn event(out: &mut String, s: &Scenario, event: &Event) {
    section(out, "[[event]]");
    line(out, "at", &quoted(event.at));
    let mut link = |link: LinkId, key: &str, value: String| {
        line(out, "link", &text(&s.links[link].name));
        if link.is_multiple_of(2) {
            line(out, "direction", &quoted(Direction::Forward.name()));
        }
        line(out, key, &value);
    };
    match &event.change {
        Change::Delay(id, delay) => link(*id, "delay", quoted(delay)),
        Change::Rate(id, rate) => link(*id, "rate", quoted(rate)),
        Change::Demand { flow, rate } => {
            line(out, "flow", &text(&member(s, *flow)));
            line(out, "demand_rate", &quoted(rate));
        }
        Change::Route { flow, path, reverse_path } => {
            line(out, "flow", &text(&member(s, *flow)));
            for (key, value) in paths(s, path, reverse_path) {
                line(out, key, &value);
            }
        }
    }
}

/// Returns the name that distinguishes a flow from its group, even if it is alone in the group.
fn member(s: &Scenario, flow: usize) -> String {
    let group = &s.groups[s.flows[flow].group];
    format!("{}.{}", group.name, flow - group.flows.start + 1)
}

fn expectation(out: &mut String, s: &Scenario, i: usize) {
    let e = &s.expectations[i];
    section(out, "[[expect]]");
    line(out, "name", &text(&e.name));
    line(out, "metric", &quoted(e.metric));
    let of = match e.of {
        Subject::Flow(flow) => member(s, flow),
        Subject::Group(group) => s.groups[group].name.clone(),
        Subject::Link(link) => s.links[link].name.clone(),
        Subject::Aggregate { link, aggregate } => {
            format!("{}.{}", s.links[link].name, s.aggregates[aggregate])
        }
    };
    line(out, "of", &text(&of));
    line(out, "engine", &quoted(e.engine));
    line(out, "during", &window(e.during));
    match e.over {
        Over::State(state) => line(out, "state", &text(state)),
        over => line(out, "over", &quoted(over)),
    }
    let as_one = matches!(e.of, Subject::Group(g) if s.groups[g].recorded == Recorded::Group);
    if !as_one {
        line(out, "across", &quoted(e.across.name()));
    }
    let plain = e.across.is_plain(e.over);
    let value = |x| figure::print_figure(x, e.metric, plain);
    let target = match e.target {
        Target::Value { value: x, tolerance } => {
            vec![("equals", value(x)), ("within", number(tolerance))]
        }
        Target::Beyond { value: x, tolerance } => {
            vec![("equals", value(x)), ("beyond", number(tolerance))]
        }
        Target::Engine { engine, tolerance } => {
            vec![("equals", quoted(engine)), ("within", number(tolerance))]
        }
        Target::Range { min, max } => {
            let bounds = [("at_least", min), ("at_most", max)].into_iter();
            bounds.filter(|(_, x)| x.is_finite()).map(|(key, x)| (key, value(x))).collect()
        }
    };
    target.iter().for_each(|(key, value)| line(out, key, value));
    line(out, "paper", &text(&e.paper));
    line(out, "claim", &quoted(e.claim.name()));
    let Some(known) = &e.fails else {
        return;
    };
    let mut keys = vec![("why", quoted(known.why.name())), ("because", text(&known.because))];
    if let Some(record) = known.record {
        keys.push(("measured", value(record.value)));
        keys.push(("band", number(record.band)));
    }
    line(out, "fails", &table(&keys));
}
