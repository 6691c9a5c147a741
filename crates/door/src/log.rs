//! The log of a program: events of `tracing` as lines of keys and values.
//!
//! Events below the level cost a comparison. A line begins with the fields of the spans that its thread has
//! entered. While a peer is traced, all events about it are kept for the client that asked, regardless of the
//! level. Events of libraries do not name the peer, so they are logged from level debug on only, with their
//! origin.

#[cfg(target_os = "linux")]
use nix::sys::signal::{SigSet, SigmaskHow};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tracing::field::{Field, Visit};
pub use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber, span};

/// The sink of the log's lines.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

/// The maximum number of lines of a trace that are kept until a client asks for them.
const MOST_KEPT: usize = 2000;

/// The start of the names of this program's modules.
const OWN: &str = "accord";

/// The maximum number of lines that wait for a reader of the log, and the longest wait for it at the end.
const MOST_WAITING: usize = 1000;
const LAST: Duration = Duration::from_secs(1);

/// A thread that writes lines, so that a reader who stops reading does not stop the threads that log.
#[derive(Debug)]
pub struct Writer {
    lines: SyncSender<Line>,
    /// The number of lines for which there was no room since the last one that was taken.
    lost: Arc<AtomicU64>,
    /// The channel that disconnects when the thread ends.
    ended: Receiver<()>,
}

impl Writer {
    /// Starts a thread that passes lines to `write`.
    ///
    /// # Errors
    /// Fails if the system starts no thread.
    pub fn start(write: impl Fn(&str) + Send + 'static) -> std::io::Result<Writer> {
        let (lines, waiting) = sync_channel::<Line>(MOST_WAITING);
        let (alive, ended) = sync_channel(0);
        let lost: Arc<AtomicU64> = Arc::default();
        let missed = lost.clone();
        let work = move || {
            let _alive: SyncSender<()> = alive;
            for line in waiting {
                let Line::Text(text) = line else { return };
                write(&text);
                let count = missed.swap(0, Ordering::Relaxed);
                if count > 0 {
                    write(&format!("level=warn event=lines-lost count={count}"));
                }
            }
        };
        let spawn = || std::thread::Builder::new().name("log".into()).spawn(work);
        // Signals are for the thread that reads them from a file. One that this thread accepted would end the
        // process.
        #[cfg(target_os = "linux")]
        let spawn = || {
            let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
            let spawned = spawn();
            before.thread_set_mask()?;
            spawned
        };
        spawn()?;
        Ok(Writer { lines, lost, ended })
    }

    /// Returns the sink of the lines. It never waits: it counts lines for which there is no room.
    pub fn sink(&self) -> Sink {
        let (lines, lost) = (self.lines.clone(), self.lost.clone());
        Arc::new(move |line: &str| {
            if let Err(TrySendError::Full(_)) = lines.try_send(Line::Text(line.to_string())) {
                lost.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Waits until the lines are written, but no longer than a second.
    pub fn finish(self) {
        // Without room, the reader has stopped.
        if self.lines.try_send(Line::Last).is_ok() {
            let _ = self.ended.recv_timeout(LAST);
        }
    }
}

/// A line for the thread that writes.
#[derive(Debug)]
enum Line {
    Text(String),
    Last,
}

/// Reads a level: error, warn, info, debug, trace or off.
///
/// # Errors
/// The message names the levels.
pub fn level(text: &str) -> Result<LevelFilter, String> {
    let words = ["off", "error", "warn", "info", "debug", "trace"];
    let known = words.contains(&text).then(|| text.parse().ok()).flatten();
    known.ok_or_else(|| format!("\"{text}\" is not a level of the log: write {}", words.join(", ")))
}

/// The peer that is traced.
#[derive(Debug, Default)]
struct Trace {
    peer: Option<String>,
    lines: VecDeque<String>,
    /// The number of lines for which no client asked in time.
    lost: u64,
}

/// The fields of spans, as text by number.
#[derive(Debug, Default)]
struct Spans {
    last: u64,
    texts: BTreeMap<u64, Arc<str>>,
}

thread_local! {
    /// The spans that this thread has entered.
    static ENTERED: RefCell<Vec<(u64, Arc<str>)>> = const { RefCell::new(Vec::new()) };
}

/// The log.
#[derive(Clone)]
pub struct Log {
    level: LevelFilter,
    sink: Sink,
    trace: Arc<Mutex<Trace>>,
    spans: Arc<Mutex<Spans>>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("level", &self.level).finish_non_exhaustive()
    }
}

impl Log {
    /// Creates a log of events at this level and above.
    pub fn new(level: LevelFilter, sink: Sink) -> Log {
        Log { level, sink, trace: Arc::default(), spans: Arc::default() }
    }

    /// Makes this the log of the whole process. Only the first one counts.
    pub fn install(self) {
        let _ = tracing::subscriber::set_global_default(self);
    }

    /// Returns whether an event is logged, whatever is traced.
    fn passes(&self, metadata: &Metadata<'_>) -> bool {
        let wanted = is_own(metadata) || self.level >= LevelFilter::DEBUG;
        *metadata.level() <= self.level && wanted
    }

    fn traced(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    fn spans(&self) -> MutexGuard<'_, Spans> {
        self.spans.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Traces this peer in place of the previous one, or none.
    pub fn set_traced(&self, peer: Option<&str>) {
        let changed = {
            let mut trace = self.traced();
            let changed = trace.peer.as_deref() != peer;
            if changed && peer.is_some() {
                *trace = Trace::default();
            }
            trace.peer = peer.map(str::to_string);
            changed
        };
        if changed {
            tracing::callsite::rebuild_interest_cache();
        }
    }

    /// Takes the lines of the trace since the last call.
    pub fn take_trace(&self) -> String {
        let mut trace = self.traced();
        let mut text: String = trace.lines.drain(..).map(|line| line + "\n").collect();
        if std::mem::take(&mut trace.lost) > 0 {
            text += "lines are missing: no client asked for them in time\n";
        }
        text
    }
}

impl Subscriber for Log {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The level changes with each trace.
        Interest::sometimes()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if self.traced().peer.is_some() { LevelFilter::TRACE } else { self.level })
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let wanted = self.passes(metadata) || self.traced().peer.is_some();
        wanted && (metadata.is_event() || is_own(metadata))
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let text = format!("level={}", word(*metadata.level()));
        let mut line = Fields { text, peer: None };
        if !is_own(metadata) {
            line.push("from", metadata.target());
        }
        ENTERED.with_borrow(|spans| spans.iter().for_each(|(_, text)| line.text += text));
        event.record(&mut line);
        {
            let mut trace = self.traced();
            if trace.peer.is_some() && trace.peer == line.peer {
                if trace.lines.len() == MOST_KEPT {
                    trace.lines.pop_front();
                    trace.lost += 1;
                }
                trace.lines.push_back(line.text.clone());
            }
        }
        if self.passes(metadata) {
            (self.sink)(&line.text);
        }
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let mut fields = Fields { text: String::new(), peer: None };
        attributes.record(&mut fields);
        let mut spans = self.spans();
        spans.last += 1;
        let number = spans.last;
        spans.texts.insert(number, fields.text.into());
        span::Id::from_u64(number)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, span: &span::Id) {
        let number = span.into_u64();
        let text = self.spans().texts.get(&number).cloned();
        ENTERED.with_borrow_mut(|spans| spans.extend(text.map(|text| (number, text))));
    }

    fn exit(&self, span: &span::Id) {
        ENTERED.with_borrow_mut(|spans| {
            if let Some(place) = spans.iter().rposition(|(number, _)| *number == span.into_u64()) {
                spans.remove(place);
            }
        });
    }

    // No span is cloned, so each closes once.
    fn try_close(&self, span: span::Id) -> bool {
        self.spans().texts.remove(&span.into_u64()).is_some()
    }
}

/// Returns whether an event is of this program, and not of a library.
fn is_own(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with(OWN)
}

fn word(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// A line under construction.
struct Fields {
    text: String,
    peer: Option<String>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: &str) {
        if field.name() == "peer" {
            self.peer = Some(value.to_string());
        }
        self.push(field.name(), value);
    }

    fn push(&mut self, name: &str, value: &str) {
        let plain =
            |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\\' | '=');
        let _ = if !value.is_empty() && value.chars().all(plain) {
            write!(self.text, " {name}={value}")
        } else {
            write!(self.text, " {name}={value:?}")
        };
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(level: LevelFilter) -> (Log, Arc<Mutex<Vec<String>>>) {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = lines.clone();
        let log =
            Log::new(level, Arc::new(move |line| sink.lock().expect("whole").push(line.into())));
        (log, lines)
    }

    fn say() {
        tracing::info!(event = "state", peer = %"a", reason = "more than \"25 %\" lost\n", count = 7);
        tracing::debug!(event = "report", peer = %"a", rate_bps = 5.5);
        tracing::trace!(event = "report", peer = %"b");
    }

    #[test]
    fn lines_are_keys_and_values_down_to_the_level() {
        let told = |level| {
            let (log, lines) = log(level);
            tracing::subscriber::with_default(log, say);
            lines.lock().expect("whole").clone()
        };
        let first = r#"level=info event=state peer=a reason="more than \"25 %\" lost\n" count=7"#;
        assert_eq!(told(LevelFilter::INFO), [first]);
        assert_eq!(told(LevelFilter::DEBUG)[1..], ["level=debug event=report peer=a rate_bps=5.5"]);
        assert_eq!(told(LevelFilter::WARN), [""; 0]);
        assert_eq!(level("debug"), Ok(LevelFilter::DEBUG));
        assert!(level("loud").is_err_and(|e| e.contains("error, warn, info")));
    }

    /// Events of boringtun have no peer, and most of them are of no use to an operator.
    #[test]
    fn events_of_libraries_are_logged_from_debug_on() {
        let told = |level| {
            let (log, lines) = log(level);
            tracing::subscriber::with_default(log.clone(), || {
                tracing::error!(target: "boringtun::noise::timers", "CONNECTION_EXPIRED");
                // A trace of a peer changes nothing.
                log.set_traced(Some("a"));
                tracing::error!(target: "boringtun::noise::timers", "CONNECTION_EXPIRED");
            });
            lines.lock().expect("whole").clone()
        };
        assert_eq!(told(LevelFilter::INFO), [""; 0]);
        let line = "level=error from=boringtun::noise::timers message=CONNECTION_EXPIRED";
        assert_eq!(told(LevelFilter::DEBUG), [line; 2]);
    }

    #[test]
    fn lines_have_the_fields_of_the_spans_around_them() {
        let (log, lines) = log(LevelFilter::DEBUG);
        tracing::subscriber::with_default(log.clone(), || {
            let run = tracing::debug_span!("run", seed = 7);
            run.in_scope(|| {
                tracing::debug!(event = "cut");
                tracing::debug_span!("flow", flow = "a b")
                    .in_scope(|| tracing::debug!(event = "cut"));
            });
            tracing::debug!(event = "cut");
        });
        let lines = lines.lock().expect("whole");
        let inner = r#"level=debug seed=7 flow="a b" event=cut"#;
        assert_eq!(*lines, ["level=debug seed=7 event=cut", inner, "level=debug event=cut"]);
        assert!(log.spans().texts.is_empty(), "a span that is closed is forgotten");
    }

    /// A reader that does not read costs lines, and no thread waits for it.
    #[test]
    fn lines_are_lost_if_nobody_reads() {
        let (entered, at_work) = sync_channel(0);
        let (go_on, held) = sync_channel::<()>(0);
        let (written, lines) = std::sync::mpsc::channel();
        let writer = Writer::start(move |line| {
            if line == "first" {
                entered.send(()).expect("the test waits");
                held.recv().expect("the test goes on");
            }
            written.send(line.to_string()).expect("the test counts");
        });
        let writer = writer.expect("a thread");
        let sink = writer.sink();
        sink("first");
        at_work.recv().expect("it writes");
        for _ in 0..MOST_WAITING + 7 {
            sink("more");
        }
        go_on.send(()).expect("it waits");
        assert_eq!(lines.recv().as_deref(), Ok("first"));
        assert_eq!(lines.recv().as_deref(), Ok("level=warn event=lines-lost count=7"));
        for _ in 0..MOST_WAITING {
            assert_eq!(lines.recv().as_deref(), Ok("more"));
        }
        sink("last");
        drop(sink);
        writer.finish();
        assert_eq!(lines.try_iter().collect::<Vec<_>>(), ["last"]);
    }

    #[test]
    fn one_peer_is_traced_whatever_the_level() {
        let (log, lines) = log(LevelFilter::OFF);
        tracing::subscriber::with_default(log.clone(), || {
            say();
            assert_eq!(log.take_trace(), "");
            log.set_traced(Some("a"));
            say();
            let text = log.take_trace();
            assert!(text.contains("level=debug event=report peer=a"), "{text}");
            assert!(text.lines().count() == 2 && !text.contains("peer=b"), "{text}");
            (0..MOST_KEPT).for_each(|_| say());
            let text = log.take_trace();
            assert_eq!(text.lines().count(), MOST_KEPT + 1);
            assert!(text.ends_with("no client asked for them in time\n"), "{text}");
            log.set_traced(None);
            say();
            assert_eq!(log.take_trace(), "");
        });
        assert_eq!(lines.lock().expect("whole").len(), 0);
    }
}
