//! Proportional Rate Reduction [RFC 9937]: the figures of its §8, acknowledgement by acknowledgement.

use crate::hand::*;
use accord_family::Raw;

const RACK: (&str, Raw) = ("rack", Raw::Flag(true));

/// The packets sent for each of these acknowledgements: N for new data, R for repairs, as in the
/// figures; "." for none.
fn sent(hand: &mut Hand, packets: impl IntoIterator<Item = u64>) -> Vec<String> {
    let row = |hand: &mut Hand, number| {
        let high = hand.sent.len() as u64;
        let letter = |n: &u64| if *n < high { 'R' } else { 'N' };
        let letters: String = hand.arrive(number).iter().map(letter).collect();
        if letters.is_empty() { ".".into() } else { letters }
    };
    packets.into_iter().map(|number| row(hand, number)).collect()
}

/// Figure 1: one loss of 20 packets. With RFC 6675 half of the window passes in silence; with PRR
/// every second acknowledgement lets a packet out. Both have the same window after.
///
/// At acknowledgement 19 as much is in flight as the target. The figure sends a packet there and
/// none at 20. The algorithm of §6.2 takes the proportional part only where more is in flight, and
/// so waits for 20. The code follows the algorithm.
#[test]
fn figure_1_a_single_loss() {
    let mut rfc6675 = Hand::new("newreno", 20, &[sack(true)]);
    rfc6675.wait(100);
    let mut row = sent(&mut rfc6675, 1..20);
    rfc6675.wait(100);
    row.extend(sent(&mut rfc6675, 20..22));
    assert_eq!(row.join(" "), "N N R . . . . . . . . . N N N N N N N N N");

    let mut prr = Hand::new("newreno", 20, &[RACK]);
    prr.wait(100);
    let mut row = sent(&mut prr, 1..20);
    prr.wait(100);
    row.extend(sent(&mut prr, 20..22));
    assert_eq!(row.join(" "), "N N R . N . N . N . N . N . N . N . . N N");
    // Acknowledgement 22 ends the episode.
    let last = sent(&mut prr, [0]);
    assert_eq!(last, ["N"]);
    assert_eq!(prr.window(), (10.0, 10.0));
    assert_eq!(prr.sent.len(), 32, "as many as with RFC 6675");
    assert_eq!(sent(&mut rfc6675, [0]), ["N"]);
    assert_eq!(rfc6675.sent.len(), 32);
}

/// Figure 2: 15 losses of 20 packets. RFC 6675 sends a burst of six repairs, PRR one for each
/// acknowledgement. When the repairs arrive, it grows by a packet for each: PRR-SSRB.
#[test]
fn figure_2_a_burst_of_losses() {
    let mut rfc6675 = Hand::new("newreno", 20, &[sack(true)]);
    rfc6675.wait(100);
    let row = sent(&mut rfc6675, 15..20);
    assert_eq!(row.join(" "), "N N RRRRRR R R");

    let mut prr = Hand::new("newreno", 20, &[RACK]);
    prr.wait(100);
    let row = sent(&mut prr, 15..20);
    assert_eq!(row.join(" "), "N N R R R");
    prr.wait(100);
    let row = sent(&mut prr, [20, 21, 0, 1, 2]);
    assert_eq!(row.join(" "), "R R RR RR RR");
    assert_eq!(prr.window(), (10.0, 10.0));
}
