//! Third-party stacks that break the rules: the run ends, names the fault, and keeps the results of
//! other flows.

use crate::common::*;
use accord_family::Stack;
use accord_record::{Quiet, Run};
use accord_scenario::*;
use accord_traffic::Demand;
use accord_transport::{Carried, Connector, Datagram, Ends, View};
use accord_units::*;

/// The misbehaviour of an end from 1 s on. Before that it sends a datagram per 10 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Deed {
    /// Nothing wrong.
    Good,
    /// Asks to be woken at once, repeatedly.
    Spin,
    /// Wants to be woken a nanosecond later, over and over.
    Creep,
    /// Says that all is acknowledged.
    Claim,
    /// Wants to be woken at a time that is past.
    Past,
    /// Sends endlessly at one time.
    Flood,
    /// Sends a datagram per nanosecond.
    Stream,
    Large,
    Empty,
    Codepoint,
    PanicInPoll,
    PanicInReceive,
    PanicInView,
    PanicInWake,
    PanicInNext,
    PanicInDone,
    PanicInBroken,
    PanicInSupply,
    PanicInStop,
    PanicInDrop,
    Close,
    /// Reports a count of retransmissions that rises and falls.
    Recount,
}

/// An end that sends by a timer and needs no answers.
#[derive(Debug)]
struct Toy {
    deed: Deed,
    is_open: bool,
    due: Time,
    now: Time,
    queued: u64,
}

impl Toy {
    fn boxed(deed: Deed) -> Box<dyn Carried> {
        Box::new(Toy { deed, is_open: false, due: Time::MAX, now: Time::ZERO, queued: 0 })
    }

    /// Returns true if the end now misbehaves in this way.
    fn does(&self, deed: Deed) -> bool {
        self.deed == deed && self.is_open && self.now >= Time::ZERO + Duration::from_ms(1000)
    }
}

impl Carried for Toy {
    fn supply(&mut self, _: u64, _: bool, now: Time) {
        assert!(self.deed != Deed::PanicInSupply, "no supply");
        (self.is_open, self.due, self.now) = (true, now, now);
    }

    fn stop(&mut self, _: Time) {
        assert!(!self.does(Deed::PanicInStop), "no stop");
        (self.is_open, self.due) = (false, Time::MAX);
    }

    fn receive(&mut self, _: &[u8], _: u8, now: Time) -> bool {
        if self.deed == Deed::PanicInReceive && now >= Time::ZERO + Duration::from_ms(1000) {
            panic!("the receiver understands it");
        }
        true
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        assert!(!self.does(Deed::PanicInPoll), "no room for {}", self.queued);
        self.queued = if self.does(Deed::Flood) { 1 } else { self.queued };
        self.queued = self.queued.checked_sub(1)?;
        self.now = now;
        let length = match () {
            () if self.does(Deed::Large) => 1473,
            () if self.does(Deed::Empty) => 0,
            () => 1000,
        };
        let ecn = if self.does(Deed::Codepoint) { 4 } else { 0 };
        Some(Datagram { payload: vec![0; length], ecn })
    }

    fn next_wake(&mut self) -> Time {
        assert!(!self.does(Deed::PanicInNext), "no next wake-up");
        match () {
            () if self.does(Deed::Spin) => self.now,
            () if self.does(Deed::Creep) => self.now + Duration::from_ns(1),
            () if self.does(Deed::Past) => Time::ZERO + Duration::from_ms(500),
            () => self.due,
        }
    }

    fn on_wake(&mut self, now: Time) {
        self.now = now;
        assert!(!self.does(Deed::PanicInWake), "no wake-up");
        if now >= self.due {
            let pause = match self.does(Deed::Stream) {
                true => Duration::from_ns(1),
                false => Duration::from_ms(10),
            };
            (self.queued, self.due) = (1, now + pause);
        }
    }

    fn view(&self) -> View {
        assert!(!self.does(Deed::PanicInView), "no view");
        let counts = [5, u64::MAX, 0];
        let at = self.now.as_ps() as usize / 100_000_000_000 % 3;
        let retransmissions = if self.does(Deed::Recount) { counts[at] } else { 0 };
        View { cwnd: Some(Bytes::new(3000)), retransmissions, ..View::default() }
    }

    fn is_done(&self) -> bool {
        assert!(!self.does(Deed::PanicInDone), "never done");
        self.deed == Deed::Claim
    }

    fn broken(&self) -> Option<String> {
        assert!(!self.does(Deed::PanicInBroken), "broken down");
        self.does(Deed::Close).then(|| "the peer is gone".into())
    }
}

impl Drop for Toy {
    fn drop(&mut self) {
        assert!(!self.does(Deed::PanicInDrop), "no end");
    }
}

/// Declares the stacks of these deeds.
macro_rules! stacks {
    ($($name:ident = $deed:ident),* $(,)?) => {
        $(static $name: Stack = Stack {
            name: "toy",
            check: |_| Ok(()),
            repeats: |_| Ok(()),
            maker: &Connector(&|_| Ok([Toy::boxed(Deed::$deed), Toy::boxed(Deed::$deed)])),
        };)*
    };
}
stacks! {
    GOOD = Good, SPIN = Spin, PAST = Past, FLOOD = Flood, STREAM = Stream, LARGE = Large,
    EMPTY = Empty, POLL = PanicInPoll, RECEIVE = PanicInReceive, VIEW = PanicInView, CLOSE = Close,
    CODEPOINT = Codepoint, WAKE = PanicInWake, NEXT = PanicInNext, DONE = PanicInDone,
    BROKEN = PanicInBroken, SUPPLY = PanicInSupply, STOP = PanicInStop, DROP = PanicInDrop,
    RECOUNT = Recount, CREEP = Creep, CLAIM = Claim,
}

/// A flow of the stack alongside one of ours.
fn beside(stack: &'static Stack) -> Scenario {
    let queue = discipline("droptail", &[]);
    let mut s = Dumbbell::new("5 Mbps", "5 ms", queue, Limit::Packets(50), "3 s")
        .flows("toy", 1, controller("newreno", &[]), "20 Mbps", (1000, 900), ("0 s", None), true)
        .flows("ours", 1, controller("newreno", &[]), "20 Mbps", (700, 900), ("0 s", None), true)
        .0;
    s.flows[0].carrier = Carrier::Quic(stack);
    s.flows[0].packet = Bytes::new(1500);
    s
}

fn run(s: &Scenario) -> Run {
    accord_sim::run(s, &mut Quiet).expect("it ends")
}

fn bits(run: &Run, s: &Scenario, flow: usize, from: f64) -> f64 {
    bits_of(Metric::Throughput, run, s, flow, from)
}

fn bits_of(metric: Metric, run: &Run, s: &Scenario, flow: usize, from: f64) -> f64 {
    let series = run.series(metric, Entity::Flow(flow)).expect("it is recorded");
    let late = run.time.iter().zip(&series.values).filter(|(t, v)| **t > from && v.is_finite());
    late.map(|(_, v)| v).sum::<f64>() * s.sample.as_secs_f64()
}

/// Checks that the run has this sentence, and that the other flow continued.
fn is_said(stack: &'static Stack, said: &str) {
    let s = beside(stack);
    let run = run(&s);
    assert_eq!(run.broken.len(), 1, "{:?}", run.notes);
    let text = run.broken[0].text(&s);
    let begin = "the connection of flow toy.0 broke off at ";
    assert!(text.starts_with(begin) && text.contains(said), "{text}");
    assert!(run.notes.contains(&text), "{:?}", run.notes);
    assert_eq!(run.manifest.digest, self::run(&s).manifest.digest);
    assert!(bits(&run, &s, 1, 0.0) > 1e6, "the other flow has its results");
    if !said.contains("20000 datagrams") {
        assert_eq!(bits(&run, &s, 0, 1.5), 0.0, "it sends no more");
        assert!(bits(&run, &s, 1, 1.5) > 0.8 * 5e6 * 1.5, "the other flow has the link");
    }
}

#[test]
fn a_good_stack_runs_to_the_end() {
    let s = beside(&GOOD);
    let run = run(&s);
    assert!(run.broken.is_empty() && run.notes.is_empty(), "{:?}", run.notes);
    // A datagram of 1028 bytes per 10 ms, over two seconds.
    let sent = bits_of(Metric::SendingRate, &run, &s, 0, 1.0);
    assert!((0.99..1.01).contains(&(sent / (200.0 * 1028.0 * 8.0))), "{sent} bit");
}

#[test]
fn it_spins() {
    is_said(
        &SPIN,
        "1.000000 s: the sending end asks to be woken at once, after 1000 wake-ups at one time",
    );
}

#[test]
fn it_creeps() {
    is_said(
        &CREEP,
        "1.001000 s: the sending end was woken 1000000 times without a datagram in or out",
    );
}

/// A claim is refused if less was sent than the transfer has. Streams without an end are not asked.
#[test]
fn it_claims_an_acknowledgement_of_what_it_did_not_send() {
    let mut s = beside(&CLAIM);
    assert!(run(&s).broken.is_empty());
    s.flows[0].demand = Demand::Size(Bytes::new(1_000_000));
    let run = run(&s);
    let texts: Vec<_> = run.broken.iter().map(|broken| broken.text(&s)).collect();
    let said = "the connection of flow toy.0 broke off at 0.000000 s: the sending end says that a \
                transfer is acknowledged, of which 0 of 1000500 bytes were sent";
    assert_eq!(texts, [said]);
    let mut transfers = run.transfers.iter().filter(|transfer| transfer.flow == 0);
    assert!(transfers.all(|transfer| transfer.duration.is_nan()), "none is done");
}

/// A client that downloads asks before the server sends.
#[test]
fn the_receiving_end_may_send_first() {
    #[derive(Default)]
    struct End {
        is_client: bool,
        queued: u64,
    }
    impl Carried for End {
        fn receive(&mut self, _: &[u8], _: u8, _: Time) -> bool {
            self.queued += u64::from(!self.is_client);
            true
        }
        fn poll(&mut self, _: Time) -> Option<Datagram> {
            self.queued = self.queued.checked_sub(1)?;
            Some(Datagram { payload: vec![0; 1000], ecn: 0 })
        }
        fn next_wake(&mut self) -> Time {
            Time::MAX
        }
        fn on_wake(&mut self, _: Time) {}
    }
    fn ends() -> Ends {
        [Box::new(End::default()), Box::new(End { is_client: true, queued: 1 })]
    }
    static CLIENT: Stack = Stack {
        name: "client",
        check: |_| Ok(()),
        repeats: |_| Ok(()),
        maker: &Connector(&|_| Ok(ends())),
    };
    let s = beside(&CLIENT);
    let run = run(&s);
    assert!(run.broken.is_empty(), "{:?}", run.notes);
    assert!(bits(&run, &s, 0, 0.0) > 0.0);
}

#[test]
fn it_wakes_in_the_past() {
    is_said(
        &PAST,
        "1.000000 s: the sending end asks to be woken in the past, at 0.500000 s, after 1000",
    );
}

#[test]
fn it_floods_at_one_time() {
    is_said(&FLOOD, "1.000000 s: the sending end sent more than 20000 datagrams within 1 ms");
}

#[test]
fn it_floods_as_time_goes_on() {
    is_said(&STREAM, "the sending end sent more than 20000 datagrams within 1 ms");
}

#[test]
fn its_datagrams_are_too_large() {
    is_said(
        &LARGE,
        "1.000000 s: the sending end sent a datagram of 1473 bytes, where packets of 1.5 KB take 1472 at most",
    );
}

#[test]
fn its_datagrams_are_empty() {
    is_said(&EMPTY, "1.000000 s: the sending end sent a datagram of 0 bytes");
}

#[test]
fn its_datagrams_have_no_such_codepoint() {
    is_said(
        &CODEPOINT,
        "1.000000 s: the sending end sent a datagram with the ECN codepoint 4, of 0 to 3",
    );
}

#[test]
fn it_panics() {
    is_said(&POLL, "1.000000 s: the sending end panicked: no room for 1");
    is_said(&RECEIVE, "s: the receiving end panicked: the receiver understands it");
    is_said(&VIEW, "s: the sending end panicked: no view");
    is_said(&WAKE, "1.000000 s: the sending end panicked: no wake-up");
    is_said(&NEXT, "1.000000 s: the sending end panicked: no next wake-up");
    is_said(&DONE, "1.000000 s: the sending end panicked: never done");
    is_said(&BROKEN, "1.000000 s: the sending end panicked: broken down");
    is_said(&SUPPLY, "0.000000 s: the sending end panicked: no supply");
}

/// The stop of a flow and the end of a run are also calls.
#[test]
fn it_panics_when_it_ends() {
    let mut s = beside(&STOP);
    s.flows[0].stop = Some(Time::ZERO + Duration::from_ms(1500));
    let stopped = run(&s).broken;
    let [stopped] = &stopped[..] else {
        panic!("{stopped:?}");
    };
    let said =
        "the connection of flow toy.0 broke off at 1.500000 s: the sending end panicked: no stop";
    assert_eq!(stopped.text(&s), said);
    let s = beside(&DROP);
    let run = run(&s);
    let texts: Vec<_> = run.broken.iter().map(|broken| broken.text(&s)).collect();
    let said =
        "the connection of flow toy.0 broke off at 3.000000 s: the sending end panicked: no end";
    assert_eq!(texts, [said]);
    assert!(bits(&run, &s, 0, 1.5) > 0.0 && bits(&run, &s, 1, 1.5) > 1e6);
}

/// Decreasing counts do not overflow, not even in the sum of a group.
#[test]
fn its_counts_go_back() {
    let s = beside(&RECOUNT);
    let run = run(&s);
    assert!(run.broken.is_empty(), "{:?}", run.notes);
    let sent_again = run.series(Metric::Retransmissions, Entity::Flow(0)).expect("it is recorded");
    let sum: f64 = sent_again.values.iter().filter(|v| v.is_finite()).sum();
    assert_eq!(sum, (1u64 << 48) as f64);
    assert!(sent_again.values.iter().all(|v| v.is_nan() || *v >= 0.0));
}

#[test]
fn it_closes_its_connection() {
    is_said(&CLOSE, "1.000000 s: the sending end closed: the peer is gone");
}

/// A stack without a connector, and one whose connector fails or panics, break at the start.
#[test]
fn it_has_no_connection() {
    static NONE: Stack = Stack { name: "none", check: |_| Ok(()), repeats: |_| Ok(()), maker: &() };
    static FAILS: Stack = Stack { maker: &Connector(&|_| Err("no certificate".into())), ..NONE };
    static PANICS: Stack = Stack { maker: &Connector(&|_| panic!("no memory")), ..NONE };
    is_said(&NONE, "0.000000 s: the sending end has no connection: none has no connector");
    is_said(&FAILS, "has no connection: no certificate");
    is_said(&PANICS, "has no connection: panicked: no memory");
}

#[test]
fn it_never_sends() {
    struct Mute;
    impl Carried for Mute {
        fn receive(&mut self, _: &[u8], _: u8, _: Time) -> bool {
            true
        }
        fn poll(&mut self, _: Time) -> Option<Datagram> {
            None
        }
        fn next_wake(&mut self) -> Time {
            Time::MAX
        }
        fn on_wake(&mut self, _: Time) {}
    }
    fn mute() -> Ends {
        [Box::new(Mute), Box::new(Mute)]
    }
    static MUTE: Stack = Stack {
        name: "mute",
        check: |_| Ok(()),
        repeats: |_| Ok(()),
        maker: &Connector(&|_| Ok(mute())),
    };
    is_said(
        &MUTE,
        "3.000000 s: the sending end sent nothing, though it has had data since 0.000000 s",
    );
}
