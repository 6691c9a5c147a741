//! The answers of the server, and their access control.
#![expect(clippy::disallowed_methods, reason = "it waits for a server")]

use accord::record::Quiet;
use accord::{Engine, File, Options, run};
use accord_lab::{Lab, Settings};
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A laboratory served until it is dropped.
struct Served {
    host: String,
    token: String,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

fn serve(settings: Settings) -> Served {
    let lab = Lab::open(settings).expect("a free port");
    let url = lab.url();
    let (host, token) = url["http://".len()..].split_once("/?token=").expect("a secret");
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    let thread = std::thread::spawn(move || {
        lab.serve(move || asked.load(Ordering::SeqCst)).expect("it serves");
    });
    Served { host: host.into(), token: token.into(), stop, thread: Some(thread) }
}

fn plain() -> Settings {
    Settings::new(accord::catalogue())
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

impl Served {
    fn send(&self, method: &str, path: &str, host: &str, token: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nx-accord-token: {token}\r\n\
             content-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it reads");
        stream
    }

    /// Returns the status and the body.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        answer(self.send(method, path, &self.host, &self.token, body))
    }

    /// Returns the events of a request: "answer" or "refused" is the last one.
    fn events(&self, request: serde_json::Value) -> Vec<serde_json::Value> {
        let (status, stream) = self.ask("POST", "/api/ask", &request.to_string());
        assert_eq!(status, 200, "{stream}");
        events(&stream)
    }

    /// Returns the answer to a request.
    fn answer(&self, request: serde_json::Value) -> serde_json::Value {
        let mut last = self.events(request).pop().expect("an event");
        assert_eq!(last["event"], "answer", "{last}");
        last["answer"].take()
    }
}

/// The events of a response, the last of which is the answer or a refusal.
fn events(stream: &str) -> Vec<serde_json::Value> {
    // Chunks have extra lines with their lengths.
    (stream.lines())
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|event: &serde_json::Value| event.is_object())
        .collect()
}

fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text");
    let status = text[9..12].parse().expect("a status");
    let (_, body) = text.split_once("\r\n\r\n").expect("headers end");
    (status, body.to_string())
}

const SMALL: &str = "duration = \"2 s\"\n[topology.dumbbell]\nrate = \"8 Mbps\"\n\
                     delay = \"5 ms\"\n[flow.a]\nfrom = \"left\"\nto = \"right\"\n\
                     controller = \"vegas\"\n";

fn body(text: &str, rest: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("{{\"text\": {text}{rest}}}")
}

#[test]
fn only_those_who_know_the_address_get_in() {
    let lab = serve(plain());
    let (host, token) = (lab.host.as_str(), lab.token.as_str());
    assert_eq!(answer(lab.send("GET", "/", host, token, "")).0, 200);
    for (host, token) in [
        (host, ""),
        (host, "00000000000000000000000000000000"),
        (host, &token[..31]),
        ("accord.example", token),
    ] {
        for path in ["/", "/api/ask", "/api/start"] {
            assert_eq!(answer(lab.send("GET", path, host, token, "")).0, 403, "{host} {path}");
        }
    }
}

#[test]
fn errors_have_places_as_browsers_count() {
    let lab = serve(plain());
    // Two units of UTF-16 and four bytes precede the error.
    let text = format!("title = \"𝛼\"\nsteddy = 1\n{SMALL}");
    let answer = lab.answer(json!({ "ask": "check", "text": text }));
    let error = &answer["errors"][0];
    assert_eq!(error["line"], 2);
    let from = error["from"].as_u64().unwrap() as usize;
    let units: Vec<u16> = text.encode_utf16().collect();
    assert_eq!(String::from_utf16_lossy(&units[from..from + 6]), "steddy");
}

#[test]
fn a_run_streams_views_and_can_be_exported() {
    let runs = tempfile::tempdir().unwrap();
    let lab = serve(Settings { runs: runs.path().into(), ..plain() });
    let all = ["theory", "fluid", "packet"];
    let events = lab.events(json!({ "ask": "run", "text": SMALL, "engines": all }));
    let last = &events.last().expect("events")["answer"];
    let file = File::parse("lab.toml", SMALL).expect("sound");
    let scenario = &file.points(&accord::catalogue(), None).expect("sound")[0];
    let native = run(scenario, Engine::Packet, &Options::default(), &mut Quiet).expect("it runs");
    assert_eq!(last["digests"]["packet"], native.manifest.digest);
    let view = &events[events.len() - 2];
    assert_eq!(view["complete"], true);
    let plots: serde_json::Value =
        serde_json::from_str(view["plots"].as_str().unwrap()).expect("JSON");
    let engines = &plots["points"][0]["engines"];
    assert_eq!(engines, &serde_json::json!(["theory", "fluid", "packet"]));

    for n in 1..=2 {
        let (status, _) = lab.ask("POST", "/api/export", &format!("{{\"run\": {}}}", last["run"]));
        assert_eq!(status, 200);
        let dir = runs.path().join(format!("lab-lab-{n}"));
        assert!(dir.join("series.parquet").is_file() && dir.join("page.html").is_file());
    }
    assert_eq!(lab.ask("POST", "/api/export", "{\"run\": 99}").0, 404);

    let series = |more: serde_json::Value| {
        let mut request = json!({ "ask": "series", "run": last["run"] });
        request.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("one"));
        lab.events(request).pop().expect("an event")
    };
    let [kept, released] = [json!({}), json!({ "release": true })].map(series);
    assert_eq!(kept["answer"].as_array().map(Vec::len), Some(3));
    assert_eq!(kept, released);
    assert_eq!(series(json!({}))["event"], "refused");
}

/// Expectations of engines that are not asked for have no verdict: in views, in the page, on disk.
#[test]
fn only_engines_that_ran_are_judged() {
    let runs = tempfile::tempdir().unwrap();
    let lab = serve(Settings { runs: runs.path().into(), ..plain() });
    let expect = "[[expect]]\nname = \"busy\"\nmetric = \"utilisation\"\nof = \"bottleneck\"\n\
                  engine = [\"theory\", \"packet\"]\nat_least = \"50 %\"\n";
    let text = format!("{SMALL}{expect}");
    let events = lab.events(json!({ "ask": "run", "text": text, "engines": ["theory"] }));
    let tables = events[events.len() - 2]["tables"].as_str().expect("a view");
    assert!(tables.contains("busy") && !tables.contains("FAILED"), "{tables}");
    let number = &events.last().expect("events")["answer"]["run"];
    let page = lab.answer(json!({ "ask": "page", "run": number }));
    let page = page["page"].as_str().expect("a page");
    assert!(page.contains("busy") && !page.contains("1 FAILED"));
    let (status, _) = lab.ask("POST", "/api/export", &format!("{{\"run\": {number}}}"));
    assert_eq!(status, 200);
    let page = read(&runs.path().join("lab-lab-1").join("page.html"));
    assert!(page.contains("busy") && !page.contains("1 FAILED"));
}

#[test]
fn a_page_that_goes_away_ends_its_run() {
    // The threads that draw pages are named after the one that starts them, which is not a run's
    // here.
    rayon::broadcast(|_| ());
    let lab = serve(plain());
    let long = SMALL.replace("2 s", "1000000 s");
    let request = json!({ "ask": "run", "text": long, "engines": ["packet"] }).to_string();
    let stream = lab.send("POST", "/api/ask", &lab.host, &lab.token, &request);
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("\"event\":\"view\"") {
        line.clear();
        assert!(lines.read_line(&mut line).expect("it streams") > 0);
    }
    assert!(line.contains("\"complete\":false"), "packets stream in");
    drop(lines);
    // Its thread must end, or the process would use a core for days. (Runs of other tests are
    // short.)
    let deadline = Instant::now() + Duration::from_secs(30);
    while runs() > 0 {
        assert!(Instant::now() < deadline, "the run goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the number of threads that run scenarios.
fn runs() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux");
    let names = tasks.filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "lab-run").count()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A tab of the page: the file that it has open, and the mark of the text that it knows.
struct Tab {
    key: String,
    mark: String,
}

impl Tab {
    /// Opens the file that the server shows to a new tab.
    fn new(lab: &Served) -> Tab {
        let start = lab.ask("GET", "/api/start", "").1;
        let start: serde_json::Value = serde_json::from_str(&start).expect("JSON");
        Tab::of(&start["file"])
    }

    fn of(place: &serde_json::Value) -> Tab {
        let text = |key: &str| place[key].as_str().expect("text").to_string();
        Tab { key: text("key"), mark: text("mark") }
    }

    /// Presses Save, and returns the status.
    fn save(&mut self, lab: &Served, text: &str, replace: bool) -> u16 {
        let (file, base) = (&self.key, &self.mark);
        let request = serde_json::json!({
            "text": text, "file": file, "base": base, "replace": replace,
        });
        let (status, answer) = lab.ask("POST", "/api/save", &request.to_string());
        if status == 200 {
            *self = Tab::of(&serde_json::from_str(&answer).expect("JSON"));
        }
        status
    }

    /// Saves under a name, and returns the status.
    fn save_as(&mut self, lab: &Served, text: &str, name: &str) -> u16 {
        let request = serde_json::json!({ "text": text, "name": name });
        let (status, answer) = lab.ask("POST", "/api/save", &request.to_string());
        if status == 200 {
            *self = Tab::of(&serde_json::from_str(&answer).expect("JSON"));
        }
        status
    }
}

#[test]
fn a_file_is_saved_unless_somebody_else_changed_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    std::fs::write(&file, SMALL).unwrap();
    let lab = serve(Settings { file: Some(file.clone()), ..plain() });
    let mut tab = Tab::new(&lab);
    assert_eq!(tab.save(&lab, "# new", false), 200);
    assert_eq!(read(&file), "# new");
    for theirs in [Some("# theirs"), None] {
        match theirs {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        assert_eq!(tab.save(&lab, "# mine", false), 409);
        assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), theirs);
        assert_eq!(tab.save(&lab, "# mine", true), 200);
        assert_eq!(read(&file), "# mine");
    }
}

#[test]
fn a_tab_saves_its_own_file_and_replaces_no_text_of_another_tab() {
    let dir = tempfile::tempdir().unwrap();
    let (mine, other) = (dir.path().join("mine.toml"), dir.path().join("other.toml"));
    std::fs::write(&mine, SMALL).unwrap();
    let settings = Settings { file: Some(mine.clone()), folder: dir.path().into(), ..plain() };
    let lab = serve(settings);
    let (mut first, mut second) = (Tab::new(&lab), Tab::new(&lab));
    assert_eq!(second.save_as(&lab, "# second", "other.toml"), 200);
    // The first tab still has its own file.
    assert_eq!(first.save(&lab, "# first", false), 200);
    assert_eq!((&read(&mine)[..], &read(&other)[..]), ("# first", "# second"));

    // Two tabs of one file: the second Save would drop the text of the first.
    let mut third = Tab::new(&lab);
    assert_eq!(third.key, first.key, "it was saved last");
    assert_eq!(first.save(&lab, "# first again", false), 200);
    assert_eq!(third.save(&lab, "# third", false), 409);
    assert_eq!(read(&mine), "# first again");
    assert_eq!(third.save(&lab, "# third", true), 200);
    assert_eq!(first.save(&lab, "# first at last", false), 409);
    // The same text loses nothing.
    assert_eq!(first.save(&lab, "# third", false), 200);

    // A tab that is loaded again has the file that it had.
    let start = lab.ask("GET", &format!("/api/start?file={}", second.key), "").1;
    assert!(start.contains("# second"), "{start}");
    // Only files that were opened are written.
    let mut stranger = Tab { key: dir.path().join("x.toml").display().to_string(), ..first };
    assert_eq!(stranger.save(&lab, "# x", true), 400);
    assert!(!dir.path().join("x.toml").exists());
}

/// The disk has room for the file, and not for the text that is to replace it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().display();
    let sh = |command: String| std::process::Command::new("sh").args(["-c", &command]).status();
    let mounted = sh(format!("mount -t tmpfs -o size=64k tmpfs {at} 2> /dev/null"));
    if !mounted.expect("a shell").success() {
        return eprintln!("SKIPPED: a full disk needs root");
    }
    let file = dir.path().join("mine.toml");
    std::fs::write(&file, SMALL).unwrap();
    let lab = serve(Settings { file: Some(file.clone()), ..plain() });
    let mut tab = Tab::new(&lab);
    assert_eq!(tab.save(&lab, &"# long\n".repeat(20_000), false), 500);
    let (left, names) = (read(&file), std::fs::read_dir(dir.path()).unwrap().count());
    let again = tab.save(&lab, "# short", false);
    drop(lab);
    sh(format!("umount {at}")).expect("a shell");
    assert_eq!((left.as_str(), names, again), (SMALL, 1, 200));
}

#[test]
fn a_new_file_is_created_in_the_folder_only_and_replaces_none_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    let lab = serve(Settings { folder: folder.clone(), ..plain() });
    let save = |text, name: &str, replace: bool| {
        let name = serde_json::to_string(name).unwrap();
        let rest = format!(", \"name\": {name}, \"replace\": {replace}");
        lab.ask("POST", "/api/save", &body(text, &rest))
    };
    for name in ["../up.toml", "/tmp/up.toml", "a/b.toml", "..", "", "a.sh", ".a.toml"] {
        let (status, why) = save("# bad", name, true);
        assert_eq!(status, 400, "{name}");
        assert!(why.contains("no name for a scenario file"), "{why}");
    }
    std::fs::create_dir(folder.join("dir.toml")).unwrap();
    assert_eq!(save("# bad", "dir.toml", true).0, 400);
    std::fs::write(folder.join("theirs.toml"), "# theirs").unwrap();
    assert_eq!(save("# mine", "theirs.toml", false).0, 409);
    assert_eq!(read(&folder.join("theirs.toml")), "# theirs");
    assert_eq!(save("# mine", "theirs.toml", true).0, 200);
    assert_eq!(read(&folder.join("theirs.toml")), "# mine");

    // The file is open from then on.
    assert_eq!(save("# mine", "new.toml", false).0, 200);
    assert_eq!(Tab::new(&lab).save(&lab, "# newer", false), 200);
    assert_eq!(read(&folder.join("new.toml")), "# newer");
    let start: serde_json::Value =
        serde_json::from_str(&lab.ask("GET", "/api/start", "").1).expect("JSON");
    assert_eq!(start["text"], "# newer");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_not_text_is_not_opened() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), [0xff, 0xfe]).unwrap();
    let opened = Lab::open(Settings { file: Some(file.path().into()), ..plain() });
    assert!(opened.is_err());
}

#[test]
fn an_exercise_comes_without_its_answer_and_is_graded() {
    let lab = serve(plain());
    let exercise = |id: &str| lab.answer(json!({ "ask": "exercise", "id": id, "seed": "Ada" }));
    let task = exercise("10-contracts");
    let keys: Vec<&String> = task.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["question", "unit"]);
    let attempt = |answer: f64| json!({ "ask": "grade", "id": "10-contracts", "seed": "Ada", "answer": answer });
    assert_eq!(lab.answer(attempt(0.5))["right"], false);
    // A contract is positive.
    let refused = &lab.events(attempt(-1.0))[0];
    assert_eq!(refused["event"], "refused");
    let message = refused["message"].as_str().expect("a refusal");
    assert!(message.starts_with("the lesson does not run with this answer: "), "{message}");
    assert!(!message.contains("--set"), "{message}");
    assert_eq!(exercise("01-aimd"), serde_json::Value::Null);
}

#[test]
fn a_taken_port_is_named() {
    let lab = serve(plain());
    let port = lab.host.rsplit_once(':').expect("a port").1.parse().expect("a number");
    let Err(refused) = Lab::open(Settings { port, ..plain() }) else { panic!("it is taken") };
    assert!(refused.to_string().starts_with(&format!("port {port}: ")), "{refused}");
}

#[test]
fn nonsense_is_refused() {
    let lab = serve(plain());
    for (request, why) in [
        (json!({ "ask": "run", "text": "not toml", "engines": ["packet"] }), "expected"),
        (json!({ "ask": "run", "text": SMALL, "engines": ["warp"] }), "warp"),
        (json!({ "ask": "run", "text": SMALL, "engines": ["packet"], "point": 7 }), "no point 8"),
        (json!({ "ask": "grade", "id": "x", "seed": "", "answer": 1 }), "x has no exercise"),
        (json!({ "ask": "scenario", "id": "../../etc/passwd" }), "unknown scenario"),
        (json!({ "ask": "page", "run": 99 }), "no longer kept"),
    ] {
        let events = lab.events(request);
        assert_eq!(events.len(), 1);
        let message = events[0]["message"].as_str().expect("a refusal");
        assert!(events[0]["event"] == "refused" && message.contains(why), "{message}");
    }
    for (path, body, status) in [
        ("/api/ask", "{".into(), 400),
        ("/api/ask", "[]".into(), 422),
        ("/api/ask", "{\"ask\": \"dance\"}".into(), 422),
        ("/api/save", body(SMALL, ""), 422),
    ] {
        assert_eq!(lab.ask("POST", path, &body).0, status, "{path} {body:.60}");
    }
}
