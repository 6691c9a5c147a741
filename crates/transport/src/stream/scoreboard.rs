//! What a sender knows of the packets in flight beyond the first gap [RFC 6675].

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Sent, nothing known.
    Out,
    /// Arrived.
    Sacked,
    /// Taken for lost, not sent again yet.
    Lost,
    /// Sent again.
    Again,
}

/// States of the packets from the first unacknowledged one on. Empty, and free, as long as
/// nothing is out of order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    states: VecDeque<State>,
    sacked: u64,
    lost: u64,
}

/// A packet is lost once this many later ones have arrived [RFC 6675 §4].
const DUP_THRESH: u64 = 3;

impl Scoreboard {
    /// Packets that arrived beyond a gap.
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Packets taken for lost and not sent again yet.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The first `n` packets are acknowledged. Gives how many of them had not been sacked.
    #[inline]
    pub fn acknowledge(&mut self, n: u64) -> u64 {
        if self.states.is_empty() {
            return n;
        }
        let mut new = n;
        for _ in 0..n {
            match self.states.pop_front() {
                Some(State::Sacked) => {
                    self.sacked -= 1;
                    new -= 1;
                }
                Some(State::Lost) => self.lost -= 1,
                Some(_) => {}
                None => break,
            }
        }
        new
    }

    /// Packets `from..to`, counted from the first unacknowledged one, arrived. Gives how
    /// many of them are news.
    pub fn sack(&mut self, from: u64, to: u64) -> u64 {
        if (self.states.len() as u64) < to {
            self.states.resize(to as usize, State::Out);
        }
        let mut new = 0;
        for state in self.states.range_mut(from as usize..to as usize) {
            match state {
                State::Sacked => continue,
                State::Lost => self.lost -= 1,
                State::Out | State::Again => {}
            }
            *state = State::Sacked;
            new += 1;
        }
        self.sacked += new;
        new
    }

    /// Takes for lost what has three arrived packets above it. Gives whether anything was.
    pub fn find_losses(&mut self) -> bool {
        let mut above = self.sacked;
        let mut found = false;
        for state in &mut self.states {
            if above < DUP_THRESH {
                break;
            }
            match state {
                State::Sacked => above -= 1,
                State::Out => {
                    *state = State::Lost;
                    self.lost += 1;
                    found = true;
                }
                State::Lost | State::Again => {}
            }
        }
        found
    }

    /// Takes the first packet for lost, whatever is known of it, unless it is already.
    pub fn lose_first(&mut self) {
        if self.states.is_empty() {
            self.states.push_back(State::Out);
        }
        if !matches!(self.states[0], State::Lost | State::Sacked) {
            self.states[0] = State::Lost;
            self.lost += 1;
        }
    }

    /// The first packet to send again, counted from the first unacknowledged one, which
    /// then counts as sent again.
    pub fn take_lost(&mut self) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        let i = self.states.iter().position(|s| *s == State::Lost)?;
        self.states[i] = State::Again;
        self.lost -= 1;
        Some(i as u64)
    }

    /// Takes for lost all of the first `n` packets that are not known to have arrived, as
    /// after a time-out [RFC 6675 §5.1].
    pub fn lose_all(&mut self, n: u64) {
        self.states.resize(n as usize, State::Out);
        for state in &mut self.states {
            if *state != State::Sacked {
                *state = State::Lost;
            }
        }
        self.lost = n - self.sacked;
    }
}
