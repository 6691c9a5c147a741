//! `accord completions` and `accord man`: shell completions and manual pages from the command line.

use crate::args::{Completions, Man};
use crate::fail::Failure;
use crate::help::{self, GROUPS};
use crate::output::{data, note};
use clap::Command;
use clap_complete::Shell;
use std::io;
use std::path::Path;

/// Returns the command line under the name by which the program was called.
fn command() -> Command {
    let name = std::env::args_os().next();
    let name = name.as_deref().map(Path::new).and_then(Path::file_stem);
    let name = name.map_or("accord".into(), |n| n.to_string_lossy().into_owned());
    // The command line needs names of static lifetime.
    let name: &'static str = name.leak();
    let mut command = help::command().name(name).bin_name(name);
    command.build();
    command
}

/// Prints the completions for a shell.
pub fn completions(args: &Completions) -> Result<bool, Failure> {
    let mut command = command();
    let name = command.get_name().to_string();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name.clone(), &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if args.shell == Shell::Fish {
        script += &fish_arguments(&command, &name);
    }
    data(script.trim_end())?;
    Ok(true)
}

/// Returns the completions of the arguments of commands for fish. The generator leaves them out.
fn fish_arguments(command: &Command, name: &str) -> String {
    let mut lines = String::new();
    for sub in command.get_subcommands() {
        for argument in sub.get_positionals() {
            let values = argument.get_possible_values();
            let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
            if !names.is_empty() {
                let function = format!("__fish_{}_using_subcommand", name.replace('-', "_"));
                let condition = format!("{function} {}", sub.get_name());
                lines += &format!(
                    "complete -c {name} -n \"{condition}\" -f -a \"{}\"\n",
                    names.join(" ")
                );
            }
        }
    }
    lines
}

/// Prints the manual page of the program, or writes those of all commands.
pub fn man(args: &Man) -> Result<bool, Failure> {
    let command = command();
    let Some(dir) = &args.output else {
        let page = rendered(&command);
        let page = page.map_err(|e| Failure::new(format!("the page cannot be created: {e}")))?;
        data(page.trim_end())?;
        return Ok(true);
    };
    let written = accord::files::create_dirs(dir).and_then(|()| pages(dir, &command));
    let count = written.map_err(|e| {
        let message = format!("{} cannot be written to: {e}", dir.display());
        Failure::io(message, &e)
    })?;
    note(format_args!("{count} pages in {}", dir.display()));
    Ok(true)
}

/// Returns the page of a command. That of the program has a heading before each group of commands.
fn rendered(command: &Command) -> io::Result<String> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut bytes)?;
    let mut page = String::from_utf8_lossy(&bytes).into_owned();
    let program = command.get_display_name().unwrap_or_else(|| command.get_name());
    if command.find_subcommand(GROUPS[0].1[0]).is_some() {
        for (job, names) in GROUPS {
            let first = format!(".TP\n{}\\-{}(1)", program.replace('-', "\\-"), names[0]);
            page = page.replacen(&first, &format!(".SS \"{job}\"\n{first}"), 1);
        }
    }
    Ok(page)
}

/// Writes the page of a command, and of its subcommands.
fn pages(dir: &Path, command: &Command) -> io::Result<usize> {
    let name = clap_mangen::Man::new(command.clone()).get_filename();
    accord::files::write(&dir.join(name), rendered(command)?.as_bytes())?;
    let inner = command.get_subcommands().filter(|c| c.get_name() != "help");
    inner.map(|c| pages(dir, c)).sum::<io::Result<usize>>().map(|n| n + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::{CommandFactory, Parser};

    /// Splits a line of an example as a shell does, up to a redirection.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                c => words.last_mut().expect("there is one").push(c),
            }
        }
        words.retain(|w| !w.is_empty());
        let end = words.iter().position(|w| w == ">").unwrap_or(words.len());
        words.truncate(end);
        words
    }

    #[test]
    fn the_page_of_the_program_has_a_heading_for_each_group() {
        let page = rendered(&command()).expect("in memory");
        let places = GROUPS.map(|(job, _)| page.find(&format!(".SS \"{job}\"")).expect(job));
        assert!(places.is_sorted(), "{page}");
    }

    #[test]
    fn every_command_has_an_example_that_it_takes() {
        Args::command().debug_assert();
        for command in Args::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_else(|| panic!("{} has none", command.get_name()));
            let lines: Vec<_> = help.lines().skip(1).map(str::trim).collect();
            assert!(!lines.is_empty());
            for line in lines {
                let words = words(line);
                assert_eq!(words[..2], ["accord", command.get_name()], "{line}");
                if let Err(e) = Args::try_parse_from(words) {
                    panic!("{line}: {e}");
                }
            }
        }
    }
}
