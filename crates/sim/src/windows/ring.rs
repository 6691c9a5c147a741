//! A queue of small values.

use crate::memory;

/// A FIFO queue. It takes fewer instructions than the standard library's, because it indexes by
/// counts of values entered and left.
#[derive(Default)]
pub struct Ring<T> {
    /// The values. The index is the number of values that entered before, modulo the length, which
    /// is a power of two.
    places: Box<[T]>,
    entered: usize,
    left: usize,
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entered == self.left
    }

    /// Returns the value with `before` others ahead of it.
    #[inline]
    pub fn get(&self, before: usize) -> Option<T> {
        let number = self.left + before;
        (number < self.entered).then(|| self.places[number & (self.places.len() - 1)])
    }

    /// Returns the first value.
    #[inline]
    pub fn first(&self) -> Option<T> {
        (!self.is_empty()).then(|| self.places[self.left & (self.places.len() - 1)])
    }

    /// Prefetches the first value.
    #[inline]
    pub fn fetch_first(&self) {
        if !self.places.is_empty() {
            memory::fetch(&self.places[self.left & (self.places.len() - 1)]);
        }
    }

    #[inline]
    pub fn push(&mut self, value: T) {
        if self.entered - self.left == self.places.len() {
            self.grow();
        }
        self.places[self.entered & (self.places.len() - 1)] = value;
        self.entered += 1;
    }

    /// Removes the first value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.first()?;
        self.left += 1;
        Some(first)
    }

    /// Removes the first value if `is_due` returns true.
    #[inline(always)]
    pub fn pop_if(&mut self, is_due: impl FnOnce(T) -> bool) -> Option<T> {
        let first = self.first().filter(|&first| is_due(first))?;
        self.left += 1;
        Some(first)
    }

    /// Releases the memory of an empty queue.
    pub fn release(&mut self) {
        if self.is_empty() {
            *self = Ring { places: Box::default(), entered: 0, left: 0 };
        }
    }

    #[cold]
    fn grow(&mut self) {
        let (old, len) = (&self.places, self.places.len());
        let value = |i: usize| old[(self.left + i) % len];
        let new = (0..(2 * len).max(4)).map(|i| if i < len { value(i) } else { T::default() });
        self.places = new.collect();
        (self.entered, self.left) = (len, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// The ring behaves like the queue of the standard library for any sequence of operations.
        #[test]
        fn values_come_in_their_order(steps in prop::collection::vec((any::<u32>(), 0..9u8), 0..400)) {
            let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
            for (value, kind) in steps {
                if kind < 5 {
                    ring.push(value);
                    queue.push_back(value);
                } else {
                    prop_assert_eq!(ring.pop(), queue.pop_front());
                    if kind == 8 {
                        ring.release();
                    }
                }
                prop_assert_eq!(ring.first(), queue.front().copied());
                prop_assert_eq!(ring.is_empty(), queue.is_empty());
            }
        }
    }
}
