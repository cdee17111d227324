//! What is known of a reply while it is followed.

use leptos::leptos_dom::helpers::TimeoutHandle;

use super::saying::Saying;
use crate::browser::event_source::Source;
use crate::domain::frame::Frame;
use crate::ui::connection::Connection;

/// One reply that is followed. Dropping it closes its stream.
pub(super) struct Follower {
    pub(super) stream: Option<Source>,
    pub(super) pending: Vec<Frame>,
    /// How often frames had to wait to be applied, and whether they do now.
    pub(super) schedules: u32,
    pub(super) is_scheduled: bool,
    pub(super) applied_ms: i64,
    pub(super) heard_ms: i64,
    pub(super) failures: u32,
    pub(super) retry: Option<TimeoutHandle>,
    pub(super) saying: Saying,
    /// The connection that was told that the stream broke, until it works again.
    pub(super) broke: Option<Connection>,
}

impl Follower {
    /// Its stream is not open yet.
    pub(super) fn new(now_ms: i64) -> Self {
        Self {
            stream: None,
            pending: Vec::new(),
            schedules: 0,
            is_scheduled: false,
            applied_ms: 0,
            heard_ms: now_ms,
            failures: 0,
            retry: None,
            saying: Saying::new(now_ms),
            broke: None,
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(retry) = self.retry.take() {
            retry.clear();
        }
        if let Some(connection) = self.broke.take() {
            connection.let_go();
        }
    }
}
