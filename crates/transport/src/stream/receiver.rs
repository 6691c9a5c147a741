//! The receiving half of a stream.

use crate::Segment;
use accord_units::Time;

/// Orders data and acknowledges each packet.
#[derive(Clone, Debug, Default)]
pub struct StreamReceiver {
    next: u64,
    /// The blocks beyond `next` as half-open ranges, in order and disjoint.
    blocks: Vec<(u64, u64)>,
    duplicates: u64,
    marked: u32,
}

impl StreamReceiver {
    /// Creates a receiver without data.
    pub fn new() -> StreamReceiver {
        StreamReceiver::default()
    }

    /// Takes a data packet, with a congestion mark or without one. Returns whether it is new, and
    /// the acknowledgement to send.
    #[inline]
    pub fn on_data(&mut self, number: u64, sent: Time, marked: bool) -> (bool, Segment) {
        match self.on_next(number, marked) {
            Some((next, marked)) => {
                let ack = Segment::Ack { next, block: 0, block_len: 0, echo: sent, marked };
                (true, ack)
            }
            None => self.out_of_order(number, sent),
        }
    }

    /// Counts the mark of a data packet, and takes the packet if it is the next one and nothing has
    /// arrived beyond it. Returns the number below which all data has arrived and the count of
    /// marks. Returns `None` for a packet that [`StreamReceiver::out_of_order`] must take.
    #[inline]
    pub fn on_next(&mut self, number: u64, marked: bool) -> Option<(u64, u32)> {
        self.marked = self.marked.wrapping_add(u32::from(marked));
        if number != self.next || !self.blocks.is_empty() {
            return None;
        }
        self.next += 1;
        Some((self.next, self.marked))
    }

    /// Takes a data packet that [`StreamReceiver::on_next`] does not take. Returns whether it is
    /// new, and the acknowledgement to send.
    #[cold]
    pub fn out_of_order(&mut self, number: u64, sent: Time) -> (bool, Segment) {
        // Most packets extend the latest block. There may be hundreds of blocks.
        let (new, block) = match self.blocks.last_mut() {
            Some(last) if last.1 == number => {
                last.1 += 1;
                (true, Some(*last))
            }
            _ => {
                let new = number >= self.next && self.block_of(number).is_none();
                if new {
                    self.insert(number);
                } else {
                    self.duplicates += 1;
                }
                (new, self.block_of(number))
            }
        };
        // A packet that moves the window is not in a block. Its acknowledgement repeats the latest
        // block, as RFC 2018 §4 does, because the acknowledgements that reported the block may be
        // lost. A packet that had already arrived is reported as such, in place of a DSACK option.
        let (block, block_len) = match block.or(self.blocks.last().copied()) {
            _ if !new => (1, 0),
            Some((from, to)) => ((from - self.next) as u32, (to - from) as u32),
            None => (0, 0),
        };
        (new, Segment::Ack { next: self.next, block, block_len, echo: sent, marked: self.marked })
    }

    /// Returns the block that holds a packet.
    fn block_of(&self, number: u64) -> Option<(u64, u64)> {
        let i = self.blocks.partition_point(|&(_, to)| to <= number);
        let block = self.blocks.get(i).copied();
        block.filter(|&(from, _)| from <= number)
    }

    fn insert(&mut self, number: u64) {
        // The first block that ends at or after the packet.
        let i = self.blocks.partition_point(|&(_, to)| to < number);
        match self.blocks.get_mut(i) {
            Some(b) if b.1 == number => b.1 += 1,
            Some(b) if b.0 == number + 1 => b.0 = number,
            _ => self.blocks.insert(i, (number, number + 1)),
        }
        if i + 1 < self.blocks.len() && self.blocks[i].1 == self.blocks[i + 1].0 {
            self.blocks[i].1 = self.blocks[i + 1].1;
            self.blocks.remove(i + 1);
        }
        // This is the missing packet. The first block is now in order if it starts here.
        if self.blocks[0].0 == self.next {
            self.next = self.blocks[0].1;
            self.blocks.remove(0);
        }
    }

    /// All packets with smaller numbers have arrived.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The number of packets that had already arrived.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }
}
