//! A stack in a live run: the same functions, called in real time.
#![cfg(target_os = "linux")]

use accord_net::{Carried, Datagram, Duration, Ends, Error, Setup, Time, network};

/// An end that sends a datagram of 100 bytes every 10 ms. The receiving end sends nothing.
struct Clock(Time);

impl Carried for Clock {
    fn supply(&mut self, _: u64, _: bool, now: Time) {
        self.0 = now;
    }
    fn receive(&mut self, _: &[u8], _: u8, _: Time) -> bool {
        true
    }
    fn poll(&mut self, now: Time) -> Option<Datagram> {
        (self.0 <= now).then(|| {
            self.0 = now + Duration::from_ms(10);
            Datagram { payload: vec![0; 100], ecn: 0 }
        })
    }
    fn next_wake(&mut self) -> Time {
        self.0
    }
    fn on_wake(&mut self, _: Time) {}
}

fn connect(setup: &Setup<'_>) -> Result<Ends, String> {
    assert_eq!(setup.seed, None, "real packets have no seed");
    Ok([Box::new(Clock(Time::MAX)), Box::new(Clock(Time::MAX))])
}

/// A busy machine has no verdict.
#[test]
fn a_stack_runs_live_and_its_expectations_are_those_of_the_engine() -> Result<(), Error> {
    let text = r#"
        duration = "1 s"
        topology.dumbbell = { rate = "10 Mbps", delay = "5 ms" }
        flow.mine = { from = "left", to = "right", controller = "newreno", packet = "1500 B" }
        [[expect]]
        name = "it sends something"
        metric = "sending_rate"
        of = "mine"
        engine = "live"
        at_least = "1 kbps"
    "#;
    let outcome = network(text).carry("mine", connect).live().run()?;
    assert!(outcome.mean(0, "sending_rate", "mine").is_some_and(|rate| rate > 0.0));
    assert_eq!(outcome.mean(1, "sending_rate", "mine"), None);
    match outcome.verdict() {
        Ok(()) | Err(Error::Late(..)) => {}
        Err(e) => panic!("{e}"),
    }
    // In packets there is nothing to judge then.
    let ends = |_: &Setup<'_>| {
        Ok::<Ends, String>([Box::new(Clock(Time::MAX)), Box::new(Clock(Time::MAX))])
    };
    let packets = network(text).carry("mine", ends).run()?.verdict();
    let said = packets.unwrap_err().to_string();
    assert!(said.contains("has no expectation of the packet engine"), "{said}");
    Ok(())
}
