//! Decisions of queue disciplines, without queues, I/O or a clock.
