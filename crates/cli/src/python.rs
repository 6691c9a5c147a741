//! Classes of Python on the command line: FILE.py:CLASS where a controller or a queue discipline is
//! named. The program of the Python package puts their names there before it starts. This program cannot.

use crate::fail::Failure;
use std::ffi::OsString;

/// Refuses a command line that names a class of Python.
pub fn refuse(arguments: &[OsString]) -> Result<(), Failure> {
    let named = arguments.iter().filter_map(|a| class(a.to_str()?)).next();
    match named {
        None => Ok(()),
        Some(class) => Err(Failure::new(format!(
            "{class} is a class of Python, and this program runs controllers in Rust only"
        ))
        .hint(
            "the program `accord` of the Python package runs it; from a clone of Accord, pip install \
             ./bindings/python brings it",
        )),
    }
}

/// Returns the part of an argument that names a class: FILE.py:CLASS.
fn class(argument: &str) -> Option<&str> {
    let ends = |c: char| c.is_whitespace() || "=,\"'{}".contains(c);
    argument.split(ends).find(|word| {
        let parts = word.rsplit_once(':');
        parts.is_some_and(|(file, class)| {
            let mut letters = class.chars();
            let first = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
            file.ends_with(".py") && first && letters.all(|c| c.is_alphanumeric() || c == '_')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn a_class_is_found_wherever_it_is_named() {
        for argument in [
            "my.py:Keeper",
            "--controller=my.py:Keeper",
            "flow.all.controller={ name = \"my.py:Keeper\", target = \"20 pkt\" }",
            "my.py:Keeper,target=20 pkt",
        ] {
            assert_eq!(class(argument), Some("my.py:Keeper"), "{argument}");
        }
        for argument in ["my.py", "keeper", "my.py:", "my.py:2", "tcp://head:8786", "a:b"] {
            assert_eq!(class(argument), None, "{argument}");
        }
    }
}
