//! The limit of handshakes per address, for senders that have proved with a cookie that they receive there.
//!
//! Each handshake costs curve operations in the packet thread. A cookie keeps away only forged
//! addresses. The numbers are those of wireguard-go (`ratelimiter.go`).

use accord_units::Time;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

/// The handshakes per second of an address, and the number that it may make at once.
const RATE: f64 = 20.0;
const BURST: f64 = 5.0;
/// The maximum number of addresses with a bucket. Handshakes of further addresses are rejected until there is
/// room.
const MOST: usize = 4096;

/// A token bucket per IPv4 address, and per /64 network of IPv6, which is a single site.
#[derive(Debug, Default)]
pub struct Buckets(BTreeMap<IpAddr, Bucket>);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Time,
}

impl Bucket {
    fn tokens(&self, now: Time) -> f64 {
        (self.tokens + RATE * now.since(self.at).as_secs_f64()).min(BURST)
    }
}

impl Buckets {
    /// Returns whether a handshake from this address may be answered, and if so takes a token.
    pub fn allows(&mut self, from: IpAddr, now: Time) -> bool {
        let key = match from {
            IpAddr::V4(_) => from,
            IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        };
        if self.0.len() >= MOST && !self.0.contains_key(&key) {
            // A full bucket is equivalent to none.
            self.0.retain(|_, bucket| bucket.tokens(now) < BURST);
            if self.0.len() >= MOST {
                return false;
            }
        }
        let bucket = self.0.entry(key).or_insert(Bucket { tokens: BURST, at: now });
        *bucket = Bucket { tokens: bucket.tokens(now), at: now };
        let allowed = bucket.tokens >= 1.0;
        if allowed {
            bucket.tokens -= 1.0;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_units::Duration;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// An hour of a flood has the burst and then 20 per second. Another address has its own.
    #[test]
    fn an_address_has_its_rate() {
        let mut buckets = Buckets::default();
        let attacker = address("192.0.2.1");
        let passed = (0..3_600_000).filter(|ms| buckets.allows(attacker, at(*ms))).count();
        assert!((72_000..=72_005).contains(&passed), "{passed}");
        assert!(buckets.allows(address("192.0.2.2"), at(3_600_000)));
    }

    /// Addresses in the same /64 network count as one sender.
    #[test]
    fn a_network_of_ipv6_is_one_sender() {
        let mut buckets = Buckets::default();
        let of = |last: u16| address(&format!("2001:db8:0:1::{last:x}"));
        assert_eq!((0..100).filter(|last| buckets.allows(of(*last), at(0))).count(), 5);
        assert!(buckets.allows(address("2001:db8:0:2::1"), at(0)));
    }

    /// The memory is bounded, and buckets that have refilled make room.
    #[test]
    fn the_number_of_buckets_is_bounded() {
        let mut buckets = Buckets::default();
        let of = |n: u32| IpAddr::from(n.to_be_bytes());
        let passed = (0..10_000).filter(|n| buckets.allows(of(*n), at(0))).count();
        assert_eq!((passed, buckets.0.len()), (MOST, MOST));
        assert!(buckets.allows(of(9_999), at(100)));
        assert!(buckets.0.len() < 10);
    }
}
