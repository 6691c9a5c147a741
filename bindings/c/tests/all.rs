//! The tests of the interface for C.

mod header;
mod programs;
