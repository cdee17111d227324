//! The composition root: the handles that requests use, built once by the command line. Only `cli` and `http` name it.

use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use leptos::config::LeptosOptions;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::domain::UserId;
use crate::server::http::request::admission::KeyedLimiter;
use crate::server::http::response::headers::TransportSecurity;
use crate::server::http::streams::open_streams::OpenStreams;
use crate::server::page_data::PageService;
use turnleaf_service::Service;

struct Handles {
    service: Service,
    leptos: LeptosOptions,
    transport: TransportSecurity,
    closing: CancellationToken,
    draining: CancellationToken,
    sockets: TaskTracker,
    streams: OpenStreams,
    spools: KeyedLimiter<IpAddr>,
    exports: KeyedLimiter<UserId>,
}

/// Everything a request may use.
#[derive(Clone)]
pub struct App(Arc<Handles>);

impl App {
    /// `draining` is cancelled when the server begins to go down, `closing` when open streams must end.
    pub fn new(
        service: Service,
        leptos: LeptosOptions,
        transport: TransportSecurity,
        draining: CancellationToken,
        closing: CancellationToken,
    ) -> Self {
        let (sockets, streams) = (TaskTracker::new(), OpenStreams::default());
        let (spools, exports) = (KeyedLimiter::default(), KeyedLimiter::default());
        Self(Arc::new(Handles { service, leptos, transport, closing, draining, sockets, streams, spools, exports }))
    }

    pub fn service(&self) -> &Service {
        &self.0.service
    }

    pub fn page_service(&self) -> PageService {
        PageService::new(self.0.service.clone())
    }

    pub fn leptos(&self) -> &LeptosOptions {
        &self.0.leptos
    }

    pub fn transport(&self) -> TransportSecurity {
        self.0.transport
    }

    pub fn closing_token(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// The open WebSockets, which the accept loop does not know: a connection that was upgraded is no connection of
    /// its any more.
    pub fn open_sockets(&self) -> &TaskTracker {
        &self.0.sockets
    }

    /// The replies that clients follow.
    pub fn open_streams(&self) -> &OpenStreams {
        &self.0.streams
    }

    /// The uploads of each client that are on their way.
    pub fn upload_limiter(&self) -> &KeyedLimiter<IpAddr> {
        &self.0.spools
    }

    /// The exports that each person is sent.
    pub fn export_limiter(&self) -> &KeyedLimiter<UserId> {
        &self.0.exports
    }

    pub fn is_draining(&self) -> bool {
        self.0.draining.is_cancelled()
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.0.service.supervisor().clock().now()
    }

    /// Whom requests without a session belong to.
    pub fn local_owner(&self) -> UserId {
        self.0.service.local_owner()
    }
}
