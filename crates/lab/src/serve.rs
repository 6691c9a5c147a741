//! A laboratory on localhost, from its port to its end.

use crate::place::Opened;
use crate::server;
use crate::settings::{PORT, Settings};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// A listening laboratory.
#[derive(Debug)]
pub struct Lab {
    listener: TcpListener,
    address: SocketAddr,
    secret: String,
    settings: Settings,
    opened: Option<Opened>,
}

impl Lab {
    /// Reads the file, and opens a port on the loopback interface.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not UTF-8 text, if the port is taken, or if the system
    /// has no random numbers.
    pub fn open(settings: Settings) -> std::io::Result<Lab> {
        let opened = settings.file.clone().map(Opened::read).transpose()?;
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match settings.port {
            0 => bind(PORT).or_else(|_| bind(0))?,
            port => bind(port).map_err(|e| {
                let text = format!("port {port}: {e}; without --port any free one is taken");
                std::io::Error::new(e.kind(), text)
            })?,
        };
        listener.set_nonblocking(true)?;
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(std::io::Error::other)?;
        Ok(Lab {
            address: listener.local_addr()?,
            listener,
            secret: secret.iter().map(|byte| format!("{byte:02x}")).collect(),
            settings,
            opened,
        })
    }

    /// Returns the address of the page, with its secret.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.secret)
    }

    /// Serves the page until `stop` returns true. It is called ten times per second.
    ///
    /// # Errors
    /// Fails if the system refuses to serve.
    pub fn serve(self, stop: impl Fn() -> bool + Send + 'static) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let router = server::router(self.secret, self.address, self.settings, self.opened);
            let serving = std::future::IntoFuture::into_future(axum::serve(listener, router));
            let ended = tokio::task::spawn_blocking(move || {
                while !stop() {
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
            });
            // The first to finish ends the other: open streams do not keep the server alive.
            let serving = tokio::spawn(serving);
            let _ = ended.await;
            serving.abort();
            Ok(())
        })
    }
}
