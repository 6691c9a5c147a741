//! The server: the addresses and their access control.

use crate::desk::{Ask, Desk};
use crate::place::{Opened, Refusal};
use crate::run::{Event, Page};
use crate::save::PAGE;
use crate::settings::Settings;
use accord::report::{Point, RunDir, checks_of_runs, page, write_run_dir};
use accord::scenario::print;
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
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The maximum length of a request, in bytes: a scenario file and its quotes.
const LONGEST: usize = 16 << 20;
/// The number of views that wait if the page draws more slowly than they are computed. Beyond it
/// the run waits.
const AHEAD: usize = 4;

struct Shared {
    secret: String,
    hosts: [String; 2],
    settings: Settings,
    desk: Desk,
    /// The files that were opened, the last one at the end. Each tab of the page has one of its own.
    opened: Mutex<Vec<Opened>>,
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
        desk: Desk::new(settings.catalogue),
        settings,
        opened: Mutex::new(opened.into_iter().collect()),
    });
    Router::new()
        .route("/", get(async || Html(PAGE)))
        .route("/api/start", get(start))
        .route("/api/ask", post(ask))
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

/// Returns the file that the tab had open, or else the one opened last, with its text.
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
        }))
    })
    .await
}

#[derive(Deserialize)]
struct Question {
    /// The key of the tab's file.
    file: Option<String>,
    #[serde(flatten)]
    ask: Ask,
}

/// Answers a request of the page, and streams the events on the way: a line of JSON each.
async fn ask(
    State(lab): Lab,
    Json(Question { file, ask }): Json<Question>,
) -> Result<Response, Refusal> {
    let (sender, lines) = mpsc::channel::<Result<Bytes, Infallible>>(AHEAD);
    let thread = std::thread::Builder::new().name("lab-run".into());
    let started = thread.spawn(move || {
        let mut listener = Listener { sender, begun: Instant::now() };
        lab.desk.serve(ask, &lab.name(file.as_deref()), &mut listener);
    });
    started.map_err(|e| Refusal(StatusCode::SERVICE_UNAVAILABLE, e.to_string()))?;
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(lines)).into_response())
}

/// The page at the other end of a response.
struct Listener {
    sender: mpsc::Sender<Result<Bytes, Infallible>>,
    begun: Instant,
}

impl Page for Listener {
    fn now(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn show(&mut self, event: Event) -> bool {
        let mut line = serde_json::to_vec(&event).expect("events are plain data");
        line.push(b'\n');
        send(&mut self.sender, line)
    }
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

#[derive(Deserialize)]
struct Export {
    run: u64,
}

/// Writes a result as a new run directory.
async fn export(
    State(lab): Lab,
    Json(Export { run }): Json<Export>,
) -> Result<Json<Value>, Refusal> {
    let gone = |why| Refusal(StatusCode::NOT_FOUND, why);
    let (scenario, runs) = lab.desk.result(run).map_err(gone)?;
    let directory = blocking(move || -> Result<PathBuf, Refusal> {
        let checks = checks_of_runs(&scenario, &runs.iter().collect::<Vec<_>>());
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
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}
