//! A sender's knowledge of the packets in flight beyond the first gap [RFC 6675].

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Sent, with unknown fate.
    Out,
    /// Arrived.
    Sacked,
    /// Presumed lost, and not yet sent again.
    Lost,
    /// Sent again, and the first transmission is lost.
    Again,
    /// Sent again although the first transmission may still arrive, so two are in flight.
    Twice,
}

/// The scoreboard of a sender, absent before the first loss.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board(Option<Box<Scoreboard>>);

static EMPTY: Scoreboard = Scoreboard {
    states: VecDeque::new(),
    sacked: 0,
    lost: 0,
    twice: 0,
    known: Searched {
        base: 0,
        again: 0,
        blocks: VecDeque::new(),
        losses: 0,
        doubts: 0,
        repairs: 0,
    },
};

impl Deref for Board {
    type Target = Scoreboard;

    #[inline]
    fn deref(&self) -> &Scoreboard {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl DerefMut for Board {
    fn deref_mut(&mut self) -> &mut Scoreboard {
        self.0.get_or_insert_default()
    }
}

impl Board {
    /// Handles an acknowledgement as [`Scoreboard::acknowledge`] does.
    #[inline]
    pub fn acknowledge(&mut self, n: u64) -> u64 {
        self.0.as_mut().map_or(n, |board| board.acknowledge(n))
    }

    /// Takes a lost packet as [`Scoreboard::take_lost`] does.
    #[inline]
    pub fn take_lost(&mut self) -> Option<u64> {
        self.0.as_mut()?.take_lost()
    }
}

/// The states of the packets from the first unacknowledged one on. The scoreboard is empty and
/// costs nothing while all packets are in order.
///
/// No packet is examined twice (see [`Searched`]), because a scan of thousands of packets on each
/// duplicate acknowledgement would be slow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    states: VecDeque<State>,
    sacked: u64,
    lost: u64,
    twice: u64,
    known: Searched,
}

/// The results of earlier searches: the blocks that arrived, and the ends of the ranges that were
/// searched.
#[derive(Clone, Debug, Default)]
struct Searched {
    /// The number of the first state. It does not advance while there are no states. The numbers
    /// below count from the same base.
    base: u64,
    /// The number of packets that are `Again`.
    again: u64,
    /// The blocks that arrived beyond a gap, as half-open ranges, in order and disjoint.
    blocks: VecDeque<(u64, u64)>,
    /// No packet below this number is `Out` or `Twice`.
    losses: u64,
    /// No packet below this number is `Out`.
    doubts: u64,
    /// No packet below this number is `Lost`.
    repairs: u64,
}

/// A packet is lost once this many later ones have arrived [RFC 6675 §4].
const DUP_THRESH: u64 = 3;

impl Scoreboard {
    /// The number of packets that arrived beyond a gap.
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// The number of packets presumed lost and not yet sent again.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The number of packets that are in flight twice.
    #[inline]
    pub fn twice(&self) -> u64 {
        self.twice
    }

    /// Returns true if all packets are in order.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns true if a packet was lost that is not known to have arrived since.
    pub fn has_losses(&self) -> bool {
        self.lost + self.known.again > 0
    }

    /// Returns true if a repair is in flight.
    pub fn has_repairs(&self) -> bool {
        self.known.again > 0
    }

    /// Returns true if the first packet is presumed lost and not yet sent again.
    pub fn first_is_lost(&self) -> bool {
        self.states.front() == Some(&State::Lost)
    }

    /// Returns true if the first packet was lost and sent again.
    pub fn first_was_repaired(&self) -> bool {
        self.states.front() == Some(&State::Again)
    }

    /// Updates the counts for a packet that leaves this state.
    fn uncount(&mut self, state: State) {
        match state {
            State::Out => {}
            State::Sacked => self.sacked -= 1,
            State::Lost => self.lost -= 1,
            State::Again => self.known.again -= 1,
            State::Twice => self.twice -= 1,
        }
    }

    /// Takes the acknowledgement of the first `n` packets. Returns the number of them that had not
    /// been sacked.
    #[inline]
    pub fn acknowledge(&mut self, n: u64) -> u64 {
        if self.states.is_empty() {
            return n;
        }
        self.known.base += n;
        let mut new = n;
        for _ in 0..n {
            let Some(state) = self.states.pop_front() else {
                break;
            };
            new -= u64::from(state == State::Sacked);
            self.uncount(state);
        }
        let known = &mut self.known;
        while let Some(first) = known.blocks.front_mut() {
            first.0 = first.0.max(known.base);
            if first.0 < first.1 {
                break;
            }
            known.blocks.pop_front();
        }
        new
    }

    /// Takes the arrival of packets `from..to`, counted from the first unacknowledged one. Returns
    /// the number of newly arrived packets, and calls `arrived` with each range of them.
    pub fn sack(&mut self, from: u64, to: u64, mut arrived: impl FnMut(u64, u64)) -> u64 {
        if from >= to {
            return 0;
        }
        if (self.states.len() as u64) < to {
            self.states.resize(to as usize, State::Out);
        }
        let (from, to) = (self.known.base + from, self.known.base + to);
        let first = self.known.blocks.partition_point(|&(_, end)| end < from);
        let (mut merged, mut last, mut next, mut new) = ((from, to), first, from, 0);
        while let Some(&(start, end)) = self.known.blocks.get(last)
            && start <= to
        {
            new += self.arrive(next, start, &mut arrived);
            next = end;
            merged = (merged.0.min(start), merged.1.max(end));
            last += 1;
        }
        new += self.arrive(next, to, &mut arrived);
        if first == last {
            self.known.blocks.insert(first, merged);
        } else {
            self.known.blocks[first] = merged;
            self.known.blocks.drain(first + 1..last);
        }
        self.sacked += new;
        new
    }

    /// Marks packets as arrived. Returns the number of newly arrived ones.
    fn arrive(&mut self, from: u64, to: u64, arrived: &mut impl FnMut(u64, u64)) -> u64 {
        if from >= to {
            return 0;
        }
        let (first, end) = (from - self.known.base, to - self.known.base);
        for i in first as usize..end as usize {
            let state = std::mem::replace(&mut self.states[i], State::Sacked);
            self.uncount(state);
        }
        arrived(first, end);
        to - from
    }

    /// Marks as lost the packets with three arrived packets above them. Returns true if there are
    /// any, and calls `lost` with each, counted from the first unacknowledged one.
    pub fn find_losses(&mut self, mut lost: impl FnMut(u64)) -> bool {
        let mut above = DUP_THRESH;
        let mut end = 0;
        for &(from, to) in self.known.blocks.iter().rev() {
            if to - from >= above {
                end = to - above;
                break;
            }
            above -= to - from;
        }
        let from = self.known.losses.max(self.known.base);
        if end <= from {
            return false;
        }
        self.known.losses = end;
        let mut found = false;
        let range = (from - self.known.base) as usize..(end - self.known.base) as usize;
        for (state, number) in self.states.range_mut(range).zip(from..) {
            match *state {
                State::Out => {
                    *state = State::Lost;
                    self.lost += 1;
                    self.known.repairs = self.known.repairs.min(number);
                }
                State::Twice => {
                    *state = State::Again;
                    self.twice -= 1;
                    self.known.again += 1;
                }
                _ => continue,
            }
            lost(number - self.known.base);
            found = true;
        }
        found
    }

    /// Marks the first packet as lost in any state, unless it is already lost.
    pub fn lose_first(&mut self) {
        if self.states.is_empty() {
            self.states.push_back(State::Out);
        }
        if !matches!(self.states[0], State::Lost | State::Sacked) {
            self.uncount(self.states[0]);
            self.states[0] = State::Lost;
            self.lost += 1;
            self.known.repairs = self.known.base;
        }
    }

    /// Marks packet `i` of `out`, counted from the first unacknowledged one, as lost in any state,
    /// unless it arrived or is already lost.
    pub fn lose(&mut self, i: u64, out: u64) {
        self.reach(out);
        let state = self.states[i as usize];
        if !matches!(state, State::Lost | State::Sacked) {
            self.uncount(state);
            self.states[i as usize] = State::Lost;
            self.lost += 1;
            self.known.repairs = self.known.repairs.min(self.known.base + i);
        }
    }

    /// Marks the last of `out` packets as sent again although the first transmission may still
    /// arrive.
    pub fn repeat_last(&mut self, out: u64) {
        self.reach(out);
        let last = self.states.len() - 1;
        if self.states[last] == State::Out {
            self.states[last] = State::Twice;
            self.twice += 1;
        }
    }

    /// Extends the states to the first `out` packets.
    fn reach(&mut self, out: u64) {
        if (self.states.len() as u64) < out {
            self.states.resize(out as usize, State::Out);
        }
    }

    /// Takes the first packet to send again, counted from the first unacknowledged one, and marks
    /// it as sent again.
    #[inline]
    pub fn take_lost(&mut self) -> Option<u64> {
        match self.lost {
            0 => None,
            _ => self.find_lost(),
        }
    }

    /// The first packet to send again, counted from the first unacknowledged one.
    #[cold]
    pub fn first_lost(&mut self) -> Option<u64> {
        let from = self.known.repairs.saturating_sub(self.known.base) as usize;
        let mut left = self.states.range(from..);
        let i = from + left.position(|s| *s == State::Lost)?;
        self.known.repairs = self.known.base + i as u64;
        Some(i as u64)
    }

    #[cold]
    fn find_lost(&mut self) -> Option<u64> {
        let i = self.first_lost()? as usize;
        self.states[i] = State::Again;
        self.lost -= 1;
        self.known.again += 1;
        self.known.repairs = self.known.base + i as u64 + 1;
        Some(i as u64)
    }

    /// Takes the first packet that is doubtful only because a later one arrived, counted as in
    /// [`Scoreboard::take_lost`], and marks it as sent twice [RFC 6675 §4, NextSeg (3)].
    pub fn take_doubtful(&mut self) -> Option<u64> {
        let (last, _) = *self.known.blocks.back()?;
        let from = self.known.doubts.max(self.known.losses).max(self.known.base);
        let number = (from..last)
            .find(|number| self.states[(number - self.known.base) as usize] == State::Out)?;
        let i = number - self.known.base;
        self.states[i as usize] = State::Twice;
        self.twice += 1;
        self.known.doubts = number + 1;
        Some(i)
    }

    /// Returns the last of `out` packets that is not known to have arrived, counted as in
    /// [`Scoreboard::take_lost`].
    pub fn last_missing(&self, out: u64) -> Option<u64> {
        let end = match self.known.blocks.back() {
            Some(&(from, to)) if to - self.known.base == out => from - self.known.base,
            _ => out,
        };
        end.checked_sub(1)
    }

    /// Unmarks all lost packets. Packets sent again are in flight twice.
    pub fn forgive(&mut self) {
        for state in &mut self.states {
            *state = match *state {
                State::Lost => State::Out,
                State::Again => State::Twice,
                same => same,
            };
        }
        self.twice += std::mem::take(&mut self.known.again);
        self.lost = 0;
        let base = self.known.base;
        (self.known.losses, self.known.doubts) = (base, base);
    }

    /// Marks as lost all of the first `n` packets that are not known to have arrived, as after a
    /// time-out [RFC 6675 §5.1].
    pub fn lose_all(&mut self, n: u64) {
        self.states.resize(n as usize, State::Out);
        for state in &mut self.states {
            if *state != State::Sacked {
                *state = State::Lost;
            }
        }
        self.lost = n - self.sacked;
        (self.known.again, self.twice) = (0, 0);
        self.known.repairs = self.known.base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Operation {
        Send(u64),
        Acknowledge(u64),
        Sack(u64, u64),
        FindLosses,
        LoseFirst,
        TakeLost,
        TakeDoubtful,
        LoseAll,
        Forgive,
    }

    fn any_operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            4 => (0..8u64).prop_map(Operation::Send),
            2 => (0..6u64).prop_map(Operation::Acknowledge),
            6 => (0..40u64, 1..10u64).prop_map(|(from, n)| Operation::Sack(from, n)),
            4 => Just(Operation::FindLosses),
            1 => Just(Operation::LoseFirst),
            6 => Just(Operation::TakeLost),
            3 => Just(Operation::TakeDoubtful),
            1 => Just(Operation::LoseAll),
            1 => Just(Operation::Forgive),
        ]
    }

    fn count(states: &[State], state: State) -> u64 {
        states.iter().filter(|s| **s == state).count() as u64
    }

    /// The literal rules of the RFC, applied to all outstanding packets.
    #[derive(Default)]
    struct Rules(Vec<State>);

    impl Rules {
        fn find_losses(&mut self) -> bool {
            let lost: Vec<usize> = (0..self.0.len())
                .filter(|&i| matches!(self.0[i], State::Out | State::Twice))
                .filter(|&i| count(&self.0[i..], State::Sacked) >= DUP_THRESH)
                .collect();
            for &i in &lost {
                self.0[i] = match self.0[i] {
                    State::Twice => State::Again,
                    _ => State::Lost,
                };
            }
            !lost.is_empty()
        }

        fn sack(&mut self, from: u64, to: u64) -> u64 {
            let range = &mut self.0[from as usize..to as usize];
            let new = range.len() as u64 - count(range, State::Sacked);
            range.fill(State::Sacked);
            new
        }

        fn acknowledge(&mut self, n: u64) -> u64 {
            let gone: Vec<State> = self.0.drain(..n as usize).collect();
            n - count(&gone, State::Sacked)
        }

        fn take_lost(&mut self) -> Option<u64> {
            let i = self.0.iter().position(|s| *s == State::Lost)?;
            self.0[i] = State::Again;
            Some(i as u64)
        }

        fn take_doubtful(&mut self) -> Option<u64> {
            let last = self.0.iter().rposition(|s| *s == State::Sacked)?;
            let i = self.0[..last].iter().position(|s| *s == State::Out)?;
            self.0[i] = State::Twice;
            Some(i as u64)
        }

        fn last_missing(&self) -> Option<u64> {
            let i = self.0.iter().rposition(|s| *s != State::Sacked);
            i.map(|i| i as u64)
        }
    }

    proptest! {
        #[test]
        fn it_knows_what_the_rules_say(
            operations in prop::collection::vec(any_operation(), 0..300),
        ) {
            let (mut rules, mut board) = (Rules::default(), Scoreboard::default());
            for operation in operations {
                let out = rules.0.len() as u64;
                match operation {
                    Operation::Send(n) => rules.0.resize((out + n) as usize, State::Out),
                    Operation::Acknowledge(n) => {
                        let n = n.min(out);
                        prop_assert_eq!(board.acknowledge(n), rules.acknowledge(n));
                    }
                    Operation::Sack(from, n) => {
                        let (from, to) = (from.min(out), (from + n).min(out));
                        prop_assert_eq!(board.sack(from, to, |_, _| ()), rules.sack(from, to));
                    }
                    Operation::FindLosses => {
                        prop_assert_eq!(board.find_losses(|_| ()), rules.find_losses());
                    }
                    Operation::LoseFirst => {
                        if let Some(first) = rules.0.first_mut().filter(|s| **s != State::Sacked) {
                            *first = State::Lost;
                            board.lose_first();
                        }
                    }
                    Operation::TakeLost => prop_assert_eq!(board.take_lost(), rules.take_lost()),
                    Operation::TakeDoubtful => {
                        prop_assert_eq!(board.take_doubtful(), rules.take_doubtful());
                    }
                    Operation::LoseAll => {
                        let all = rules.0.iter_mut().filter(|s| **s != State::Sacked);
                        all.for_each(|s| *s = State::Lost);
                        board.lose_all(out);
                    }
                    Operation::Forgive => {
                        for state in &mut rules.0 {
                            match *state {
                                State::Lost => *state = State::Out,
                                State::Again => *state = State::Twice,
                                _ => {}
                            }
                        }
                        board.forgive();
                    }
                }
                prop_assert_eq!(board.sacked(), count(&rules.0, State::Sacked));
                prop_assert_eq!(board.lost(), count(&rules.0, State::Lost));
                prop_assert_eq!(board.twice(), count(&rules.0, State::Twice));
                let again = count(&rules.0, State::Again);
                prop_assert_eq!(board.has_losses(), board.lost() + again > 0);
                let first = rules.0.first();
                prop_assert_eq!(board.first_is_lost(), first == Some(&State::Lost));
                prop_assert_eq!(board.first_was_repaired(), first == Some(&State::Again));
                let out = rules.0.len() as u64;
                prop_assert_eq!(board.last_missing(out), rules.last_missing());
            }
        }
    }
}
