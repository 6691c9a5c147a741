//! The tests of `accord-port`, one module per subject.

mod common;
#[path = "../../aqm/tests/common/any_values.rs"]
mod values;

mod dual_queue;
mod flow_queues;
mod host_queues;
mod order;
mod service;
mod twins;
mod virtual_delay;
