//! An end of a connection of quinn: an endpoint and its connection, with the events between them.

use accord_transport::wire::UDP_HEADERS;
use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, Event, StreamEvent, StreamId,
};
use std::net::SocketAddr;
use std::time::Instant;

/// The room for datagrams that is allocated at once, in bytes.
const INBOX: usize = 1 << 16;

/// An end with at most one connection.
pub(crate) struct End {
    endpoint: Endpoint,
    open: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
    /// The responses of the endpoint, which are not sent.
    buffer: Vec<u8>,
    /// Room for datagrams that arrive. quinn keeps a part until it has read it.
    inbox: BytesMut,
    /// Room for the next datagram to send.
    outbox: Vec<u8>,
    /// The streams that have data.
    readable: Vec<StreamId>,
    /// True if a write found no room, and there has been none since.
    pub is_full: bool,
    /// The number of streams of this end that have been acknowledged completely.
    pub finished: u64,
    /// The reason why the connection was lost, if it was.
    pub lost: Option<ConnectionError>,
}

impl End {
    /// Creates an end without a connection, whose peer has this address.
    pub fn new(endpoint: Endpoint, peer: SocketAddr) -> End {
        End {
            endpoint,
            open: None,
            peer,
            buffer: Vec::new(),
            inbox: BytesMut::new(),
            outbox: Vec::new(),
            readable: Vec::new(),
            is_full: false,
            finished: 0,
            lost: None,
        }
    }

    /// Opens the connection.
    ///
    /// # Errors
    ///
    /// Fails if the settings are invalid.
    pub fn connect(&mut self, now: Instant, config: ClientConfig) -> Result<(), ConnectError> {
        let open = (self.endpoint).connect(now, config, self.peer, "accord")?;
        self.open = Some(open);
        self.talk();
        Ok(())
    }

    /// The connection.
    pub fn connection(&self) -> Option<&Connection> {
        self.open.as_ref().map(|(_, connection)| connection)
    }

    /// The connection, for writing to it.
    pub fn connection_mut(&mut self) -> Option<&mut Connection> {
        self.open.as_mut().map(|(_, connection)| connection)
    }

    /// Returns the endpoint and the connection.
    pub fn into_parts(self) -> Option<(Endpoint, ConnectionHandle, Connection)> {
        let (handle, connection) = self.open?;
        Some((self.endpoint, handle, connection))
    }

    /// Returns the time of the first timer of the connection.
    pub fn deadline(&mut self) -> Option<Instant> {
        self.connection_mut()?.poll_timeout()
    }

    /// Runs the timers that are due.
    pub fn expire(&mut self, now: Instant) {
        if let Some(connection) = self.connection_mut()
            && connection.poll_timeout().is_some_and(|at| at <= now)
        {
            connection.handle_timeout(now);
            self.talk();
        }
    }

    /// Takes a datagram that has arrived.
    pub fn arrive(&mut self, now: Instant, ecn: Option<EcnCodepoint>, data: &[u8]) {
        self.buffer.clear();
        // One allocation has room for many datagrams.
        if self.inbox.capacity() < data.len() {
            self.inbox.reserve(INBOX.max(data.len()));
        }
        self.inbox.extend_from_slice(data);
        let (peer, data) = (self.peer, self.inbox.split());
        let event = (self.endpoint).handle(now, peer, None, ecn, data, &mut self.buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.open {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match (self.endpoint).accept(incoming, now, &mut self.buffer, None) {
                    Ok(open) => self.open = Some(open),
                    Err(e) => self.lost = Some(e.cause),
                }
            }
            // A response belongs to a datagram without a connection.
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.talk();
    }

    /// Returns the next datagram that is to be sent now.
    pub fn transmit(&mut self, now: Instant) -> Option<(Option<EcnCodepoint>, Vec<u8>)> {
        let (_, connection) = self.open.as_mut()?;
        // The headers of IP and UDP have room as well.
        let room = usize::from(connection.current_mtu()) + UDP_HEADERS;
        self.outbox.clear();
        self.outbox.reserve_exact(room);
        let transmit = connection.poll_transmit(now, 1, &mut self.outbox)?;
        self.talk();
        let size = transmit.size;
        // Small datagrams get small memory.
        let datagram = if 2 * size < room {
            let mut datagram = Vec::with_capacity(size + UDP_HEADERS);
            datagram.extend_from_slice(&self.outbox[..size]);
            datagram
        } else {
            self.outbox.truncate(size);
            std::mem::take(&mut self.outbox)
        };
        Some((transmit.ecn, datagram))
    }

    /// Exchanges the events between the endpoint and its connection.
    fn talk(&mut self) {
        let Some((handle, connection)) = &mut self.open else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
    }

    /// Processes the connection's events, and reads all streams. Returns the number of new bytes
    /// received.
    pub fn read(&mut self) -> u64 {
        let Some((_, connection)) = &mut self.open else {
            return 0;
        };
        let readable = &mut self.readable;
        while let Some(event) = connection.poll() {
            match event {
                Event::Stream(StreamEvent::Readable { id }) => readable.push(id),
                Event::Stream(StreamEvent::Finished { .. }) => self.finished += 1,
                Event::Stream(_) => self.is_full = false,
                Event::ConnectionLost { reason } => self.lost = Some(reason),
                _ => {}
            }
        }
        while let Some(id) = connection.streams().accept(Dir::Uni) {
            readable.push(id);
        }
        let mut bytes = 0;
        for id in readable.drain(..) {
            let mut stream = connection.recv_stream(id);
            let Ok(mut chunks) = stream.read(false) else {
                continue;
            };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                bytes += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
        bytes
    }
}
