//! An output port: priority FIFO queues, a queue discipline, exact service, counters.
