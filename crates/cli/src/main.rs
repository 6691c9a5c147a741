//! The program `accord`.

fn main() {}
