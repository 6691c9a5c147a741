//! The commands in groups by jobs, for `accord --help` and the manual page.

use crate::args::Args;
use clap::builder::styling::Styles;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;

/// The groups of the commands: the job, and the commands for it.
pub const GROUPS: [(&str, &[&str]); 6] = [
    ("First commands", &["new", "run", "compare", "plot", "evaluate"]),
    ("Simulate and compute", &["check", "lab", "stability", "solve"]),
    ("Judge and explain", &["attack", "explain", "reproduce"]),
    ("Run for real", &["emulate", "kernel", "gateway"]),
    ("Data of other programs", &["import", "export"]),
    ("Look up and set up", &["list", "schema", "bench", "completions", "man", "help"]),
];

/// Returns the command line, whose help has the commands in groups.
pub fn command() -> Command {
    let command = with_negative_values(Args::command());
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}{}:{:#}\n{{options}}{{after-help}}",
        groups(&command),
        format_args!("{}Options", Styles::styled().get_header()),
        Styles::styled().get_header(),
    );
    command.help_template(template)
}

/// Lets options take negative values, such as "-1" and "-1 ms". Each option rejects them itself, with its range.
fn with_negative_values(command: Command) -> Command {
    let takes_one = |arg: &Arg| {
        let single = arg.get_num_args().is_none_or(|n| n.min_values() == 1 && n.max_values() == 1);
        !arg.is_positional() && arg.get_action().takes_values() && single
    };
    let names = command.get_subcommands().map(|sub| sub.get_name().to_string());
    let names: Vec<_> = names.collect();
    let command = command.mut_args(|arg| match takes_one(&arg) && !arg.is_require_equals_set() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    });
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, with_negative_values))
}

/// Returns the first paragraph of a command's description.
pub fn about(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about);
    about.map_or("Prints this, or the help of a command".into(), ToString::to_string)
}

/// Returns the groups as lines.
fn groups(command: &Command) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = String::new();
    for (job, names) in GROUPS {
        let _ = writeln!(text, "{header}{job}:{header:#}");
        for name in names {
            let about = about(command, name);
            let _ = writeln!(text, "  {literal}{name:11}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let mut command = Args::command();
        command.build();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
        assert_eq!(GROUPS[0].1.len(), 5);
    }

    #[test]
    fn lists_of_commands_have_the_order_of_the_groups() {
        let order = GROUPS.iter().flat_map(|(_, names)| *names).copied();
        let order: Vec<&str> = order.filter(|name| *name != "help").collect();
        let command = Args::command();
        let listed: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(listed, order);
    }

    #[test]
    fn the_book_lists_the_commands_in_their_groups() {
        let page = include_str!("../../../docs/src/commands.md");
        let sections: Vec<&str> = page.split("\n## ").collect();
        for (job, names) in GROUPS {
            let section = sections.iter().find(|section| section.starts_with(job)).expect(job);
            for name in names {
                let shown = [format!("`accord {name}"), format!("`{name}`")];
                assert!(shown.iter().any(|text| section.contains(text)), "{name} in {job}");
            }
        }
    }

    #[test]
    fn help_has_a_line_of_eighty_columns_for_each_command() {
        let help = command().render_help().to_string();
        for (job, names) in GROUPS {
            assert!(help.contains(&format!("\n{job}:\n")), "{job}: {help}");
            for name in names {
                let line = help.lines().find(|line| line.starts_with(&format!("  {name} ")));
                let line = line.unwrap_or_else(|| panic!("{name}: {help}"));
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
        assert!(help.contains("--version") && help.contains("Exit codes"), "{help}");
    }
}
