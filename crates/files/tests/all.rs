//! The tests of `accord-files`, one module per subject.

mod whole;
