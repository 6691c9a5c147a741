//! The text format of Prometheus.

use std::fmt::Write;

/// A text of metrics whose names have a common prefix.
#[derive(Clone, Debug)]
pub struct Metrics {
    prefix: &'static str,
    text: String,
}

impl Metrics {
    /// Creates an empty text.
    pub fn new(prefix: &'static str) -> Metrics {
        let text = String::new();
        Metrics { prefix, text }
    }

    /// Adds a metric: its name after the prefix, its type, its description, and its samples with
    /// their labels.
    pub fn family(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let (prefix, text) = (self.prefix, &mut self.text);
        let _ = writeln!(text, "# HELP {prefix}_{name} {help}");
        let _ = writeln!(text, "# TYPE {prefix}_{name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "{prefix}_{name}{labels} {value}");
        }
    }

    /// Adds the metrics among the fields of states, each with its labels.
    pub fn fields<'a, T: 'a>(
        &mut self,
        metrics: &[Metric<T>],
        states: impl IntoIterator<Item = (String, &'a T)>,
    ) {
        let states: Vec<(String, &T)> = states.into_iter().collect();
        for Metric { name, kind, help, read } in metrics {
            let samples = states.iter().filter_map(|(labels, s)| Some((labels.clone(), read(s)?)));
            self.family(name, kind, help, samples);
        }
    }

    /// Returns the text.
    pub fn text(self) -> String {
        self.text
    }
}

/// A field of a state that is a metric.
#[derive(Debug)]
pub struct Metric<T> {
    /// The name, after the program's prefix.
    pub name: &'static str,
    /// The type: counter or gauge.
    pub kind: &'static str,
    /// The description.
    pub help: &'static str,
    /// Returns the metric's value, if there is one.
    pub read: fn(&T) -> Option<f64>,
}

/// A value that is a sample of a metric. `true` is 1.
pub trait Sample {
    /// Returns the sample, if there is one.
    fn sample(&self) -> Option<f64>;
}

impl Sample for f64 {
    fn sample(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Sample for u64 {
    fn sample(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Sample for u32 {
    fn sample(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

impl Sample for bool {
    fn sample(&self) -> Option<f64> {
        Some(f64::from(u8::from(*self)))
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(&self) -> Option<f64> {
        self.as_ref().and_then(Sample::sample)
    }
}

/// Declares a part of a state: each field once, with its meaning, and as a metric if applicable.
/// The struct gets the constant `METRICS`.
///
/// ```
/// accord_door::fields! {
///     /// A tunnel.
///     pub struct Tunnel {
///         "The name." name: String;
///         "Packets sent." sent: u64, counter "sent_packets_total";
///     }
/// }
/// let tunnel = Tunnel { name: "a".into(), sent: 7 };
/// let mut metrics = accord_door::metrics::Metrics::new("mine");
/// metrics.fields(Tunnel::METRICS, [("{name=\"a\"}".to_string(), &tunnel)]);
/// assert!(metrics.text().ends_with("mine_sent_packets_total{name=\"a\"} 7\n"));
/// ```
#[macro_export]
macro_rules! fields {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($doc:literal $field:ident: $type:ty $(, $kind:ident $metric:literal)?;)*
    }) => {
        $(#[$meta])*
        pub struct $name {
            $(#[doc = $doc] pub $field: $type,)*
        }

        impl $name {
            /// The fields that are metrics.
            pub const METRICS: &'static [$crate::metrics::Metric<$name>] = &[$($(
                $crate::metrics::Metric {
                    name: $metric,
                    kind: stringify!($kind),
                    help: $doc,
                    read: |state| $crate::metrics::Sample::sample(&state.$field),
                },
            )?)*];
        }
    };
}
