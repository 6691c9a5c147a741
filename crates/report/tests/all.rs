//! The tests of `accord-report`, one module per subject.

mod support;

mod check;
mod figure;
mod files;
mod kept;
mod overview;
mod page;
mod papers;
mod table;
mod verdict;
