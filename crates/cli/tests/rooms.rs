//! The permitted dependencies of crates: the rule of ARCHITECTURE.md, checked for every Cargo.toml.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The direct dependencies that each crate may have.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("files", &[]),
    ("units", &[]),
    ("family", &["units"]),
    ("control", &["units", "family"]),
    ("aqm", &["units", "family"]),
    ("port", &["units", "family", "aqm"]),
    ("transport", &["units", "family", "control"]),
    ("traffic", &["units"]),
    ("scenario", &["units", "family", "traffic"]),
    ("record", &["units", "family", "scenario"]),
    ("form", &["units"]),
    ("language", &["units", "family", "traffic", "scenario", "files", "form"]),
    ("solver", &[]),
    ("theory", &["units", "family", "traffic", "scenario", "record", "solver"]),
    ("fluid", &["units", "family", "traffic", "scenario", "record"]),
    ("margins", &["units", "family", "scenario", "record", "theory", "fluid"]),
    ("elements", &["units", "aqm", "port", "transport", "traffic", "scenario", "record"]),
    (
        "sim",
        &[
            "units",
            "family",
            "aqm",
            "port",
            "transport",
            "elements",
            "traffic",
            "scenario",
            "record",
        ],
    ),
    (
        "live",
        &[
            "units",
            "family",
            "transport",
            "elements",
            "sim",
            "host",
            "kernel",
            "traffic",
            "scenario",
            "record",
        ],
    ),
    ("columns", &[]),
    ("report", &["units", "scenario", "record", "columns", "files"]),
    ("explain", &["units", "family", "traffic", "scenario", "report"]),
    ("import", &["units"]),
    ("door", &[]),
    ("host", &["units"]),
    (
        "gateway",
        &[
            "units",
            "family",
            "control",
            "aqm",
            "port",
            "transport",
            "door",
            "host",
            "files",
            "form",
        ],
    ),
    // The library may use all crates except the readers of topologies; the program may use the
    // library, and these.
    (
        "accord",
        &[
            "units",
            "family",
            "control",
            "aqm",
            "port",
            "transport",
            "traffic",
            "scenario",
            "record",
            "form",
            "language",
            "solver",
            "theory",
            "fluid",
            "margins",
            "sim",
            "live",
            "columns",
            "report",
            "explain",
            "files",
        ],
    ),
    ("lab", &[]),
    ("evaluate", &[]),
    ("net", &[]),
    ("quinn", &["units", "family", "control", "transport"]),
    ("s2n", &["units", "family", "control"]),
    ("kernel", &["units", "family", "control", "door"]),
    ("cli", &["evaluate", "door", "gateway", "import", "kernel", "lab", "quinn"]),
];

/// The crates of ours that others do without in a browser: the live engine needs sockets, and run directories
/// files.
const ABSENT: &[(&str, &str)] = &[("accord", "columns"), ("accord", "live"), ("report", "columns")];

/// The crates that may use files, sockets, clocks, threads, processes or the environment: the
/// program, the live engine, the gateway, the report (run directories) with its tables, the
/// scenario language (a scenario file), and evaluations (packs and stored measurements).
const SYSTEM: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::os",
    "std::io",
    "Instant::now",
    "SystemTime::now",
];
const MAY_TOUCH: &[(&str, &[&str])] = &[
    ("cli", SYSTEM),
    ("files", &["std::fs", "std::io", "std::os", "std::process"]),
    ("door", SYSTEM),
    ("gateway", SYSTEM),
    ("host", &["std::io", "std::process", "std::thread", "Instant::now"]),
    // Its clock is the monotonic one of the kernel's reports.
    ("kernel", &["std::fs", "std::net", "std::env", "std::process", "std::os", "std::io"]),
    ("lab", SYSTEM),
    (
        "live",
        &[
            "std::fs",
            "std::io",
            "std::net",
            "std::os",
            "std::process",
            "std::thread",
            "SystemTime::now",
        ],
    ),
    ("columns", &["std::fs", "std::io"]),
    ("report", &["std::fs", "std::io", "std::process"]),
    ("language", &["std::fs", "std::io"]),
    // The interface of a log in memory.
    ("transport", &["std::io"]),
    ("evaluate", &["std::fs", "std::io"]),
    // The error of a capture that cannot be written.
    ("net", &["std::io"]),
    // Addresses that are never connected, and an instant as the zero of others.
    ("quinn", &["std::net", "Instant::now"]),
];

/// The folder of a crate: in `crates`, or in a place of its own for the gateway and other stacks.
fn place_of(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places =
        [root.join("crates").join(name), root.join("integrations").join(name), root.join(name)];
    places.into_iter().find(|place| place.join("Cargo.toml").exists()).expect("a crate")
}

/// The names of all crates: of the workspace's members except the bindings.
fn folders() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("a list");
    let mut names = BTreeSet::new();
    for member in members.iter().map(|member| member.as_str().expect("text")) {
        match member.rsplit_once('/') {
            Some((folder, "*")) => {
                let entries = std::fs::read_dir(root.join(folder)).expect("the crates");
                let folders = entries.map(|e| e.expect("readable")).filter(|e| e.path().is_dir());
                names.extend(folders.map(|e| e.file_name().into_string().expect("text")));
            }
            Some(("bindings", _)) => {}
            Some((_, name)) => drop(names.insert(name.to_string())),
            None => drop(names.insert(member.to_string())),
        }
    }
    names
}

#[test]
fn crates_know_whom_they_may() {
    let rule: BTreeMap<_, _> = MAY_KNOW.iter().copied().collect();
    let known: BTreeSet<_> = rule.keys().map(|k| k.to_string()).collect();
    assert_eq!(folders(), known, "every crate has its rule, and every rule a crate");
    for (name, may) in &rule {
        let path = place_of(name).join("Cargo.toml");
        let text = std::fs::read_to_string(path).expect("a manifest");
        let manifest: toml::Table = text.parse().expect("TOML");
        let dependencies = ["dependencies", "build-dependencies"].map(|key| manifest.get(key));
        let platforms = manifest.get("target").and_then(|t| t.as_table());
        let by_platform = platforms.into_iter().flat_map(|t| t.values());
        let by_platform: Vec<_> = by_platform.map(|t| t.get("dependencies")).collect();
        let dependencies = dependencies.into_iter().chain(by_platform);
        for table in dependencies.flatten().filter_map(|t| t.as_table()) {
            for other in table.keys().filter_map(|k| k.strip_prefix("accord-")) {
                assert!(may.contains(&other), "{name} must not know {other}");
            }
        }
        // Only these have dependencies by platform: the crates of files, of real packets and of logs (a thread
        // blocks signals), the packet engine (huge pages), and those that browsers have in part.
        let may = ["accord", "door", "files", "host", "lab", "live", "gateway", "report", "sim"];
        let by_platform = manifest.get("target").map(toml::Value::to_string);
        assert!(by_platform.as_ref().is_none_or(|_| may.contains(name)), "{name}");
        let of_ours = by_platform.map_or(0, |t| t.matches("accord-").count());
        let absent = ABSENT.iter().filter(|(of, _)| of == name).count();
        assert_eq!(of_ours, absent, "{name}: ours by platform");
    }
}

/// Returns the source files below `dir`.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("readable").path();
        match path.is_dir() {
            true => found.extend(sources(&path)),
            false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            false => {}
        }
    }
    found
}

#[test]
fn only_the_shell_touches_the_system() {
    let rule: BTreeMap<_, _> = MAY_TOUCH.iter().copied().collect();
    let mut looked_at = 0;
    for name in folders() {
        let may = rule.get(name.as_str()).copied().unwrap_or_default();
        for path in sources(&place_of(&name).join("src")) {
            let text = std::fs::read_to_string(&path).expect("text");
            looked_at += 1;
            let code = text.split("#[cfg(test)]").next().expect("a first part");
            for (i, line) in code.lines().enumerate() {
                let line = line.split("//").next().expect("a first part");
                for what in SYSTEM.iter().filter(|what| line.contains(*what)) {
                    let place = format!("{}:{}", path.display(), i + 1);
                    assert!(may.contains(what), "{place}: {name} must not touch {what}");
                }
            }
        }
    }
    assert!(looked_at > 100, "{looked_at} files");
}

/// The functions that open and create files. They belong to the crate `files`: others would read a
/// device to its end, and leave half a file after a full disk or a power cut.
const OPENS: &[&str] = &[
    "fs::write(",
    "fs::copy(",
    "fs::read(",
    "read_to_string(\"",
    "fs::read_to_string(",
    "File::create",
    "File::open",
    "File::options",
    "OpenOptions",
];

/// The files of code with such functions, and the reason. Lines with a path of `/proc` or `/sys` need
/// none.
const MAY_OPEN: &[(&str, &str)] = &[
    ("accord/src/source.rs", "a file of the language, which is read by `files`"),
    ("bindings/python/src/run.rs", "a file of the language, which is read by `files`"),
    ("cli/src/results.rs", "the program itself"),
    ("cli/src/kernel.rs", "a control group"),
    ("kernel/src/attach.rs", "files of the kernel"),
    ("kernel/src/group.rs", "control groups"),
    ("live/src/emulate/ends.rs", "the resolver of the system"),
    ("live/src/gateway.rs", "the files of a gateway, in a folder that goes with the run"),
    ("live/src/namespace.rs", "namespaces, and variables of the kernel"),
];

#[test]
fn files_are_opened_in_one_place() {
    let mut excused = BTreeSet::new();
    let mut roots: Vec<PathBuf> = folders().iter().map(|name| place_of(name)).collect();
    roots.push(place_of("cli").join("../../bindings/python"));
    for path in roots.iter().flat_map(|root| sources(&root.join("src"))) {
        let shown = path.display().to_string().replace("\\", "/");
        if shown.contains("/files/src/") && !shown.contains("/report/") {
            continue;
        }
        for (i, line) in code(&path).lines().enumerate() {
            let named = |what: &&&str| {
                line.match_indices(**what)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            };
            let of_kernel = ["\"/proc", "\"/sys"].iter().any(|place| line.contains(place));
            let Some(what) = OPENS.iter().find(named).filter(|_| !of_kernel) else {
                continue;
            };
            match MAY_OPEN.iter().find(|(file, _)| shown.ends_with(file)) {
                Some((file, _)) => drop(excused.insert(file)),
                None => panic!("{shown}:{}: {what} belongs to the crate files", i + 1),
            }
        }
    }
    assert_eq!(excused.len(), MAY_OPEN.len(), "an exception that nobody needs");
}

/// Functions of the standard library that take the system's, which differ in the last bit from machine to machine.
const OF_THE_SYSTEM: &[&str] = &[
    ".exp()",
    ".exp_m1()",
    ".ln()",
    ".ln_1p()",
    ".log10()",
    ".log2()",
    ".powf(",
    ".cbrt()",
    ".sin()",
    ".cos()",
    ".tan()",
    ".atan2(",
];

/// Theory and the fluid have the same digests in a browser.
#[test]
fn theory_and_the_fluid_take_functions_from_libm() {
    for name in ["fluid", "theory", "solver", "traffic"] {
        for path in sources(&place_of(name).join("src")) {
            for (i, line) in code(&path).lines().enumerate() {
                // `accord solve` only.
                let solve = name == "solver" && line.contains("alpha");
                let found = OF_THE_SYSTEM.iter().find(|what| line.contains(**what));
                let place = format!("{}:{}", path.display(), i + 1);
                assert!(found.is_none() || solve, "{place}: {found:?} is libm's");
            }
        }
    }
}

/// Modules that may use each other: registries and their entries, and a family with its values.
const CIRCLES: &[(&str, &str)] =
    &[("control", "registry"), ("aqm", "registry"), ("family", "family")];

/// A module of a crate, as the names on its path; that of the crate itself is empty.
type Module = Vec<String>;

fn module_of(file: &Path, src: &Path) -> Module {
    let relative = file.strip_prefix(src).expect("below src").with_extension("");
    let names = relative.iter().map(|n| n.to_string_lossy().into_owned());
    let mut names: Module = names.collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        names.pop();
    }
    names
}

/// Returns the code of a file, without comments and unit tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("text");
    let code = text.split("#[cfg(test)]\nmod ").next().expect("a first part");
    let lines = code.lines().map(|l| l.split("//").next().expect("a first part"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the paths that begin with `crate`, `super` or `self` in a text, each as its names; lists
/// in braces are expanded, one level deep.
fn paths(code: &str) -> Vec<Vec<String>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            if code[..at].ends_with(|c: char| is_name(c) || c == ':') {
                continue;
            }
            let mut names = Vec::new();
            let mut rest = &code[at..];
            loop {
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                names.push(rest[..end].to_string());
                rest = &rest[end..];
                let Some(next) = rest.strip_prefix("::") else {
                    found.push(names);
                    break;
                };
                rest = next;
                if let Some(list) = rest.strip_prefix('{') {
                    let list = list.split('}').next().expect("a first part");
                    found.extend(list.split(',').map(|item| {
                        let item = item.trim().split([' ', ':']).next().expect("a first part");
                        names.iter().cloned().chain([item.to_string()]).collect()
                    }));
                    break;
                }
            }
        }
    }
    found
}

/// Returns the modules that each module of a crate uses.
fn uses(src: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let files: Vec<_> = sources(src).into_iter().map(|f| (module_of(&f, src), code(&f))).collect();
    let modules: BTreeSet<Module> = files.iter().map(|(m, _)| m.clone()).collect();
    let deepest = |base: &[String], names: &[String]| {
        let mut module = base.to_vec();
        for name in names {
            module.push(name.clone());
            if !modules.contains(&module) {
                module.pop();
                break;
            }
        }
        module
    };
    // Re-exports of the crate's root are resolved to their modules.
    let root = files.iter().find(|(m, _)| m.is_empty()).map(|(_, code)| code.as_str());
    let exports: Vec<(String, String)> = (root.unwrap_or_default().split(';'))
        .filter_map(|s| s.split_once("pub use ").or(s.split_once("pub(crate) use ")))
        .filter_map(|(_, path)| path.split_once("::"))
        .flat_map(|(module, items)| {
            let items = items.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let items = items.filter(|i| !i.is_empty());
            items.map(|i| (i.to_string(), module.to_string())).collect::<Vec<_>>()
        })
        .collect();
    let mut graph = BTreeMap::new();
    for (module, code) in &files {
        let mut known = BTreeSet::new();
        for path in paths(code) {
            let up = path.iter().take_while(|n| *n == "super").count();
            let base = match path[0].as_str() {
                "crate" => &[][..],
                "super" => &module[..module.len().saturating_sub(up)],
                _ => module,
            };
            let names = &path[up.max(1)..];
            let mut other = deepest(base, names);
            if let ([], Some(first)) = (&other[..], names.first())
                && let Some((_, home)) = exports.iter().find(|(item, _)| item == first)
            {
                other = deepest(&[], std::slice::from_ref(home));
            }
            if !other.is_empty() && other != *module {
                known.insert(other);
            }
        }
        graph.insert(module.clone(), known);
    }
    graph
}

/// Returns true if `to` can be reached from `from`.
fn reaches(graph: &BTreeMap<Module, BTreeSet<Module>>, from: &Module, to: &Module) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        for other in graph.get(module).into_iter().flatten() {
            if other == to {
                return true;
            }
            if seen.insert(other) {
                next.push(other);
            }
        }
    }
    false
}

#[test]
fn modules_form_no_circles() {
    let mut looked_at = 0;
    let mut excused = BTreeSet::new();
    for name in folders() {
        let graph = uses(&place_of(&name).join("src"));
        let exempt = CIRCLES.iter().find(|(of, _)| *of == name);
        for (module, others) in graph.iter().filter(|(m, _)| !m.is_empty()) {
            looked_at += others.len();
            for other in others.iter().filter(|other| reaches(&graph, other, module)) {
                let registry = exempt.map(|(_, m)| vec![m.to_string()]);
                let by_registry = registry.is_some_and(|m| {
                    (reaches(&graph, module, &m) || *module == m) && reaches(&graph, &m, module)
                });
                let (a, b) = (module.join("/"), other.join("/"));
                assert!(by_registry, "{name}: {a} uses {b}, which uses {a} in turn");
                excused.insert(name.clone());
            }
        }
    }
    assert!(looked_at > 300, "{looked_at} uses");
    assert_eq!(excused.len(), CIRCLES.len(), "an exception that nobody needs");
}

/// A reader of one packet engine does not need the other.
/// Published packages leave out dependencies of tests that have no version. With one, packages whose
/// tests use each other could not be published in any order.
#[test]
fn tests_depend_on_crates_by_path() {
    for folder in folders() {
        let manifest = std::fs::read_to_string(place_of(&folder).join("Cargo.toml"))
            .expect("a crate has a manifest");
        let manifest: toml::Table = manifest.parse().expect("TOML");
        let Some(of_tests) = manifest.get("dev-dependencies") else {
            continue;
        };
        for (name, how) in of_tests.as_table().expect("a table") {
            let by_path = how.get("path").is_some() && how.get("version").is_none();
            assert!(
                !name.starts_with("accord") || by_path,
                "{folder}: write {name} = {{ path = \"...\" }} in [dev-dependencies]"
            );
        }
    }
}

/// A file in `tests` that no program names would never run.
#[test]
fn each_file_of_tests_is_in_a_program() {
    let mut joined = 0;
    for folder in folders() {
        let tests = place_of(&folder).join("tests");
        let Ok(all) = std::fs::read_to_string(tests.join("all.rs")) else {
            continue;
        };
        joined += 1;
        let manifest = std::fs::read_to_string(place_of(&folder).join("Cargo.toml"))
            .expect("a crate has a manifest");
        for file in std::fs::read_dir(&tests).expect("the folder of tests") {
            let file = file.expect("an entry").path();
            let name = file.file_stem().expect("a name").to_string_lossy();
            let is_test = file.extension().is_some_and(|e| e == "rs");
            let named = all.lines().any(|line| line == format!("mod {name};"))
                || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            assert!(
                !is_test || named,
                "{}: name it in all.rs (`mod {name};`), or give it a [[test]] in Cargo.toml",
                file.display()
            );
        }
    }
    assert!(joined > 10, "{joined} crates have a joined test program");
}

#[test]
fn the_packet_engines_do_not_use_each_other() {
    let graph = uses(&place_of("sim").join("src"));
    let engines = ["events", "windows"];
    for (engine, other) in [(engines[0], engines[1]), (engines[1], engines[0])] {
        let of_it = graph.iter().filter(|(module, _)| module.first().is_some_and(|m| m == engine));
        let mut looked_at = 0;
        for (module, uses) in of_it {
            looked_at += uses.len();
            let foreign = uses.iter().find(|module| module[0] == other);
            assert_eq!(foreign, None, "{} uses it", module.join("/"));
        }
        assert!(looked_at > 30, "{engine}: {looked_at} uses");
    }
    // Neither uses the other's modules, except for the choice between them.
    let shared = graph.iter().filter(|(module, _)| {
        let first = module.first().map_or("plan", |first| first);
        first != "plan" && !engines.contains(&first)
    });
    for (module, uses) in shared {
        let engine = uses.iter().find(|module| engines.contains(&module[0].as_str()));
        assert_eq!(engine, None, "{} uses it", module.join("/"));
    }
}

/// Names of controllers or disciplines with another meaning: a file, and the reason.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("cli/src/solve/network.rs", "utilities in tables of flows are called vegas and reno, too"),
    ("cli/src/emulate/mahimahi.rs", "mahimahi has names of its own for queues"),
    ("cli/src/emulate/beside.rs", "Linux has names of its own for its congestion controls"),
    ("gateway/src/config/keys.rs", "a service may have the limit none, too"),
];

/// Returns true if a line of code branches on one of these names.
fn decides_by(line: &str, name: &str) -> bool {
    let literal = format!("\"{name}\"");
    line.match_indices(&literal).any(|(at, _)| {
        let before = line[..at].trim_end();
        let after = line[at + literal.len()..].trim_start();
        let compared = ["==", "!=", "|", "starts_with(", "ends_with(", "Some("];
        let decided = ["=>", "|", "==", "!=", ") =>", "if "];
        compared.iter().any(|c| before.ends_with(c))
            || decided.iter().any(|d| after.starts_with(d))
            || before.contains("matches!(")
    })
}

fn families() -> Vec<&'static accord::family::Family> {
    [accord::control::FAMILIES, accord::aqm::FAMILIES].concat()
}

/// Such as the engines had in the past.
#[test]
fn a_decision_by_name_is_found() {
    for line in [
        "            \"reno\" | \"newreno\" => Control {",
        "    flow.controller.family().name != \"none\"",
        "        matches!(v.family().name, \"droptail\" | \"avd\" | \"avq\")",
        "            \"monaco\" => {",
    ] {
        assert!(families().iter().any(|f| decides_by(line, f.name)), "{line}");
    }
    for line in [
        "            Outcome::None => \"none\",",
        "    data: Data::Text(\"droptail\".to_string()),",
    ] {
        assert!(!families().iter().any(|f| decides_by(line, f.name)), "{line}");
    }
}

#[test]
fn nobody_decides_by_the_name_of_a_family() {
    let families = families();
    let mut used = BTreeSet::new();
    for name in folders() {
        if ["control", "aqm"].contains(&name.as_str()) {
            continue;
        }
        for path in sources(&place_of(&name).join("src")) {
            let text = std::fs::read_to_string(&path).expect("text");
            let code = text.split("#[cfg(test)]").next().expect("a first part");
            let except = OTHER_NAMES.iter().find(|(file, _)| path.ends_with(file));
            for (i, line) in code.lines().enumerate() {
                let line = line.split("//").next().expect("a first part");
                let by_name = families.iter().find(|f| decides_by(line, f.name));
                let looked_at = line.contains("family().name ==")
                    || line.contains("family().name !=")
                    || line.contains("match") && line.contains("family().name");
                if let Some((file, _)) = except {
                    used.extend(by_name.map(|_| *file));
                    continue;
                }
                let place = format!("{}:{}", path.display(), i + 1);
                let named = by_name.map(|f| f.name).unwrap_or_default();
                assert!(
                    by_name.is_none() && !looked_at,
                    "{place} decides by a family's name {named}; its family should say"
                );
            }
        }
    }
    assert_eq!(used.len(), OTHER_NAMES.len(), "an exception that nobody needs");
}
