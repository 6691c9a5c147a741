//! A folder of lines that students handed in is graded by running their attempts again.

use accord_lab::{Class, Mark, Work};
use std::fs::write;

fn work(student: &str, attempts: &[(&str, &[f64])]) -> Work {
    let attempts = attempts.iter().map(|(id, all)| (id.to_string(), all.to_vec()));
    Work {
        student: student.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        guesses: [("01-aimd".to_string(), 5.0)].into(),
        attempts: attempts.collect(),
    }
}

/// Returns the right answer of a student to the exercise of lesson 10.
fn contract(student: &str) -> f64 {
    let question =
        accord_lab::Exercise::of("10-contracts").expect("it has one").task(student).question;
    let numbers: Vec<f64> =
        question.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    (3.0 * numbers[1] - numbers[0]) / 2.0
}

#[test]
fn a_class_is_graded_by_its_own_numbers() {
    let dir = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| write(dir.path().join(name), text).expect("written");
    let ada = work("Ada", &[("10-contracts", &[0.5, contract("Ada")]), ("02-vegas", &[0.1])]);
    put("ada.txt", &format!("Work of Ada\r\n{}\r\n", ada.line()));
    // In one mail, and answers of another student's numbers are wrong.
    let other = ["Grace", "Radia", "Sally", "Barbara", "Lixia"]
        .into_iter()
        .find(|name| contract(name) != contract("Ada"))
        .expect("cases differ");
    let copied = work(other, &[("10-contracts", &[contract("Ada")])]);
    let none = work("Zoe", &[]);
    put("mail.txt", &format!("Hello,\n  {}\n{}\n", copied.line(), none.line()));
    // A name changed by hand, one that a spreadsheet would carry out, and a second line of Ada.
    put("changed.txt", &ada.line().replace("Ada", "Eve"));
    put("formula.txt", &work("=1+1,\"x\"", &[("10-contracts", &[-1.0, 1e300])]).line());
    put("twice.txt", &work(" ADA ", &[]).line());
    let old = Work { version: "0.0.1".into(), ..work("Old", &[("11-stability", &[1.0])]) };
    put("old.txt", &old.line());
    // Files without work.
    put("photo.png", "\u{0}\u{1}");
    put("cut.txt", &ada.line()[..60]);
    put(".hidden", &ada.line());
    write(dir.path().join("binary.txt"), [0xff, 0xfe]).expect("written");
    std::fs::create_dir(dir.path().join("folder")).expect("made");

    let class = Class::grade(dir.path(), &accord::catalogue()).expect("readable");
    let student = |name: &str| class.students.iter().find(|s| s.name == name).expect(name);
    let marks = |name: &str| student(name).marks.get("10-contracts").copied();
    assert_eq!(marks("Ada"), Some(Mark { attempts: 2, right: Some(2) }));
    assert_eq!(student("Ada").marks["02-vegas"], Mark { attempts: 1, right: None });
    assert_eq!(student("Ada").right(), 1);
    assert_eq!(marks(other), Some(Mark { attempts: 1, right: None }));
    assert_eq!(marks("Zoe"), None);
    let remarks = |name: &str| student(name).remarks.join("; ");
    assert_eq!(remarks("Zoe"), "");
    assert!(remarks("Eve").contains("changed after it was signed"));
    assert!(remarks("Ada").contains("2 lines have this name: ada.txt, twice.txt"));
    assert!(remarks("Old").contains("0.0.1") && remarks("Old").contains("has no exercise"));
    assert_eq!(marks("=1+1,\"x\""), Some(Mark { attempts: 2, right: None }));
    let refused = class.refused.join("\n");
    for name in ["photo.png: no line", "cut.txt: the line is", "binary.txt: "] {
        assert!(refused.contains(name), "{refused}");
    }
    assert_eq!(class.refused.len(), 3, "{refused}");

    let csv = class.csv();
    let head = csv.lines().next().expect("a head");
    assert!(
        head.starts_with("student,right,guesses,02-vegas right at,02-vegas attempts,"),
        "{head}"
    );
    assert!(csv.contains("\nAda,1,1,,1,,0,,0,,0,2,2,"), "{csv}");
    assert!(csv.contains("\"'=1+1,\"\"x\"\"\""), "{csv}");
    let text = class.text();
    assert_eq!(text.lines().count(), 1 + class.students.len());
    assert!(text.contains("right at 2") && text.contains("wrong, 1"), "{text}");
}

#[test]
fn a_folder_that_is_none_is_an_error() {
    assert!(Class::grade(std::path::Path::new("no such folder"), &accord::catalogue()).is_err());
}
