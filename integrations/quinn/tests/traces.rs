//! Decision traces: the calls of a controller in one stack yield the same windows in the other, and
//! alone.

#[path = "support/pair.rs"]
mod pair;
#[path = "support/trace.rs"]
mod trace;

use accord::control::{
    Acked, Allowance, AnyController, Capabilities, Congestion, Controller, Maker, Marks, PathView,
    Transport,
};
use accord::family::{Catalogue, Family, Objective, Role};
use accord::record::{Quiet, Run};
use accord::scenario::{Entity, Metric, Window};
use accord::units::{Bytes, Time};
use accord::{Engine, File, Options};
use accord_quinn::{Factory, Theirs};
use pair::{Link, Pair};
use quinn_proto::TransportConfig;
use quinn_proto::congestion::{self, BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};
use trace::{Call, Decision, Recorder, Recording, Trace, replay};

/// 20 Mbit/s, a round trip of 40 ms, and a buffer of one bandwidth-delay product.
const LINK: Link = Link { rate: 20_000_000, buffer: 100_000, delay: Duration::from_millis(20) };
/// The payload of quinn's packets, and such a packet on the wire, with the headers of IPv4 and UDP.
const MTU: u16 = 1224;
const PACKET: u64 = 1252;

/// A path with packets of one size, which carries a stream of any length.
fn transport(factory: Arc<dyn ControllerFactory + Send + Sync>) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .mtu_discovery_config(None)
        .initial_mtu(MTU)
        .max_idle_timeout(None)
        .congestion_controller_factory(factory);
    Arc::new(config)
}

/// Sends 40 MB over a connection of quinn with this controller at the sender.
fn transfer(factory: Arc<dyn ControllerFactory + Send + Sync>) -> Pair {
    let server = transport(Arc::new(NewRenoConfig::default()));
    let mut pair = Pair::new(transport(factory), server, LINK);
    pair.connect();
    assert!(pair.send(40_000_000, Duration::from_secs(120)));
    assert!(pair.dropped() > 0, "the buffer was never full");
    pair
}

/// An event of a controller of ours, and the window after it.
#[derive(Clone, Debug)]
enum Heard {
    Ack(Acked, PathView, Time),
    Congestion(Congestion, PathView, Time),
}

static HEARD: Mutex<Vec<(Heard, Bytes)>> = Mutex::new(Vec::new());

/// A controller that records its events.
#[derive(Clone, Debug)]
struct Tapped(AnyController);

impl Controller for Tapped {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
        self.0.on_ack(ack, path, now);
        let heard = Heard::Ack(*ack, *path, now);
        HEARD.lock().unwrap().push((heard, self.cwnd()));
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
        self.0.on_congestion(what, path, now);
        let heard = Heard::Congestion(what, *path, now);
        HEARD.lock().unwrap().push((heard, self.cwnd()));
    }

    fn allowance(&self) -> Allowance {
        self.0.allowance()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.0.ssthresh()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

fn ours(name: &str) -> &'static Family {
    let all = accord::control::FAMILIES.iter();
    let mut named = all.filter(|f| f.name == name);
    named.next().expect("it is registered")
}

fn tapped(family: &'static Family) -> Family {
    let maker = match family.name {
        "cubic" => &Maker { build: |_, packet| tap("cubic", packet), transport: Transport::Stream },
        "vegas" => &Maker { build: |_, packet| tap("vegas", packet), transport: Transport::Stream },
        _ => &Maker { build: |_, packet| tap("copa", packet), transport: Transport::Stream },
    };
    Family { params: &[], maker, ..*family }
}

fn tap(name: &str, packet: Bytes) -> AnyController {
    let inner = AnyController::build(&ours(name).defaults(), packet);
    AnyController::foreign(Tapped(inner))
}

/// The events of our controllers in a real connection of quinn yield the same windows without
/// quinn.
#[test]
fn ours_decides_in_quinn_as_alone() {
    for name in ["cubic", "vegas", "copa"] {
        let family: &'static Family = Box::leak(Box::new(tapped(ours(name))));
        let mut factory = Factory::new(&family.defaults()).expect("quinn carries it");
        factory.packet(Bytes::new(u64::from(MTU)));
        let server = transport(Arc::new(NewRenoConfig::default()));
        let mut pair = Pair::new(transport(Arc::new(factory)), server, LINK);
        HEARD.lock().unwrap().clear();
        pair.connect();
        let quick = pair.send(20_000_000, Duration::from_secs(60));
        assert!(quick, "{name}: {} bytes", pair.received());
        let last = pair.connection().congestion_state().window();
        let heard = std::mem::take(&mut *HEARD.lock().unwrap());
        assert!(heard.len() > 1000, "{name} heard {} times", heard.len());

        let packet = Bytes::new(u64::from(MTU));
        let mut alone = AnyController::build(&ours(name).defaults(), packet);
        let mut windows = std::collections::BTreeSet::new();
        for (i, (event, window)) in heard.iter().enumerate() {
            match event {
                Heard::Ack(ack, path, now) => alone.on_ack(ack, path, *now),
                Heard::Congestion(what, path, now) => alone.on_congestion(*what, path, *now),
            }
            assert_eq!(alone.cwnd(), *window, "{name}, event {i}: {event:?}");
            windows.insert(*window);
        }
        assert!(windows.len() > 20, "{name}: {} windows", windows.len());
        assert_eq!(alone.cwnd().get().max(2 * u64::from(MTU)) + 1, last, "{name}");
    }
}

static TRACE: LazyLock<Trace> = LazyLock::new(Trace::new);
/// A copy of the recorded controller in its initial state. BBR draws random numbers, and the copy
/// draws the same.
static FRESH: Mutex<Option<Box<dyn congestion::Controller>>> = Mutex::new(None);

/// A controller of quinn with a recorder, for the packet engine.
fn recorded(factory: Arc<dyn ControllerFactory>, packet: Bytes) -> AnyController {
    let make = |now: Instant| -> Box<dyn congestion::Controller> {
        let inner = factory.build(now, packet.get() as u16);
        *FRESH.lock().unwrap() = Some(inner.clone_box());
        Box::new(Recorder::new(inner, TRACE.clone()))
    };
    AnyController::foreign(Theirs::new(make, packet, Marks::Nothing))
}

macro_rules! recorded_family {
    ($static:ident, $name:literal, $config:ty) => {
        static $static: Family = Family {
            maker: &Maker {
                build: |_, packet| recorded(Arc::new(<$config>::default()), packet),
                transport: Transport::Stream,
            },
            ..Family::new($name, Role::Controller(|_| Objective::Loss))
        };
    };
}

recorded_family!(RECORDED_NEWRENO, "recorded-newreno", NewRenoConfig);
recorded_family!(RECORDED_CUBIC, "recorded-cubic", CubicConfig);
recorded_family!(RECORDED_BBR, "recorded-bbr", BbrConfig);

/// A flow with this controller through the same bottleneck, in the packet engine.
fn engine(controller: &str, seconds: u64) -> Run {
    let text = format!(
        r#"
        duration = "{seconds} s"
        [topology.dumbbell]
        rate = "20 Mbps"
        delay = "20 ms"
        [topology.dumbbell.queue]
        discipline = "droptail"
        limit = "100 kB"
        [flow.a]
        from = "left"
        to = "right"
        packet = "{PACKET} B"
        controller = "{controller}"
        "#
    );
    let families = [
        &RECORDED_NEWRENO,
        &RECORDED_CUBIC,
        &RECORDED_BBR,
        &accord_quinn::NEWRENO,
        &accord_quinn::CUBIC,
    ];
    let catalogue: Catalogue = accord::catalogue_with(&families, &[]);
    let file = File::parse("one.toml", &text).expect("a scenario");
    let scenario = &file.points(&catalogue, None).expect("a scenario")[0];
    accord::run(scenario, Engine::Packet, &Options::default(), &mut Quiet).expect("a run")
}

/// The events of quinn's controllers in the packet engine yield the same windows without it.
#[test]
fn theirs_decides_in_the_packet_engine_as_alone() {
    for name in ["recorded-newreno", "recorded-cubic", "recorded-bbr"] {
        engine(name, 30);
        let decisions = TRACE.take();
        let mut alone = FRESH.lock().unwrap().take().expect("it was made");
        agree(name, &decisions, &mut *alone);
        let losses = count(&decisions, |c| matches!(c, Call::Congestion { .. }));
        assert!(losses > 0 || name == "recorded-bbr", "{name} lost nothing");
    }
}

/// The events of quinn's controllers in a connection of quinn yield the same windows without it.
#[test]
fn theirs_decides_in_quinn_as_alone() {
    let trace = Trace::new();
    let cubic = Arc::new(CubicConfig::default());
    let pair = transfer(Arc::new(Recording::new(cubic.clone(), trace.clone())));
    let decisions = trace.take();
    let mut alone = cubic.build(pair.now(), MTU);
    agree("cubic", &decisions, &mut *alone);
    let limited = |c: &Call| matches!(c, Call::Ack { app_limited: true, .. });
    assert!(count(&decisions, limited) < decisions.len() / 10);
}

fn count(decisions: &[Decision], what: impl Fn(&Call) -> bool) -> usize {
    decisions.iter().filter(|d| what(&d.call)).count()
}

fn agree(name: &str, decisions: &[Decision], alone: &mut dyn congestion::Controller) {
    assert!(decisions.len() > 10_000, "{name}: {}", decisions.len());
    let windows = replay(decisions, alone);
    for (i, (decision, window)) in decisions.iter().zip(&windows).enumerate() {
        assert_eq!(decision.window, *window, "{name}, call {i}");
    }
    let different: std::collections::BTreeSet<_> = windows.iter().collect();
    assert!(different.len() > 10, "{name}: {} windows", different.len());
}

/// A trace with a missing call yields other windows: the comparison can fail.
#[test]
fn a_missing_call_shows() {
    let trace = Trace::new();
    let cubic = Arc::new(CubicConfig::default());
    let pair = transfer(Arc::new(Recording::new(cubic.clone(), trace.clone())));
    let mut decisions = trace.take();
    let loss = |d: &Decision| matches!(d.call, Call::Congestion { .. });
    let first = decisions.iter().position(loss).expect("there was a loss");
    decisions.remove(first);
    let windows = replay(&decisions, &mut *cubic.build(pair.now(), MTU));
    let same = decisions.iter().zip(windows).all(|(d, w)| d.window == w);
    assert!(!same);
}

/// The same controller over the same bottleneck has the same goodput in both stacks, except for
/// QUIC's own headers: 1224 bytes of a packet are quinn's, and about 1180 the application's.
#[test]
fn both_stacks_give_theirs_the_same_share() {
    type Make = Arc<dyn ControllerFactory + Send + Sync>;
    let both: [(&str, Make); 2] = [
        ("quinn-newreno", Arc::new(NewRenoConfig::default())),
        ("quinn-cubic", Arc::new(CubicConfig::default())),
    ];
    for (name, factory) in both {
        let server = transport(Arc::new(NewRenoConfig::default()));
        let mut pair = Pair::new(transport(factory), server, LINK);
        pair.connect();
        let start = pair.now();
        pair.send(1 << 40, Duration::from_secs(60));
        let seconds = (pair.now() - start).as_secs_f64();
        let packets = pair.connection().stats().path.sent_packets as f64;
        let quinn = packets * PACKET as f64 * 8.0 / seconds;

        let run = engine(name, 60);
        let whole = Window { start: Time::ZERO, end: Time::from_secs_f64(60.0) };
        let sent = run.mean(Metric::SendingRate, Entity::Flow(0), whole);
        let ours = sent.expect("it sent");
        println!("{name}: {quinn:.0} bit/s in quinn, {ours:.0} in the packet engine");
        assert!((quinn / ours - 1.0).abs() < 0.05, "{name}: {quinn} and {ours}");
    }
}
