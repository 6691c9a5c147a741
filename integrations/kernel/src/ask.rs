//! Requests of clients.

/// A request of a client.
pub type Ask = accord_door::Ask<Detach>;

/// The request to detach the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detach;

/// Reads the head of a request.
///
/// # Errors
/// Fails with the HTTP status of the error.
pub fn parse(head: &[u8]) -> Result<Ask, u16> {
    Ask::read(head, |method, parts| match (method, parts) {
        ("POST", ["detach"]) => Some(Ok(Detach)),
        _ => None,
    })
}
