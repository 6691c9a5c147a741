//! Requests of clients.

use accord_door::line;

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The state as JSON.
    Status,
    /// The state as a table.
    Table,
    /// The state as metrics of Prometheus.
    Metrics,
    /// Detach the controller.
    Detach,
}

impl Ask {
    /// Reads the head of a request, or returns the HTTP status of its error.
    ///
    /// # Errors
    ///
    /// Fails with 400 or 404.
    pub fn parse(head: &[u8]) -> Result<Ask, u16> {
        let (method, parts) = line(head)?;
        match (method, &parts[..]) {
            ("GET", ["status"]) => Ok(Ask::Status),
            ("GET", ["table"]) => Ok(Ask::Table),
            ("GET", ["metrics"]) => Ok(Ask::Metrics),
            ("POST", ["detach"]) => Ok(Ask::Detach),
            ("GET" | "POST", _) => Err(404),
            _ => Err(400),
        }
    }

    /// Reads a request for metrics. Others are refused, because any user of the host can make them.
    ///
    /// # Errors
    ///
    /// Fails with 400 or 404.
    pub fn parse_metrics(head: &[u8]) -> Result<Ask, u16> {
        match Ask::parse(head)? {
            Ask::Metrics => Ok(Ask::Metrics),
            _ => Err(404),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_of_metrics_answers_nothing_else() {
        let heads = ["GET /status", "GET /table", "GET /metrics", "POST /detach"];
        let heads = heads.map(|head| format!("{head} HTTP/1.1\r\n\r\n"));
        let all = heads.each_ref().map(|head| Ask::parse(head.as_bytes()));
        assert_eq!(all, [Ask::Status, Ask::Table, Ask::Metrics, Ask::Detach].map(Ok));
        let metrics = heads.map(|head| Ask::parse_metrics(head.as_bytes()));
        assert_eq!(metrics, [Err(404), Err(404), Ok(Ask::Metrics), Err(404)]);
        for head in ["PUT /metrics HTTP/1.1\r\n\r\n", ""] {
            assert_eq!(Ask::parse_metrics(head.as_bytes()), Err(400), "{head}");
        }
    }
}
