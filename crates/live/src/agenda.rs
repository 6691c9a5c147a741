//! The agenda of a station: one deadline per thing that can be due.

use accord_units::{Duration, Time};

/// An event of a station, with its index among the station's links or flows' ends. At equal times
/// the first variant here comes first, as in the packet engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A port has sent its packet.
    Sent(usize),
    /// A sample is due.
    Sample,
    /// The next event of the scenario.
    Change,
    /// The timer of a queue discipline is due.
    Discipline(usize),
    /// A flow starts.
    Start(usize),
    /// A flow stops.
    Stop(usize),
    /// An application acts.
    Application(usize),
    /// The wake-up that a sender asked for.
    Wake(usize),
    /// The wake-up that a receiver asked for.
    Answer(usize),
}

/// The deadlines. There are a few per link and flow. Finding the first among hundreds is faster
/// than reading the clock.
#[derive(Clone, Debug)]
pub struct Agenda {
    at: Vec<Time>,
    /// The events, in order.
    due: Vec<Due>,
}

impl Agenda {
    /// Creates an agenda for `links` links, `flows` sending flows and `sinks` receiving flows, with
    /// nothing due.
    pub fn new(links: usize, flows: usize, sinks: usize) -> Agenda {
        let mut due: Vec<Due> = (0..links).map(Due::Sent).collect();
        due.extend([Due::Sample, Due::Change]);
        due.extend((0..links).map(Due::Discipline));
        due.extend((0..flows).map(Due::Start));
        due.extend((0..flows).map(Due::Stop));
        due.extend((0..flows).map(Due::Application));
        due.extend((0..flows).map(Due::Wake));
        due.extend((0..sinks).map(Due::Answer));
        Agenda { at: vec![Time::MAX; due.len()], due }
    }

    /// Sets the deadline of an event, in place of its old one. `Time::MAX` is never.
    pub fn set(&mut self, due: Due, at: Time) {
        let place = self.due.binary_search(&due).expect("it is one of the events");
        self.at[place] = at;
    }

    /// Returns the earliest time at which an event has an effect outside the station. Each has its
    /// effect `ahead` after it is due.
    pub fn first_effect(&self, ahead: impl Fn(Due) -> Duration) -> Time {
        let all = self.at.iter().zip(&self.due);
        let planned = all.filter(|(at, _)| **at < Time::MAX);
        let effects = planned.map(|(at, due)| *at + ahead(*due));
        effects.min().unwrap_or(Time::MAX)
    }

    /// Returns the first event and its deadline.
    pub fn first(&self) -> (Time, Due) {
        let all = self.at.iter().zip(&self.due);
        let (at, due) = all.min_by_key(|(at, _)| **at).expect("samples are events");
        (*at, *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_has_its_own_place() {
        let mut agenda = Agenda::new(2, 3, 2);
        assert_eq!(agenda.first().0, Time::MAX);
        let all = agenda.due.clone();
        let at = Time::from_secs_f64(1.0);
        for due in all.iter().rev() {
            agenda.set(*due, at);
            assert_eq!(agenda.first(), (at, *due), "the earlier kind is first");
        }
        for due in all {
            assert_eq!(agenda.first(), (at, due));
            agenda.set(due, Time::MAX);
        }
        assert_eq!(agenda.first().0, Time::MAX);
    }

    #[test]
    fn what_has_no_effect_yet_can_wait() {
        let mut agenda = Agenda::new(1, 1, 0);
        let ahead = |due| match due {
            Due::Sent(_) => Duration::from_ms(5),
            _ => Duration::ZERO,
        };
        assert_eq!(agenda.first_effect(ahead), Time::MAX);
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        agenda.set(Due::Sent(0), ms(1));
        assert_eq!(agenda.first_effect(ahead), ms(6));
        agenda.set(Due::Sample, ms(4));
        assert_eq!((agenda.first_effect(ahead), agenda.first().0), (ms(4), ms(1)));
    }
}
