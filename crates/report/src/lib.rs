//! Comparison, tables, files and the page of a run.
