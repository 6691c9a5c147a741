//! Shell completions and manual pages.

use crate::common::*;
use std::process::Command;

#[test]
fn bash_takes_its_completions() {
    let dir = folder(&[]);
    let script = accord(dir.path(), &["completions", "bash"]).with(0).stdout;
    let path = dir.path().join("accord.bash");
    std::fs::write(&path, &script).expect("it is ours");
    let bash = |more: &str| {
        let command = format!("set -e; source accord.bash; {more}");
        let run = Command::new("bash").args(["-c", &command]).current_dir(dir.path()).output();
        let run = run.expect("there is bash");
        assert!(run.status.success(), "{run:?}");
        String::from_utf8(run.stdout).expect("text")
    };
    assert!(Command::new("bash").arg("-n").arg(&path).status().expect("bash").success());
    // The variables set by the shell: the words so far, and the index of the current one.
    let completed = bash(
        "COMP_WORDS=(accord ch); COMP_CWORD=1; _accord accord ch accord; echo \"${COMPREPLY[@]}\"",
    );
    assert_eq!(completed.trim(), "check");
    for (words, index, name) in [
        ("accord run xia05-fig6 --engine th", 4, "theory"),
        ("accord reproduce xia05-fig1", 2, "xia05-fig10"),
        ("accord run xia05-fig6 --controller mon", 4, "monaco"),
        ("accord evaluate --subject fq", 3, "fq-codel"),
        ("accord evaluate --pack rfc97", 3, "rfc9743"),
        ("accord new parking", 2, "parking-lot"),
        ("accord list exp", 2, "experiments"),
    ] {
        let typed: Vec<&str> = words.split(' ').collect();
        let (word, before) = (typed[index], typed[index - 1]);
        let completed = bash(&format!(
            "COMP_WORDS=({words}); COMP_CWORD={index}; _accord accord {word} {before}; \
             echo \"${{COMPREPLY[@]}}\""
        ));
        assert!(completed.split_whitespace().any(|c| c == name), "{words}: {completed}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = accord(dir.path(), &["completions", shell]).with(0).stdout;
        assert!(script.contains("stability"), "{shell}");
    }
}

/// The generator of these completions knows options only.
#[test]
fn fish_completes_the_arguments_of_commands() {
    let script = accord(folder(&[]).path(), &["completions", "fish"]).with(0).stdout;
    for (command, name) in
        [("list", "experiments"), ("new", "parking-lot"), ("reproduce", "xia05-fig6")]
    {
        let condition = format!("__fish_accord_using_subcommand {command}\" -f -a ");
        let line = script.lines().find(|line| line.contains(&condition));
        let line = line.unwrap_or_else(|| panic!("{command} has no names"));
        assert!(line.contains(name), "{line}");
    }
    if let Ok(checked) = Command::new("fish").args(["-n", "-c", &script]).status() {
        assert!(checked.success());
    }
}

#[test]
fn there_is_a_page_for_each_command() {
    let dir = folder(&[]);
    let program = accord(dir.path(), &["man"]).with(0).stdout;
    assert!(program.contains(".TH accord 1"), "{program}");
    accord(dir.path(), &["man", "-o", "man/man1"]).with(0);
    let pages = names(&dir.path().join("man/man1"));
    for page in ["accord.1", "accord-run.1", "accord-new.1"] {
        assert!(pages.iter().any(|p| p == page), "{page}: {pages:?}");
    }
    let run = std::fs::read_to_string(dir.path().join("man/man1/accord-run.1")).expect("written");
    assert!(run.contains("Example:") && program.contains("Exit codes"), "{run}");
}
