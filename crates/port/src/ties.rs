//! Ties between an arrival and a departure at the same instant.
//!
//! If packets of equal size arrive over lines that are as fast as the port's, arrivals and
//! departures coincide. The order of the two then decides which packet a full queue drops. If
//! departures always came first, a sender at the rate of the line would always find the place that
//! just became free, and other senders would never find one. This is a phase effect [Floyd and
//! Jacobson 1991]. Therefore a coin toss decides whether the place counts as free. The coin is a
//! function of the port's secret and the time, so its result is the same in all forms of a port.

use crate::{Count, Limit};
use accord_units::{Bytes, Time};

/// The last packet that left, and the secret of the coin.
#[derive(Clone, Debug)]
pub(crate) struct Ties {
    secret: u64,
    left_at: Time,
    size: Bytes,
}

impl Ties {
    /// Creates the state before the first departure.
    pub fn new(secret: u64) -> Ties {
        Ties { secret, left_at: Time::ZERO, size: Bytes::ZERO }
    }

    /// Records that a packet leaves.
    #[inline]
    pub fn leave(&mut self, at: Time, size: Bytes) {
        (self.left_at, self.size) = (at, size);
    }

    /// Returns true if a packet of `size` that arrives at `now` fits in addition to the packets
    /// `there`. The packet that left at this very instant still counts if it concerns the arrival
    /// (`concerns`) and the coin decides so.
    #[inline]
    pub fn admits(
        &self,
        limit: &Limit,
        there: Count,
        size: Bytes,
        now: Time,
        concerns: impl Fn() -> bool,
    ) -> bool {
        // Most packets fit even in addition to both.
        if limit.fits(there.packets + 1, there.bytes + self.size.get(), size) {
            return true;
        }
        limit.fits(there.packets, there.bytes, size)
            && !(self.left_at == now
                && self.size > Bytes::ZERO
                && concerns()
                && is_taken(self.secret, now))
    }
}

/// Returns the coin of an instant, by the finaliser of splitmix64.
#[cold]
fn is_taken(secret: u64, now: Time) -> bool {
    let x = secret ^ now.as_ps().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) >> 63 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coin of a port with this secret at the first 32 multiples of a microsecond, computed
    /// independently from the finaliser's definition. It must not change unnoticed between
    /// versions.
    #[test]
    fn the_coin_is_fixed_and_fair() {
        let coin = |secret, n: u64| is_taken(secret, Time::from_ps(n * 1_000_000));
        let bits = (0..32).fold(0u32, |bits, n| bits << 1 | u32::from(coin(7, n)));
        assert_eq!(bits, 0x68c47f0e, "{bits:#x}");
        for secret in 0..4 {
            let taken = (0..10_000).filter(|n| coin(secret, *n)).count();
            // Four standard deviations of a fair coin.
            assert!((4800..=5200).contains(&taken), "{taken}");
            let differ = (0..10_000).filter(|n| coin(secret, *n) != coin(secret + 1, *n));
            assert!((4800..=5200).contains(&differ.count()));
        }
    }

    /// There is no tie before and after the instant at which a place becomes free.
    #[test]
    fn only_the_instant_itself_is_a_tie() {
        let size = Bytes::new(1000);
        let limit = Limit::packets(1);
        let mut lost = 0;
        for n in 1..1000 {
            let at = Time::from_ps(n * 1_000_000);
            let mut ties = Ties::new(3);
            ties.leave(at, size);
            let nothing = Count::default();
            let fits = |now| ties.admits(&limit, nothing, size, now, || true);
            lost += u32::from(!fits(at));
            assert!(fits(Time::from_ps(at.as_ps() + 1)));
            assert!(ties.admits(&limit, nothing, size, at, || false));
        }
        assert!((400..600).contains(&lost), "{lost}");
    }
}
