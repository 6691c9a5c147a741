//! The shared links: arrivals in order, services and timers.

use super::arrivals::Arrival;
use super::engine::WindowsEngine;
use super::network::LinkPort;
use crate::calendar::EventKind;
use crate::hop::WireExit;
use crate::pool::Handle;
use accord_units::Time;

/// The number of arrivals whose packets are prefetched.
const AHEAD: usize = 8;

impl WindowsEngine<'_> {
    /// Advances a shared link to its safe time. Returns true if that is `end`.
    pub fn advance_shared_link(&mut self, id: usize, end: Time) -> bool {
        let until = self.safe_time(&self.net.shared_links[id].feeds, end);
        let shared_link = &mut self.net.shared_links[id];
        debug_assert!(until >= shared_link.clock, "the clock of a shared link goes back");
        let mut from = std::mem::replace(&mut shared_link.clock, until);
        if shared_link.is_idle(until) && shared_link.priority_pipes.is_empty() {
            return until == end;
        }
        let mut timer = shared_link.timer;
        let last = until.min(self.core.limits.end);
        loop {
            let arrivals = &mut self.net.shared_links[id].arrivals;
            let (arrivals, before) = self.sorter.take(arrivals, from, until);
            self.core.events += arrivals.len() as u64;
            if let LinkPort::Priority(_) = self.net.shared_links[id].port {
                self.pass_all(id, &arrivals, before.min(last));
            } else {
                timer = self.offer_all(id, &arrivals, timer);
            }
            self.sorter.give_back(arrivals);
            if before == until {
                break;
            }
            from = before;
        }
        if timer <= until {
            // A window may end with a sample. Nothing happens after the end of the run.
            if until == last {
                self.act(id, until, EventKind::Sample)
            } else {
                self.act(id, last, EventKind::Start)
            };
        }
        self.serve(id, last);
        let shared_link = &mut self.net.shared_links[id];
        shared_link.service = shared_link.port.next_service();
        for i in 0..self.net.shared_links[id].priority_pipes.len() {
            let pipe = self.net.shared_links[id].priority_pipes[i];
            self.flush(pipe.index, until + pipe.delay);
        }
        until == end
    }

    /// Offers arrivals to the port of a shared link. Returns the next time of its timer.
    #[inline(never)]
    fn offer_all(&mut self, id: usize, arrivals: &[Arrival], mut timer: Time) -> Time {
        let port = &self.net.shared_links[id].port;
        let serves = matches!(port, LinkPort::Buffered(_));
        let is_large = self.core.pool.is_large();
        for (i, &Arrival { at, handle, .. }) in arrivals.iter().enumerate() {
            if is_large {
                self.prepare(arrivals, i);
            }
            if timer <= at {
                timer = self.act(id, at, EventKind::Start);
            }
            if serves {
                self.serve(id, at);
            }
            self.core.now = at;
            self.offer(id, handle, at);
        }
        timer
    }

    /// Prefetches for the arrivals after arrival `i`.
    #[inline(always)]
    fn prepare(&self, arrivals: &[Arrival], i: usize) {
        if self.core.pool.is_huge() {
            self.fetch_arrivals(arrivals, i);
        } else if let Some(later) = arrivals.get(i + AHEAD) {
            self.core.pool.prepare_packet(later.handle);
        }
    }

    /// Offers a packet that arrives at `at` to the port of a shared link, and forwards it if its
    /// departure is known.
    #[inline(always)]
    fn offer(&mut self, id: usize, handle: Handle, at: Time) {
        let core = &mut self.core;
        let packet = core.pool.packet(handle);
        let shared_link = &mut self.net.shared_links[id];
        let sent = match &mut shared_link.port {
            LinkPort::Timeline(line) => {
                let (line, dice) = &mut **line;
                match line.offer(at, packet, &mut || dice.uniform()) {
                    Ok(sent) => sent,
                    Err(_) => return core.lost(handle),
                }
            }
            LinkPort::Buffered(buffered) => match buffered.0.pass(at, handle, packet) {
                Some(Ok(sent)) => sent,
                Some(Err(_)) => return core.lost(handle),
                None => return self.enter(id, handle),
            },
            LinkPort::Pipe(pipe) => pipe.offer(at, packet.bytes(), core.limits.end),
            // `pass_all` takes its packets.
            LinkPort::Priority(_) => return,
        };
        let mut exit = shared_link.leaves(sent);
        let next = (self.net.paths).step(packet, &mut exit, core.limits);
        self.route(handle, next, exit);
    }

    /// Passes arrivals through a port with two priorities, which serves packets until `until`. It takes the
    /// port out of the shared link and puts it back at the end, so the port is looked up only once.
    #[inline(never)]
    fn pass_all(&mut self, id: usize, arrivals: &[Arrival], until: Time) {
        let shared_link = &mut self.net.shared_links[id];
        let (link, delay) = (shared_link.link, shared_link.delay);
        let LinkPort::Priority(place) = &mut shared_link.port else {
            return;
        };
        let Some(mut port) = place.take() else {
            return;
        };
        let is_large = self.core.pool.is_large();
        let mut next = 0;
        loop {
            let arrival = arrivals.get(next);
            let (handle, sent) = if port.next() <= arrival.map_or(until, |arrival| arrival.at) {
                self.core.events += 1;
                port.follow(&self.core.pool)
            } else if let Some(&Arrival { at, handle, .. }) = arrival {
                if is_large {
                    self.prepare(arrivals, next);
                }
                next += 1;
                match port.offer(at, handle, self.core.pool.packet(handle)) {
                    Some(Ok(sent)) => (handle, sent),
                    Some(Err(_)) => {
                        self.core.now = at;
                        self.core.lost(handle);
                        continue;
                    }
                    None => continue,
                }
            } else {
                break;
            };
            self.forward(handle, WireExit { link, at: sent + delay });
        }
        if let LinkPort::Priority(place) = &mut self.net.shared_links[id].port {
            *place = Some(port);
        }
    }

    /// Forwards a packet that enters the wire of a shared link at `sent`.
    #[inline(always)]
    fn depart(&mut self, id: usize, handle: Handle, sent: Time) {
        let exit = self.net.shared_links[id].leaves(sent);
        self.forward(handle, exit);
    }

    /// Offers a packet to a port that holds packets and does not pass it at once.
    #[inline(never)]
    fn enter(&mut self, id: usize, handle: Handle) {
        let LinkPort::Buffered(buffered) = &mut self.net.shared_links[id].port else {
            return;
        };
        let (port, _) = &mut **buffered;
        port.offer(&mut self.core, handle);
        if !port.port.is_serving() {
            self.begin(id);
        }
    }

    /// Begins a service at a port that holds packets, if the port is free and a packet waits. The packet
    /// departs at once, unless the wire may lose it at the end of the service.
    #[inline(always)]
    fn begin(&mut self, id: usize) {
        let LinkPort::Buffered(buffered) = &mut self.net.shared_links[id].port else {
            return;
        };
        let (port, _) = &mut **buffered;
        if let Some((handle, sent)) = port.begin(&mut self.core)
            && !port.stepped
        {
            self.depart(id, handle, sent);
        }
    }

    /// Ends the services of a shared link that end by `until` and that the port must handle, and
    /// begins the next ones.
    #[inline(always)]
    fn serve(&mut self, id: usize, until: Time) {
        loop {
            let shared_link = &mut self.net.shared_links[id];
            let next = match &shared_link.port {
                LinkPort::Buffered(buffered) => buffered.0.next_end(),
                LinkPort::Timeline(_) | LinkPort::Priority(_) | LinkPort::Pipe(_) => None,
            };
            let Some(end) = next.filter(|end| *end <= until) else {
                return;
            };
            (self.core.now, self.core.events) = (end, self.core.events + 1);
            self.follow(id);
        }
    }

    /// Ends a service at a shared link, and begins the next.
    #[inline(never)]
    fn follow(&mut self, id: usize) {
        let LinkPort::Buffered(buffered) = &mut self.net.shared_links[id].port else {
            return;
        };
        if buffered.0.stepped {
            self.end_lossy(id)
        } else {
            buffered.0.port.complete();
        }
        self.begin(id);
    }

    /// Ends a service at a port whose wire loses packets.
    #[inline(never)]
    fn end_lossy(&mut self, id: usize) {
        let now = self.core.now;
        let LinkPort::Buffered(buffered) = &mut self.net.shared_links[id].port else {
            return;
        };
        let (port, loss) = &mut **buffered;
        let (Some(loss), Some(handle)) = (loss, port.complete(now)) else {
            return;
        };
        if loss.takes(self.core.pool.packet(handle).is_control()) {
            self.core.lost(handle)
        } else {
            self.depart(id, handle, now)
        }
    }

    /// Runs the timer of a shared link each time that it is due before an event of `kind` at
    /// `until`. Returns the next time of the timer.
    #[inline(never)]
    fn act(&mut self, id: usize, until: Time, kind: EventKind) -> Time {
        loop {
            let at = self.net.shared_links[id].timer;
            if (at, EventKind::Discipline) >= (until, kind) {
                return at;
            }
            self.serve(id, at);
            (self.core.now, self.core.events) = (at, self.core.events + 1);
            let shared_link = &mut self.net.shared_links[id];
            match &mut shared_link.port {
                LinkPort::Timeline(line) => line.0.on_timer(at),
                LinkPort::Buffered(buffered) => buffered.0.on_timer(at),
                LinkPort::Priority(_) | LinkPort::Pipe(_) => {}
            }
            shared_link.timer = shared_link.port.next_timer();
        }
    }
}
