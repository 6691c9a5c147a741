//! Lines and token buckets to the picosecond, in fractions that do not divide.

use accord_port::{Bucket, Service};
use accord_units::{Bytes, Duration, Rate, Time};

const PACKET: Bytes = Bytes::new(1);

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn bps(bps: u64) -> Rate {
    Rate::from_bps(bps)
}

/// After 100 ms at 7 bit/s, 7.3 of the first 8 bits are left. They and the next 8 take 5.1 s at 3
/// bit/s, though neither takes a whole number of picoseconds.
#[test]
fn the_fraction_of_the_packet_in_service_outlives_a_change_of_the_rate() {
    let mut line = Service::new(bps(7));
    line.send(Time::ZERO, PACKET);
    line.set_rate(ms(100), bps(3));
    assert_eq!(line.busy_until(), Time::from_ps(2_533_333_333_333));
    assert_eq!(line.send(ms(200), PACKET), ms(5200));
}

/// After a second at 3 bit/s, 5 bits are left. With 16 more they take 3.5 s at 6 bit/s. The end at
/// the old rate is 2/3 ps after the picosecond that is stored.
#[test]
fn the_fraction_owed_counts_at_a_change_of_the_rate() {
    let mut line = Service::new(bps(3));
    let end = line.send(Time::ZERO, PACKET);
    assert_eq!(end, Time::from_ps(2_666_666_666_666));
    line.set_rate(ms(1000), bps(6));
    assert_eq!(line.busy_until(), Time::from_ps(1_833_333_333_333));
    line.send(ms(1100), PACKET);
    assert_eq!(line.send(ms(1100), PACKET), ms(4500));
}

/// The same with a stop: the rest of the packet in service goes on later, and packets offered
/// during the stop follow.
#[test]
fn a_rest_keeps_what_is_left_of_a_packet() {
    let mut line = Service::new(bps(3));
    line.send(Time::ZERO, PACKET);
    line.set_rate(ms(1000), Rate::ZERO);
    assert_eq!((line.rate(), line.nominal_rate()), (Rate::ZERO, bps(3)));
    assert_eq!(line.busy_until(), Time::MAX);
    assert_eq!(line.unsent(ms(5000)), 5.0 / 8.0);
    assert_eq!(line.send(ms(5000), PACKET), Time::MAX);
    assert_eq!(line.unsent(ms(5000)), 13.0 / 8.0);
    // 13 bits at 4 bit/s.
    line.set_rate(ms(9000), bps(4));
    assert_eq!((line.rate(), line.busy_until()), (bps(4), ms(12_250)));
    // An idle line that is stopped is free, and is free when it goes on.
    let mut line = Service::new(bps(8));
    line.send(Time::ZERO, PACKET);
    line.set_rate(ms(2000), Rate::ZERO);
    assert_eq!(line.busy_until(), ms(1000));
    line.set_rate(ms(3000), bps(8));
    assert_eq!(line.send(ms(3500), PACKET), ms(4500));
}

/// A packet whose service ends now has left: a change of the rate at that instant leaves nothing to
/// send.
#[test]
fn a_change_of_the_rate_at_the_end_of_a_packet_costs_it_nothing() {
    let mut line = Service::new(bps(8));
    line.send(Time::ZERO, PACKET);
    line.set_rate(ms(1000), bps(16));
    assert_eq!(line.busy_until(), ms(1000));
    assert_eq!(line.send(ms(1000), PACKET), ms(1500));
    // Half a packet, in bytes.
    assert_eq!(line.unsent(ms(1250)), 0.5);
    assert_eq!(line.unsent(ms(1500)), 0.0);
}

/// A line that was idle carries no fraction over: a packet takes its time rounded down.
#[test]
fn an_idle_line_owes_nothing() {
    let mut line = Service::new(bps(3));
    line.send(Time::ZERO, PACKET);
    let end = line.send(ms(3000), PACKET);
    assert_eq!(end.since(ms(3000)), Duration::from_ps(2_666_666_666_666));
    assert_eq!(line.send(ms(3000), PACKET).since(ms(3000)), Duration::from_ps(5_333_333_333_333));
    assert_eq!(line.send(ms(3000), PACKET), ms(11_000));
}

/// Nor does a change of its rate: the fraction of the last packet is not sent again. At 3 bit/s 2/3 ps
/// are left of it, at 2 bit/s a whole one.
#[test]
fn an_idle_line_owes_nothing_at_a_change_of_the_rate() {
    let mut line = Service::new(bps(3));
    line.send(Time::ZERO, PACKET);
    line.set_rate(ms(3000), bps(2));
    assert_eq!(line.send(ms(3000), PACKET), ms(7000));
}

/// A packet larger than a shaper's bucket leaves when the bucket is full. The next packet waits for the
/// tokens that it lacked, so the shaper keeps its rate.
#[test]
fn a_packet_larger_than_the_bucket_takes_tokens_to_come() {
    // A byte a millisecond.
    let mut bucket = Bucket::new(bps(8000), Bytes::new(1000));
    let mut wait = |at: u64, size: u64| bucket.wait(ms(at), Bytes::new(size));
    assert_eq!(wait(0, 2500), ms(0));
    assert_eq!(wait(0, 400), ms(1900));
    assert_eq!(wait(2000, 1001), ms(2900));
    assert_eq!(wait(2900, 1000), ms(3901));
    // The bucket is no fuller after a long time.
    assert_eq!(wait(9000, 5000), ms(9000));
    assert_eq!(wait(9000, 1), ms(13_001));
}

/// A policer never has the tokens for such a packet, and loses none to it.
#[test]
fn a_policer_passes_no_packet_larger_than_its_bucket() {
    let mut bucket = Bucket::new(bps(8000), Bytes::new(1000));
    assert!(!bucket.take(ms(0), Bytes::new(1001)));
    assert!(!bucket.take(ms(50_000), Bytes::new(1001)));
    assert!(bucket.take(ms(50_000), Bytes::new(1000)));
}

/// A line with a bucket sends packets at its own rate once they have tokens: the packets of a burst
/// follow each other, and a packet that waits for tokens begins when they are there.
#[test]
fn a_shaped_line_begins_a_packet_when_its_tokens_are_there() {
    // A byte takes 1 ms on the line, and 4 ms in the bucket.
    let bucket = Bucket::new(bps(2000), Bytes::new(200));
    let mut line = Service::shaped(bps(8000), bucket);
    let size = Bytes::new(100);
    assert_eq!(line.send(ms(0), size), ms(100));
    assert_eq!(line.send(ms(0), size), ms(200));
    // After 200 ms the bucket has 25 of the third packet's 100 bytes again by 100 ms, and 50 by 200 ms.
    assert_eq!(line.send(ms(0), size), ms(500));
    assert_eq!(line.rate(), bps(8000));
    // The bucket serves the queue, unless the line is slower.
    assert_eq!(line.sustained_rate(), bps(2000));
    let slow = Service::shaped(bps(1000), Bucket::new(bps(2000), Bytes::new(200)));
    assert_eq!(slow.sustained_rate(), bps(1000));
    // The line keeps its rate.
    line.set_rate(ms(500), bps(1));
    assert_eq!(line.rate(), bps(8000));
    // 25 bytes at 500 ms, all of 200 at 1200 ms.
    assert_eq!(line.send(ms(2000), size), ms(2100));
    assert_eq!(line.unsent(ms(2050)), 50.0);
}
