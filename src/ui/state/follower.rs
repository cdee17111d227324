//! The subscription of a followed reply.

use leptos::leptos_dom::helpers::TimeoutHandle;

use super::announcement_policy::AnnouncementPolicy;
use crate::browser::event_source::EventStream;
use crate::domain::turns::frame::StreamFrame;
use crate::ui::connection::PageConnection;

/// One followed reply. Dropping it closes its stream.
pub(super) struct ReplySubscription {
    pub(super) stream: Option<EventStream>,
    pub(super) pending: Vec<StreamFrame>,
    /// Counts the scheduled batches of frames, and whether one is pending.
    pub(super) schedules: u32,
    pub(super) is_scheduled: bool,
    pub(super) applied_ms: i64,
    pub(super) last_received_ms: i64,
    pub(super) failures: u32,
    pub(super) retry: Option<TimeoutHandle>,
    pub(super) announcements: AnnouncementPolicy,
    /// The connection to which the loss of the stream was reported, until the stream works again.
    pub(super) lost_by: Option<PageConnection>,
}

impl ReplySubscription {
    /// Creates a subscription whose stream is not open yet.
    pub(super) fn new(now_ms: i64) -> Self {
        Self {
            stream: None,
            pending: Vec::new(),
            schedules: 0,
            is_scheduled: false,
            applied_ms: 0,
            last_received_ms: now_ms,
            failures: 0,
            retry: None,
            announcements: AnnouncementPolicy::new(now_ms),
            lost_by: None,
        }
    }
}

impl Drop for ReplySubscription {
    fn drop(&mut self) {
        if let Some(retry) = self.retry.take() {
            retry.clear();
        }
        if let Some(connection) = self.lost_by.take() {
            connection.stream_released();
        }
    }
}
