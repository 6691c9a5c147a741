//! The scenario language and the record of a run.
