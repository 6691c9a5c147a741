//! The server: what each address answers, and who may ask.

use crate::Settings;
use crate::draft::{Draft, draft, read};
use crate::gallery::{entries, text};
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
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

const PAGE: &str = include_str!("../web/dist/lab.html");
/// The longest request, in bytes: a scenario file and its quotes.
const LONGEST: usize = 16 << 20;
/// Views wait here if the page draws more slowly than they are made. Then the run waits, too.
const AHEAD: usize = 4;
/// The number of results that can be exported.
const KEPT: usize = 8;

struct Shared {
    secret: String,
    hosts: [String; 2],
    settings: Settings,
    results: Mutex<Results>,
    /// The text of the file as it was read or saved last.
    saved: Mutex<String>,
}

#[derive(Default)]
struct Results {
    last: u64,
    kept: BTreeMap<u64, (Scenario, Vec<Run>)>,
}

type Lab = State<Arc<Shared>>;

/// Returns the addresses of the laboratory.
pub fn router(secret: String, address: SocketAddr, settings: Settings) -> Router {
    let port = address.port();
    let saved = settings
        .file
        .as_ref()
        .and_then(|f| std::fs::read_to_string(f).ok());
    let shared = Arc::new(Shared {
        secret,
        hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        settings,
        results: Mutex::default(),
        saved: Mutex::new(saved.unwrap_or_default()),
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
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: String,
}

/// Lets in only those who know the secret and address this server by its own name. So neither other
/// users of the machine nor pages of other sites get in.
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

/// What the page begins with.
#[derive(Serialize)]
struct Start {
    /// The name of the file, if it has one.
    file: Option<String>,
    text: String,
    /// The engines that this machine has.
    engines: Vec<&'static str>,
    version: &'static str,
}

async fn start(State(lab): Lab) -> Json<Start> {
    let file = lab.settings.file.as_ref();
    let text = match file {
        Some(_) => lab
            .saved
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone(),
        None => text("02-vegas").unwrap_or_default().to_string(),
    };
    Json(Start {
        file: file.map(|f| f.display().to_string()),
        text,
        engines: Engine::ALL.map(Engine::name).to_vec(),
        version: env!("CARGO_PKG_VERSION"),
    })
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

async fn scenario(Query(Id { id }): Query<Id>) -> Result<&'static str, Refusal> {
    text(&id).ok_or(Refusal(
        StatusCode::NOT_FOUND,
        format!("there is no scenario \"{id}\""),
    ))
}

async fn schema(State(lab): Lab) -> Json<serde_json::Value> {
    Json(accord::language::schema(&lab.settings.catalogue))
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

async fn check(State(lab): Lab, Json(Text { text }): Json<Text>) -> Result<Json<Draft>, Refusal> {
    let name = lab.name();
    let checked = blocking(move || draft(&name, &text, &lab.settings.catalogue)).await?;
    Ok(Json(checked))
}

/// Runs a scenario, and streams what there is to see of it: a line of JSON each.
async fn stream(State(lab): Lab, Json(request): Json<Request>) -> Result<Response, Refusal> {
    let (name, catalogue) = (lab.name(), lab.settings.catalogue);
    let Request {
        text,
        engines,
        point,
    } = request;
    let engines: Result<Vec<Engine>, String> = engines.iter().map(|e| e.parse()).collect();
    let engines = engines.map_err(|e| Refusal(StatusCode::BAD_REQUEST, e))?;
    let scenario = blocking(move || point_of(&name, &text, &catalogue, point)).await??;
    let (mut sender, lines) = mpsc::channel::<Result<Bytes, Infallible>>(AHEAD);
    let thread = std::thread::Builder::new().name("lab-run".into());
    let started = thread.spawn(move || {
        let begun = Instant::now();
        let mut tell = |event: Event| {
            let mut line = serde_json::to_vec(&event).expect("events are plain data");
            line.push(b'\n');
            send(&mut sender, line)
        };
        if let Some(runs) = run(&scenario, &engines, &mut tell) {
            let run = lab.keep(scenario, runs);
            let seconds = begun.elapsed().as_secs_f64();
            tell(Event::Done { run, seconds });
        }
    });
    started.map_err(|e| Refusal(StatusCode::SERVICE_UNAVAILABLE, e.to_string()))?;
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(lines)).into_response())
}

/// Sends a line. Waits while the page has not taken those before it. Returns false if the page has
/// gone.
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
    let (_, mut points) = read.map_err(|e| Refusal(StatusCode::BAD_REQUEST, e.to_string()))?;
    match point < points.len() {
        true => Ok(points.swap_remove(point)),
        false => Err(Refusal(
            StatusCode::BAD_REQUEST,
            "there is no such point".into(),
        )),
    }
}

#[derive(Deserialize)]
struct Export {
    run: u64,
}

#[derive(Serialize)]
struct Exported {
    directory: String,
}

/// Writes a result as a run directory that was not there before.
async fn export(
    State(lab): Lab,
    Json(Export { run }): Json<Export>,
) -> Result<Json<Exported>, Refusal> {
    let found = lab
        .results
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .kept
        .get(&run)
        .cloned();
    let gone = || {
        Refusal(
            StatusCode::NOT_FOUND,
            "this result is no longer kept; run it again".into(),
        )
    };
    let (scenario, runs) = found.ok_or_else(gone)?;
    let directory = blocking(move || -> Result<PathBuf, Refusal> {
        let checks = checks(&scenario, &runs.iter().collect::<Vec<_>>());
        let point = Point {
            scenario: &scenario,
            runs: &runs,
            checks: &checks,
        };
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
        written.map_err(|e| Refusal(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))?;
        Ok(dir)
    })
    .await??;
    let directory = directory.display().to_string();
    Ok(Json(Exported { directory }))
}

/// Saves the text in the file that the laboratory was opened with, unless somebody else has changed
/// it.
async fn save(State(lab): Lab, Json(Text { text }): Json<Text>) -> Result<StatusCode, Refusal> {
    let Some(file) = lab.settings.file.clone() else {
        return Err(Refusal(
            StatusCode::CONFLICT,
            "there is no file to save in".into(),
        ));
    };
    blocking(move || {
        let mut saved = lab.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let there = std::fs::read_to_string(&file).unwrap_or_default();
        if there != *saved {
            let why = format!("{} was changed by another program", file.display());
            return Err(Refusal(StatusCode::CONFLICT, why));
        }
        let failed = |e| Refusal(StatusCode::INTERNAL_SERVER_ERROR, format!("{e}"));
        std::fs::write(&file, &text).map_err(failed)?;
        *saved = text;
        Ok(StatusCode::NO_CONTENT)
    })
    .await?
}

/// Does work that takes the processor for longer than the server may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| Refusal(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))
}

impl Shared {
    fn admits(&self, headers: &HeaderMap, token: &str) -> bool {
        let of = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
        let token = of("x-accord-token").unwrap_or(token).bytes();
        // The time that this takes does not depend on where they differ.
        let differ = |all, (a, b)| all | (a ^ b);
        let known =
            token.len() == self.secret.len() && token.zip(self.secret.bytes()).fold(0, differ) == 0;
        let host = of("host").unwrap_or_default();
        known && self.hosts.iter().any(|h| h == host)
    }

    /// Returns the name of the text in errors, whose stem is the id of a scenario without one.
    fn name(&self) -> String {
        let file = self.settings.file.as_ref().and_then(|f| f.file_name());
        file.map_or("lab.toml".into(), |name| {
            name.to_string_lossy().into_owned()
        })
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

/// Why there is no answer.
struct Refusal(StatusCode, String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}
