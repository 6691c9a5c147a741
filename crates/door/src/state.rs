//! The state of a running program in three forms, and requests for it.

use std::fmt::Write;

/// The state of a program.
pub trait State {
    /// Returns the state as JSON.
    fn json(&self) -> String;

    /// Returns the state as a table for people.
    fn table(&self) -> String;

    /// Returns the state in the text format of Prometheus.
    fn metrics(&self) -> String;
}

/// The form of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON.
    Status,
    /// A table.
    Table,
    /// Metrics of Prometheus.
    Metrics,
}

impl Form {
    /// Returns a state in this form.
    pub fn of(self, state: &impl State) -> String {
        match self {
            Form::Status => state.json() + "\n",
            Form::Table => state.table(),
            Form::Metrics => state.metrics(),
        }
    }
}

/// A request of a client: for the state, or for a function specific to this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask<C> {
    /// The state.
    Show(Form),
    /// Something else.
    Do(C),
}

impl<C> Ask<C> {
    /// Reads the head of a request. `own` reads the program's specific requests from the method and the parts
    /// of the path. It returns `None` for unknown ones.
    ///
    /// # Errors
    /// Fails with the HTTP status of the error.
    pub fn read(
        head: &[u8],
        own: impl Fn(&str, &[&str]) -> Option<Result<C, u16>>,
    ) -> Result<Ask<C>, u16> {
        let (method, parts) = line(head)?;
        match (method, &parts[..]) {
            ("GET", ["status"]) => Ok(Ask::Show(Form::Status)),
            ("GET", ["table"]) => Ok(Ask::Show(Form::Table)),
            ("GET", ["metrics"]) => Ok(Ask::Show(Form::Metrics)),
            ("GET" | "POST", parts) => own(method, parts).unwrap_or(Err(404)).map(Ask::Do),
            _ => Err(400),
        }
    }

    /// Reads a request for metrics. Rejects others, because any user of the host can make requests.
    ///
    /// # Errors
    /// Fails with the HTTP status of the error.
    pub fn read_metrics(head: &[u8]) -> Result<Ask<C>, u16> {
        match Ask::<C>::read(head, |_, _| None)? {
            Ask::Show(Form::Metrics) => Ok(Ask::Show(Form::Metrics)),
            _ => Err(404),
        }
    }
}

/// Returns the method and the parts of the path of a request, or the HTTP status of its error.
///
/// # Errors
/// Fails with 400 if the head is empty or not text.
pub fn line(head: &[u8]) -> Result<(&str, Vec<&str>), u16> {
    let text = std::str::from_utf8(head).map_err(|_| 400u16)?;
    let line = text.lines().next().ok_or(400u16)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    Ok((method, path.split('/').skip(1).collect()))
}

/// Returns a table for people. A column has a head, a unit and a width.
pub fn table<const N: usize>(
    columns: [(&str, &str, usize); N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut text = String::new();
    let heads = [columns.map(|(head, ..)| head.into()), columns.map(|(_, unit, _)| unit.into())];
    for row in heads.into_iter().chain(rows) {
        let mut line = String::new();
        for (cell, (_, _, width)) in row.iter().zip(columns) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    type Mine = Ask<u8>;

    #[test]
    fn a_socket_of_metrics_answers_nothing_else() {
        let read = |head: &str| {
            let head = format!("{head} HTTP/1.1\r\n\r\n");
            let own = |method: &str, parts: &[&str]| match (method, parts) {
                ("POST", ["seven"]) => Some(Ok(7)),
                ("POST", ["wrong"]) => Some(Err(409)),
                _ => None,
            };
            let metrics = Mine::read_metrics(head.as_bytes());
            (Mine::read(head.as_bytes(), own), metrics)
        };
        let show = |form| Ok(Ask::Show(form));
        assert_eq!(read("GET /status"), (show(Form::Status), Err(404)));
        assert_eq!(read("GET /table"), (show(Form::Table), Err(404)));
        assert_eq!(read("GET /metrics"), (show(Form::Metrics), show(Form::Metrics)));
        assert_eq!(read("POST /seven"), (Ok(Ask::Do(7)), Err(404)));
        assert_eq!(read("POST /wrong"), (Err(409), Err(404)));
        assert_eq!(read("GET /seven"), (Err(404), Err(404)));
        assert_eq!(read("PUT /metrics"), (Err(400), Err(400)));
        assert_eq!(Mine::read_metrics(b""), Err(400));
        assert_eq!(Mine::read_metrics(b"\xff\xff"), Err(400));
    }

    #[test]
    fn columns_are_as_wide_as_they_say() {
        let rows = [["x".to_string(), "1.5".to_string()]];
        let text = table([("peer", "", 6), ("rate", "Mbps", 4)], rows);
        assert_eq!(text, "peer    rate\n        Mbps\nx       1.5\n");
    }
}
