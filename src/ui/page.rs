//! The screens of the application, one file each.

pub mod chat;
pub mod first_run;
pub mod home;
pub mod not_found;
pub mod provider_connect;
pub mod sending_turn;
pub mod tree;

use std::sync::Arc;

use leptos::prelude::*;

pub use chat::ChatPageView;
pub use home::HomePage;
pub use not_found::NotFoundPage;

/// The host and port that a page was requested under. The server provides it as context; a browser knows it.
#[derive(Debug, Clone)]
pub struct RequestHost(pub String);

/// Sets the HTTP status of a page. The server provides it as context; in the browser there is none.
#[derive(Clone)]
pub struct PageStatus(Arc<dyn Fn(u16) + Send + Sync>);

impl PageStatus {
    /// `set` takes an HTTP status code.
    pub fn new(set: impl Fn(u16) + Send + Sync + 'static) -> Self {
        Self(Arc::new(set))
    }
}

/// Sets the HTTP status, if the page is being rendered on the server.
pub fn set_status(code: u16) {
    if let Some(PageStatus(set)) = use_context() {
        set(code);
    }
}
