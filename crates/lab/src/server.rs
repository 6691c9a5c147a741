//! The server: the addresses and their access control.

use crate::Settings;
use crate::draft::{draft, read};
use crate::exercise::{Exercise, Task};
use crate::gallery::{FIRST, entries, text};
use crate::place::{Opened, Refusal};
use crate::run::{Event, Request, run};
use accord::report::{Point, RunDir, checks, page, write_run_dir};
use accord::scenario::{Scenario, print};
use accord::{Catalogue, Engine, Run};
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use futures_channel::mpsc;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

const PAGE: &str = include_str!("../web/dist/lab.html");
/// The maximum length of a request, in bytes: a scenario file and its quotes.
const LONGEST: usize = 16 << 20;
/// The number of views that wait if the page draws more slowly than they are computed. Beyond it
/// the run waits.
const AHEAD: usize = 4;
/// The number of results kept for export.
const KEPT: usize = 8;

struct Shared {
    secret: String,
    hosts: [String; 2],
    settings: Settings,
    results: Mutex<Results>,
    /// The files that were opened, the last one at the end. Each tab of the page has one of its own.
    opened: Mutex<Vec<Opened>>,
}

#[derive(Default)]
struct Results {
    last: u64,
    kept: BTreeMap<u64, (Scenario, Vec<Run>)>,
}

type Lab = State<Arc<Shared>>;

/// Returns the addresses of the laboratory.
pub fn router(
    secret: String,
    address: SocketAddr,
    settings: Settings,
    opened: Option<Opened>,
) -> Router {
    let port = address.port();
    let shared = Arc::new(Shared {
        secret,
        hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        settings,
        results: Mutex::default(),
        opened: Mutex::new(opened.into_iter().collect()),
    });
    Router::new()
        .route("/", get(async || Html(PAGE)))
        .route("/api/start", get(start))
        .route("/api/gallery", get(async || Json(entries())))
        .route("/api/scenario", get(scenario))
        .route("/api/schema", get(schema))
        .route("/api/check", post(check))
        .route("/api/run", post(stream))
        .route("/api/export", post(export))
        .route("/api/save", post(save))
        .route("/api/exercise", get(exercise))
        .route("/api/grade", post(grade))
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: String,
}

/// Admits only requests with the secret that address this server by its own name. So neither other
/// users of the machine nor pages of other sites have access.
async fn guard(
    State(lab): Lab,
    Query(Token { token }): Query<Token>,
    request: axum::extract::Request,
    next: Next,
) -> Response {
    if !lab.admits(request.headers(), &token) {
        let why = "This page needs the whole address that `accord lab` printed.";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    let mut response = next.run(request).await;
    let policy = "default-src 'none'; connect-src 'self'; img-src data: blob:; \
                  script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    let headers: &mut HeaderMap = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[derive(Deserialize)]
struct Start {
    /// The key of the file that the tab had open.
    file: Option<String>,
}

/// Returns the initial data of a tab: the file that it had open, or else the one opened last, with its
/// text, or else the lesson to show.
async fn start(
    State(lab): Lab,
    Query(Start { file }): Query<Start>,
) -> Result<Json<Value>, Refusal> {
    blocking(move || {
        let mut opened = lab.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let own = opened.iter().position(|o| Some(&o.key) == file.as_ref());
        let last = opened.len().checked_sub(1);
        let mut opened = own.or(last).map(|i| &mut opened[i]);
        if let Some(opened) = &mut opened {
            opened.refresh();
        }
        Json(json!({
            "file": opened.as_ref().map(|o| o.place()),
            "text": opened.as_ref().map_or("", |o| &o.text),
            "lesson": FIRST,
        }))
    })
    .await
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

async fn scenario(Query(Id { id }): Query<Id>) -> Result<&'static str, Refusal> {
    text(&id).ok_or(Refusal(StatusCode::NOT_FOUND, format!("unknown scenario \"{id}\"")))
}

async fn schema(State(lab): Lab) -> Json<Value> {
    Json(accord::language::schema(&lab.settings.catalogue))
}

#[derive(Deserialize)]
struct Text {
    text: String,
    /// The key of the tab's file.
    file: Option<String>,
}

async fn check(
    State(lab): Lab,
    Json(Text { text, file }): Json<Text>,
) -> Result<Json<Value>, Refusal> {
    let name = lab.name(file.as_deref());
    let checked = blocking(move || draft(&name, &text, &lab.settings.catalogue)).await?;
    Ok(Json(checked))
}

/// Runs a scenario, and streams its events: a line of JSON each.
async fn stream(State(lab): Lab, Json(request): Json<Request>) -> Result<Response, Refusal> {
    let Request { text, file, engines, point } = request;
    let (name, catalogue) = (lab.name(file.as_deref()), lab.settings.catalogue);
    let engines: Result<Vec<Engine>, String> = engines.iter().map(|e| e.parse()).collect();
    let engines = engines.map_err(Refusal::wrong)?;
    let scenario = blocking(move || point_of(&name, &text, &catalogue, point)).await??;
    let (mut sender, lines) = mpsc::channel::<Result<Bytes, Infallible>>(AHEAD);
    let thread = std::thread::Builder::new().name("lab-run".into());
    let started = thread.spawn(move || {
        let begun = Instant::now();
        let mut report = |event: Event| {
            let mut line = serde_json::to_vec(&event).expect("events are plain data");
            line.push(b'\n');
            send(&mut sender, line)
        };
        if let Some(runs) = run(&scenario, &engines, &mut report) {
            let run = lab.keep(scenario, runs);
            let seconds = begun.elapsed().as_secs_f64();
            report(Event::Done { run, seconds });
        }
    });
    started.map_err(|e| Refusal(StatusCode::SERVICE_UNAVAILABLE, e.to_string()))?;
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(lines)).into_response())
}

/// Sends a line. Waits until the page has read enough of the previous ones. Returns false if the
/// page has gone.
fn send(sender: &mut mpsc::Sender<Result<Bytes, Infallible>>, line: Vec<u8>) -> bool {
    let mut line = Ok(Bytes::from(line));
    loop {
        match sender.try_send(line) {
            Ok(()) => return true,
            Err(e) if e.is_full() => {
                line = e.into_inner();
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            Err(_) => return false,
        }
    }
}

fn point_of(
    name: &str,
    text: &str,
    catalogue: &Catalogue,
    point: usize,
) -> Result<Scenario, Refusal> {
    let read = read(name, text, catalogue);
    let (_, mut points) = read.map_err(Refusal::wrong)?;
    if point < points.len() {
        return Ok(points.swap_remove(point));
    }
    let n = points.len();
    Err(Refusal::wrong(format!("the sweep has no point {point}; its {n} points count from 0")))
}

#[derive(Deserialize)]
struct Export {
    run: u64,
}

/// Writes a result as a new run directory.
async fn export(
    State(lab): Lab,
    Json(Export { run }): Json<Export>,
) -> Result<Json<Value>, Refusal> {
    let found = lab.results.lock().unwrap_or_else(PoisonError::into_inner).kept.get(&run).cloned();
    let gone =
        || Refusal(StatusCode::NOT_FOUND, "this result is no longer kept; run it again".into());
    let (scenario, runs) = found.ok_or_else(gone)?;
    let directory = blocking(move || -> Result<PathBuf, Refusal> {
        let checks = checks(&scenario, &runs.iter().collect::<Vec<_>>());
        let point = Point { scenario: &scenario, runs: &runs, checks: &checks };
        let place = |n: u32| lab.settings.runs.join(format!("{}-lab-{n}", scenario.id));
        let free = (1..).map(place).find(|dir| !dir.exists());
        let dir = free.expect("numbers do not end before directories do");
        let contents = RunDir {
            scenario_toml: &print(&scenario),
            point,
            page: Some(&page(&[point])),
            csv: false,
        };
        let written = write_run_dir(&dir, &contents);
        written.map_err(Refusal::system)?;
        Ok(dir)
    })
    .await??;
    Ok(Json(json!({ "directory": directory.display().to_string() })))
}

#[derive(Deserialize)]
struct Save {
    text: String,
    #[serde(flatten)]
    to: Destination,
    /// True to replace a file that holds another text.
    #[serde(default)]
    replace: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Destination {
    /// A file in the folder of the laboratory, by its name.
    Named { name: String },
    /// The tab's file by its key, and the mark of the text that the tab knows of it.
    Open { file: String, base: String },
}

/// Saves the text.
///
/// Answers 409 if a text would be lost that the tab does not know.
async fn save(State(lab): Lab, Json(request): Json<Save>) -> Result<Json<Value>, Refusal> {
    blocking(move || {
        let Save { text, to, replace } = request;
        // One save at a time: between the look at a file and its replacement no other tab writes it.
        let mut opened = lab.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match to {
            Destination::Named { name } => {
                Opened::create(&lab.settings.folder, &name, text, replace)?
            }
            Destination::Open { file, base } => {
                let none =
                    || Refusal::wrong("this file is not open; give a name to save the text under");
                let known = opened.iter().find(|o| o.key == file);
                let mut file = known.cloned().ok_or_else(none)?;
                file.save(text, &base, replace)?;
                file
            }
        };
        let place = now.place();
        opened.retain(|o| o.key != now.key);
        opened.push(now);
        Ok(Json(place))
    })
    .await?
}

#[derive(Deserialize)]
struct Student {
    id: String,
    seed: String,
}

/// Returns the exercise of a lesson for a student, or null if the lesson has none.
async fn exercise(
    Query(Student { id, seed }): Query<Student>,
) -> Result<Json<Option<Task>>, Refusal> {
    Ok(Json(Exercise::of(&id).map(|e| e.task(&seed))))
}

#[derive(Deserialize)]
struct Attempt {
    id: String,
    seed: String,
    answer: f64,
}

/// Grades an answer by running the lesson with it.
async fn grade(
    State(lab): Lab,
    Json(Attempt { id, seed, answer }): Json<Attempt>,
) -> Result<Json<Value>, Refusal> {
    let exercise = Exercise::of(&id);
    let none = || Refusal(StatusCode::NOT_FOUND, format!("{id} has no exercise"));
    let exercise = exercise.ok_or_else(none)?;
    let graded =
        blocking(move || exercise.grade(&id, &seed, answer, &lab.settings.catalogue)).await?;
    let (right, message) = graded.map_err(Refusal::wrong)?;
    Ok(Json(json!({ "right": right, "message": message })))
}

/// Runs blocking work off the server's threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(Refusal::system)
}

impl Shared {
    fn admits(&self, headers: &HeaderMap, token: &str) -> bool {
        let of = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
        let token = of("x-accord-token").unwrap_or(token).bytes();
        // The comparison takes constant time.
        let differ = |all, (a, b)| all | (a ^ b);
        let known =
            token.len() == self.secret.len() && token.zip(self.secret.bytes()).fold(0, differ) == 0;
        let host = of("host").unwrap_or_default();
        known && self.hosts.iter().any(|h| h == host)
    }

    /// Returns the path of the file with this key. Its stem is the id of a scenario without one, and its
    /// folder holds the files that the scenario names.
    fn name(&self, key: Option<&str>) -> String {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let name = opened.iter().find(|o| Some(o.key.as_str()) == key).map(Opened::file);
        name.unwrap_or_else(|| "lab.toml".into())
    }

    fn keep(&self, scenario: Scenario, runs: Vec<Run>) -> u64 {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.last += 1;
        let number = results.last;
        results.kept.insert(number, (scenario, runs));
        while results.kept.len() > KEPT {
            results.kept.pop_first();
        }
        number
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}
