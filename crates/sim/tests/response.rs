//! The packet engine's transports against closed forms: the response of NewReno to losses, its
//! sawtooth over droptail, the equilibria of Vegas and DCTCP; response_cubic.rs has CUBIC's. The
//! references are formulas of others, not of this workspace; docs/src/validation.md has their
//! statements and the deviations. `--nocapture` prints the figures.

use crate::common::one_link::*;
use crate::common::*;
use accord_family::Raw;
use accord_record::*;
use accord_scenario::*;
use accord_sim::run;

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
/// Avoidance", 1996, have 1.3095/√p packets per round trip for independent losses, windows that are
/// real numbers, and losses that are repaired at once, without a time-out. The constant is
/// √2/E[S^-1/2], S = Σ 4^-k·E_k with exponential E_k of mean 1.
///
/// From below: PFTK takes all packets of a round trip after a lost one for lost, and has the timer
/// run out whenever there are fewer than three duplicates, where limited transmit needs one
/// [RFC 3042].
///
/// Four standard errors are for the seeds.
///
/// Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997, have √(3/2)/√p = 1.22/√p for losses at equal
/// distances. The test prints it as well: it is 6.5 % below the ideal, since losses here are
/// random.
#[test]
fn newrenos_response_to_random_losses_is_between_pftk_and_the_ideal() {
    for (p, rate, access, bits) in [
        (0.0001, "1 Gbps", "10 Gbps", 1e9),
        (0.0003, "1 Gbps", "10 Gbps", 1e9),
        (0.001, "100 Mbps", "1 Gbps", 1e8),
        (0.003, "100 Mbps", "1 Gbps", 1e8),
        (0.01, "100 Mbps", "1 Gbps", 1e8),
        (0.03, "100 Mbps", "1 Gbps", 1e8),
    ] {
        // 2·(20 + 5 + 5) ms, and to send a packet and its acknowledgement.
        let rtt = 0.06 + (8000.0 + 320.0) * (1.0 / bits + 0.2 / bits);
        for sack in [false, true] {
            let params = [("sack", Raw::Flag(sack))];
            let sender = ("newreno", &params[..]);
            let limit = Limit::Packets(10_000);
            let mut s = over_droptail(rate, access, "20 ms", limit, 10, sender, 10.0, 60.0);
            s.links[0].loss = p;
            s.sample = "1 s".parse().unwrap();
            let (rate, error) = packets_a_second(&mut s, 5);
            // The timer of a sender with constant round trips is at its floor.
            let low = pftk(p, rtt, 0.2);
            let high = 1.3095 / p.sqrt() / rtt;
            let mathis = 1.5_f64.sqrt() / p.sqrt() / rtt;
            println!(
                "loss {p}, SACK {sack}: {rate:.1} ± {error:.1} packets a second, {:.3} of PFTK \
                 ({low:.1}), {:.3} of the ideal ({high:.1}), {:.3} ± {:.3} of Mathis' 1.22/√p",
                rate / low,
                rate / high,
                rate / mathis,
                T95 * error / mathis,
            );
            assert!(low - 4.0 * error <= rate && rate <= high + 4.0 * error);
        }
    }
}

/// One flow over droptail with a queue longer than the path. The link is never idle, so the
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
            let mut s =
                over_droptail("10 Mbps", "100 Mbps", "10 ms", queue, 1, sender, 20.0, 1020.0);
            s.sample = "100 ms".parse().unwrap();
            let run = run(&s, &mut Quiet).expect("runs");
            let link = Entity::Link(0);
            let of = |metric| run.mean(metric, link, s.steady).unwrap();
            let c = 1e7 / PACKET;
            // The packets on the wires and in transmission: the data on two access links, and the
            // acknowledgement on these and the bottleneck's reverse link.
            let path = c * (0.04 + 2.0 * (8000.0 + 320.0) * 1e-8 + 320.0 * 1e-7);
            let most = path + limit as f64 + 1.0;
            // One further packet of the window is in service.
            let expected = 7.0 / 9.0 * most - path - 1.0;
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

/// Each flow of Vegas has alpha to beta of its packets queued [Xia05 eq. 9], the packet in service
/// not counted, if it knows its base round-trip time. If alpha equals beta, the window is a packet
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
            let s = over_droptail("10 Mbps", "100 Mbps", "10 ms", limit, flows, sender, 30.0, 90.0);
            let run = run(&s, &mut Quiet).expect("runs");
            let queue = run.mean(Metric::BacklogPackets, Entity::Link(0), s.steady).unwrap();
            let slack = if alpha == beta { 1 } else { 0 };
            let least = (flows * (alpha - slack)) as f64;
            let most = (flows * (beta + slack)) as f64;
            println!("{flows} flows, {alpha} to {beta}: {queue:.2} of {least} to {most} packets");
            assert!(least <= queue && queue <= most);
        }
    }
}

/// DCTCP over a step at K [Alizadeh10 §3.3]: with N flows and W* = (C·RTT + K)/N, α is about √(2/W*),
/// the queue is K + N at most, and swings by ½·√(2N·(C·RTT + K)). The form has flows in step with each
/// other. In the steady state α is the share of packets that are marked. As for a single flow
/// (crates/transport/tests/dctcp.rs), 15 % of α and 2 packets of the longest queue of one flow are
/// allowed; with more, that of flows in step is a bound.
#[test]
fn dctcps_share_of_marks_and_queue_are_those_of_the_paper() {
    for flows in [1, 2, 4] {
        let (k, mut alphas, mut longest, mut means) = (40.0, vec![], 0.0_f64, vec![]);
        for seed in 1..=5 {
            let mut s = scenario(&format!(
                "duration = \"40 s\"\nsteady = [\"20 s\", \"40 s\"]\nsample = \"1 s\"\n\
                 topology.dumbbell = {{ rate = \"100 Mbps\", delay = \"5 ms\", queue = {{ \
                 discipline = \"step\", threshold = \"40 pkt\", limit = \"1000 pkt\" }} }}\n\
                 [flow.f]\ncount = {flows}\nfrom = \"left\"\nto = \"right\"\n\
                 controller = \"dctcp\"\nstart = {{ uniform = [\"0 s\", \"1 s\"] }}\n\
                 packet = \"1000 B\"\n"
            ));
            s.seed = seed;
            let run = run(&s, &mut Quiet).expect("runs");
            let of = |metric| run.mean(metric, Entity::Link(0), s.steady).unwrap();
            assert_eq!(of(Metric::Drops), 0.0);
            alphas.push(of(Metric::Marks) / of(Metric::Arrivals));
            means.push(of(Metric::BacklogPackets));
            longest = longest.max(of(Metric::BacklogPacketsMax));
        }
        let n = flows as f64;
        // 10 ms plus the time to send a packet and its acknowledgement.
        let product = 1e8 / PACKET * (0.01 + 8320.0 * 1e-8);
        let w = (product + k) / n;
        let expected = (2.0 / w).sqrt();
        let alpha = mean(alphas.iter().copied());
        let spread = mean(alphas.iter().map(|a| (a - alpha).powi(2))) / 4.0;
        let queue = mean(means.iter().copied());
        let swing = 0.5 * (2.0 * n * (product + k)).sqrt();
        println!(
            "{flows} flows: α {alpha:.4} ± {:.4}, by the form {expected:.4} ({:.3}); queue {queue:.1} \
             packets on average, {longest} at most, by the form {:.1} and {:.1}",
            T95 * spread.sqrt(),
            alpha / expected,
            k + n - swing / 2.0,
            k + n
        );
        assert!((alpha / expected - 1.0).abs() < 0.15);
        assert!(longest <= k + n + 2.0);
        if flows == 1 {
            assert!(longest >= k + n - 2.0);
        }
    }
}
