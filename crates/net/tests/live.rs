//! A stack in a live run: the same functions, called in real time.
#![cfg(target_os = "linux")]

use accord_net::{Carried, Datagram, Duration, Ends, Error, Setup, Time, network};
use std::io::Write;

/// An end that sends a datagram of 100 bytes every 10 ms, unless it gives up. The receiving end sends nothing.
struct Clock {
    next: Time,
    gives_up: bool,
}

/// Returns a connection whose sending end may give up.
fn ends(gives_up: bool) -> Ends {
    let end = |gives_up| Box::new(Clock { next: Time::MAX, gives_up });
    [end(gives_up), end(false)]
}

impl Carried for Clock {
    fn supply(&mut self, _: u64, _: bool, now: Time) {
        self.next = now;
    }
    fn receive(&mut self, _: &[u8], _: u8, _: Time) -> bool {
        true
    }
    fn poll(&mut self, now: Time) -> Option<Datagram> {
        (self.next <= now).then(|| {
            self.next = now + Duration::from_ms(10);
            Datagram { payload: vec![0; 100], ecn: 0 }
        })
    }
    fn next_wake(&mut self) -> Time {
        self.next
    }
    fn on_wake(&mut self, _: Time) {}
    fn broken(&self) -> Option<String> {
        self.gives_up.then(|| "gave up".into())
    }
}

fn connect(setup: &Setup<'_>) -> Result<Ends, String> {
    assert_eq!(setup.seed, None, "real packets have no seed");
    Ok(ends(false))
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
    let connect = |_: &Setup<'_>| Ok(ends(false));
    let packets = network(text).carry("mine", connect).run()?.verdict();
    let said = packets.unwrap_err().to_string();
    assert!(said.contains("has no expectation of the packet engine"), "{said}");
    Ok(())
}

/// A live run cannot be repeated, so its logs are kept from the start.
#[test]
fn the_logs_of_a_live_run_are_kept() -> Result<(), Error> {
    let text = r#"
        duration = "500 ms"
        topology.dumbbell = { rate = "10 Mbps", delay = "5 ms" }
        flow.mine = { from = "left", to = "right", controller = "newreno", packet = "1500 B" }
    "#;
    let connect = |setup: &Setup<'_>| {
        let [sender, _] = setup.logs.ok_or("there are no logs")?;
        sender.clone().write_all(b"hello\n").map_err(|e| e.to_string())?;
        Ok(ends(true))
    };
    let folder = tempfile::tempdir().expect("a place for temporary files");
    let net = network(text).folder(folder.path()).carry("mine", connect);
    let Err(Error::Failed(failed)) = net.live().run()?.verdict() else {
        panic!("the connection broke");
    };
    assert!(failed.faults[0].text.ends_with("gave up"), "{failed}");
    let [log] = &failed.logs.clone().expect("they are written")[..] else {
        panic!("one end wrote: {failed}");
    };
    assert_eq!(std::fs::read_to_string(log).expect("a log"), "hello\n");
    Ok(())
}
