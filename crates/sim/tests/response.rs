//! The packet engine's transports against closed forms: the response of NewReno and CUBIC to
//! losses, the sawtooth over droptail, the equilibria of Vegas. The references are formulas of
//! others, not of this workspace; docs/src/validation.md has what they say and how closely they
//! are met. `--nocapture` prints the figures.
mod common;

use accord_family::Raw;
use accord_record::*;
use accord_scenario::*;
use accord_sim::run;
use common::*;

/// Bits of a packet.
const PACKET: f64 = 8000.0;

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Flows over a droptail queue; access links are ten times as fast, or more.
#[expect(clippy::too_many_arguments, reason = "a table of values in each call")]
fn over_droptail(
    rate: &str,
    access: &str,
    delay: &str,
    limit: Limit,
    flows: usize,
    sender: (&str, &[(&str, Raw)]),
    from: f64,
    until: f64,
) -> Scenario {
    let sender = controller(sender.0, sender.1);
    let queue = discipline("droptail", &[]);
    let duration = format!("{until} s");
    let mut s = Dumbbell::new(rate, delay, queue, limit, &duration)
        .flows(
            "flow",
            flows,
            sender,
            access,
            (5000, 5000),
            ("0 s", None),
            true,
        )
        .0;
    s.links[1].queue.limit = Limit::Unlimited;
    s.steady = window(from, until);
    s
}

/// Goodput of a flow in packets a second over the steady part, the mean of seeds from 1 up, and
/// its standard error.
fn packets_a_second(s: &mut Scenario, seeds: u64) -> (f64, f64) {
    let flows = s.flows.len();
    let rates: Vec<f64> = (1..=seeds)
        .map(|seed| {
            s.seed = seed;
            let run = run(s, &mut Quiet).expect("runs");
            let rate = |f| {
                run.mean(Metric::Goodput, Entity::Flow(f), s.steady)
                    .unwrap()
            };
            mean((0..flows).map(rate)) / PACKET
        })
        .collect();
    let average = mean(rates.iter().copied());
    let variance = mean(rates.iter().map(|r| (r - average).powi(2)));
    (average, (variance / (seeds - 1) as f64).sqrt())
}

/// Packets a second at a loss probability p, round-trip time and time-out in seconds: eq. 30 of
/// Padhye, Firoiu, Towsley and Kurose, "Modeling TCP Throughput", SIGCOMM 1998, with an
/// acknowledgement for each packet (b = 1) and no limit of the window.
fn pftk(p: f64, rtt: f64, timeout: f64) -> f64 {
    let w = 1.0 + (8.0 * (1.0 - p) / (3.0 * p) + 1.0).sqrt();
    let kept = |n: f64| (1.0 - p).powf(n);
    let q = (1.0 - kept(3.0)) * (1.0 + kept(3.0) * (1.0 - kept(w - 3.0))) / (1.0 - kept(w));
    let q = q.min(1.0);
    let g = 1.0 + (0..6).map(|i| p * (2.0 * p).powi(i)).sum::<f64>();
    ((1.0 - p) / p + w + q / (1.0 - p)) / (rtt * (w / 2.0 + 1.0) + q * g * timeout / (1.0 - p))
}

/// Random losses, between two formulas.
///
/// From above: Ott, Kemperman and Mathis, "The Stationary Behavior of Ideal TCP Congestion
/// Avoidance", 1996, have 1.3095/√p packets a round trip for independent losses, windows that are
/// real numbers, and losses that are repaired at once, without a time-out. The constant is
/// √2/E[S^-1/2], S = Σ 4^-k·E_k with exponential E_k of mean 1.
///
/// From below: PFTK takes all packets of a round trip after a lost one for lost, and has the timer
/// run out whenever there are fewer than three duplicates, where limited transmit needs one
/// [RFC 3042].
///
/// Four standard errors are for the seeds.
#[test]
fn newrenos_response_to_random_losses_is_between_pftk_and_the_ideal() {
    // 2·(20 + 5 + 5) ms, and to send a packet and its acknowledgement.
    let rtt = 0.06 + (8000.0 + 320.0) * (1e-8 + 2e-9);
    for p in [0.001, 0.003, 0.01, 0.03] {
        for sack in [false, true] {
            let params = [("sack", Raw::Flag(sack))];
            let sender = ("newreno", &params[..]);
            let limit = Limit::Packets(10_000);
            let mut s = over_droptail("100 Mbps", "1 Gbps", "20 ms", limit, 10, sender, 10.0, 60.0);
            s.links[0].loss = p;
            s.sample = "1 s".parse().unwrap();
            let (rate, error) = packets_a_second(&mut s, 5);
            // The timer of a sender whose round trips are all alike is at its floor.
            let low = pftk(p, rtt, 0.2);
            let high = 1.3095 / p.sqrt() / rtt;
            println!(
                "loss {p}, SACK {sack}: {rate:.1} ± {error:.1} packets a second, {:.3} of PFTK \
                 ({low:.1}), {:.3} of the ideal ({high:.1})",
                rate / low,
                rate / high
            );
            assert!(low - 4.0 * error <= rate && rate <= high + 4.0 * error);
        }
    }
}

/// One flow over droptail with a queue longer than the path. The link is never idle, so that the
/// window W grows by a packet in each W/C, from half of the window W* that overflows path and
/// queue. So it takes 3·W*²/(8·C) to come back to it, and the mean window is 7/9·W*, of which the
/// path holds its part. The recovery of the one packet lost takes a round trip, W*/C, in which the
/// window does not grow. The form takes W for a real number, which is one packet of W*/2, and a
/// run of 1000 s has a loss more or less.
#[test]
fn newrenos_sawtooth_over_droptail_is_the_closed_form() {
    for sack in [false, true] {
        for limit in [60, 100] {
            let params = [("sack", Raw::Flag(sack))];
            let sender = ("newreno", &params[..]);
            let queue = Limit::Packets(limit);
            let mut s = over_droptail(
                "10 Mbps", "100 Mbps", "10 ms", queue, 1, sender, 20.0, 1020.0,
            );
            s.sample = "100 ms".parse().unwrap();
            let run = run(&s, &mut Quiet).expect("runs");
            let link = Entity::Link(0);
            let of = |metric| run.mean(metric, link, s.steady).unwrap();
            let c = 1e7 / PACKET;
            // On the wires, and being sent: the packet by two access links, its acknowledgement
            // by these and the bottleneck's way back.
            let path = c * (0.04 + 2.0 * (8000.0 + 320.0) * 1e-8 + 320.0 * 1e-7);
            let most = path + limit as f64 + 1.0;
            let expected = 7.0 / 9.0 * most - path;
            let period = 3.0 * most * most / (8.0 * c) + most / c;
            let measured = 1000.0 / of(Metric::Drops);
            let queue = of(Metric::BacklogPackets);
            println!(
                "SACK {sack}, limit {limit}: queue {queue:.2}, by the form {expected:.2}; period \
                 {measured:.3} s, by the form {period:.3} s"
            );
            assert_eq!(of(Metric::Utilisation), 1.0);
            let allowed = 2.0 / most;
            assert!((measured / period - 1.0).abs() < allowed + period / 1000.0);
            assert!((queue - expected).abs() < 1.0);
        }
    }
}

/// RFC 9438 §5.1: in its cubic region, with a loss after each 1/p packets, CUBIC's window is
/// (C·(3 + β)/(4·(1 − β)))^(1/4)·(RTT/p)^(3/4) in the mean. One flow over a queue much shorter
/// than the path loses at equal distances, and its round-trip time is nearly constant. The time
/// from one loss to the next is K of eq. 2. A loss more or less of about fifty makes 1.5 % of the
/// window and 2 % of the time; a loss is answered a round trip after it happened, 0.1 s of 8.
#[test]
fn cubics_response_is_that_of_rfc_9438() {
    for rate in [50.0, 100.0] {
        let params = [("fast_convergence", Raw::Flag(false))];
        let sender = ("cubic", &params[..]);
        let limit = Limit::Packets(20);
        let bottleneck = format!("{rate} Mbps");
        let mut s = over_droptail(
            &bottleneck,
            "1 Gbps",
            "40 ms",
            limit,
            1,
            sender,
            60.0,
            460.0,
        );
        s.sample = "100 ms".parse().unwrap();
        let run = run(&s, &mut Quiet).expect("runs");
        let of = |metric| run.mean(metric, Entity::Flow(0), s.steady).unwrap();
        let packets = of(Metric::Goodput) / PACKET * 400.0;
        let losses = run.mean(Metric::Drops, Entity::Link(0), s.steady).unwrap();
        let (c, beta, rtt) = (0.4_f64, 0.7, of(Metric::Rtt));
        let slope = (c * (3.0 + beta) / (4.0 * (1.0 - beta))).powf(0.25);
        let expected = slope * (rtt * packets / losses).powf(0.75);
        let window = of(Metric::Cwnd) / 1000.0;
        // The path and the queue hold this window at most.
        let most = rate * 1e6 / PACKET * 0.1 + 20.0;
        let k = (most * (1.0 - beta) / c).cbrt();
        let period = 400.0 / losses;
        println!(
            "{rate} Mbps: window {window:.1}, by the RFC {expected:.1}; {period:.2} s from loss to \
             loss, K {k:.2} s"
        );
        assert!((window / expected - 1.0).abs() < 0.03);
        assert!((period / k - 1.0).abs() < 0.04);
    }
}

/// Each flow of Vegas has alpha to beta of its packets queued [Xia05 eq. 9], beside the packet in
/// service, if it knows its base round-trip time. Where they are equal, the window is a packet
/// above or below, since it is in whole packets.
#[test]
fn vegas_queues_between_alpha_and_beta() {
    for flows in [1, 10] {
        for (alpha, beta) in [(1, 3), (2, 2), (4, 6)] {
            let params = [
                ("alpha", text(&format!("{alpha} pkt"))),
                ("beta", text(&format!("{beta} pkt"))),
                ("base_rtt", text("known")),
            ];
            let sender = ("vegas", &params[..]);
            let limit = Limit::Packets(200);
            let s = over_droptail(
                "10 Mbps", "100 Mbps", "10 ms", limit, flows, sender, 30.0, 90.0,
            );
            let run = run(&s, &mut Quiet).expect("runs");
            let queue = run
                .mean(Metric::BacklogPackets, Entity::Link(0), s.steady)
                .unwrap();
            let slack = if alpha == beta { 1 } else { 0 };
            let least = (flows * (alpha - slack) + 1) as f64;
            let most = (flows * (beta + slack) + 1) as f64;
            println!("{flows} flows, {alpha} to {beta}: {queue:.2} of {least} to {most} packets");
            assert!(least <= queue && queue <= most);
        }
    }
}
