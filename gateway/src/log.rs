//! The log of a gateway: events of `tracing` as lines of keys and values.
//!
//! Events below the level cost a comparison. While a peer is traced, all events about it are kept for the
//! client that asked, regardless of the level.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use tracing::field::{Field, Visit};
pub use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber, span};

/// The sink of the log's lines.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

/// The most lines of a trace that are kept until a client asks for them.
const MOST_KEPT: usize = 2000;

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

/// The log.
#[derive(Clone)]
pub struct Log {
    level: LevelFilter,
    sink: Sink,
    trace: Arc<Mutex<Trace>>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("level", &self.level).finish_non_exhaustive()
    }
}

impl Log {
    /// Creates a log of events at this level and above.
    pub fn new(level: LevelFilter, sink: Sink) -> Log {
        Log { level, sink, trace: Arc::default() }
    }

    fn traced(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(|broken| broken.into_inner())
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
        metadata.is_event() && (*metadata.level() <= self.level || self.traced().peer.is_some())
    }

    fn event(&self, event: &Event<'_>) {
        let level = *event.metadata().level();
        let mut line = Line { text: format!("level={}", word(level)), peer: None };
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
        if level <= self.level {
            (self.sink)(&line.text);
        }
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
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
struct Line {
    text: String,
    peer: Option<String>,
}

impl Line {
    fn add(&mut self, field: &Field, value: &str) {
        if field.name() == "peer" {
            self.peer = Some(value.to_string());
        }
        let plain =
            |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\\' | '=');
        let _ = if !value.is_empty() && value.chars().all(plain) {
            write!(self.text, " {}={value}", field.name())
        } else {
            write!(self.text, " {}={value:?}", field.name())
        };
    }
}

impl Visit for Line {
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
