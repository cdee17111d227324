//! The composition root: the handles for requests, built once by the command line. Only `cli` and `http` use it.

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

/// The handles of all requests.
#[derive(Clone)]
pub struct App(Arc<Handles>);

impl App {
    /// Creates the handles. `draining` is cancelled when the server begins to shut down, `closing` when open streams
    /// must end.
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

    /// Returns the open WebSockets. The accept loop cannot track them, because an upgraded connection is no longer
    /// its own.
    pub fn open_sockets(&self) -> &TaskTracker {
        &self.0.sockets
    }

    /// Returns the open streams of followed replies.
    pub fn open_streams(&self) -> &OpenStreams {
        &self.0.streams
    }

    /// Returns the limiter of uploads in progress per client.
    pub fn upload_limiter(&self) -> &KeyedLimiter<IpAddr> {
        &self.0.spools
    }

    /// Returns the limiter of running exports per person.
    pub fn export_limiter(&self) -> &KeyedLimiter<UserId> {
        &self.0.exports
    }

    pub fn is_draining(&self) -> bool {
        self.0.draining.is_cancelled()
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.0.service.supervisor().clock().now()
    }
}
