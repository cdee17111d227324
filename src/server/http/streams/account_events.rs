//! `GET /api/events`: the live channel of an account, as server-sent events (docs/reference/events.md 14). It tells what
//! has changed, so that pages and programs ask for it then and not every few seconds.

use async_stream::stream;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures::{Stream, StreamExt};
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};

use crate::domain::accounts::account_change::parse_channel_cursor;
use crate::domain::{ChannelEvent, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::principal::ConnectionLease;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::streams::open_streams::Subscriber;
use crate::server::http::streams::stream_response::{DISPLACED_RETRY_MS, RETRY_MS, StreamFraming, stream_response};
use turnleaf_service::{ChangeFollower, FeedUpdate};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct AccountEventsQuery {
    /// Cursor: only changes after this number. `Last-Event-ID` takes precedence.
    after: Option<String>,
}

/// Follows an account.
pub async fn account_events(
    State(app): State<App>,
    principal: Principal,
    (client, lease): (ClientIdentity, ConnectionLease),
    StrictQuery(query): StrictQuery<AccountEventsQuery>,
    headers: HeaderMap,
) -> Response {
    let last_event_id = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?").to_owned());
    let cursor = last_event_id.filter(|id| !id.is_empty()).or(query.after);
    let after = cursor.and_then(|text| parse_channel_cursor(&text));
    let follower = app.service().follow_changes(principal.user, after);
    let place = app.open_streams().open(Subscriber::new(principal.user, client));
    let displaced = [encode(ChannelEvent::Displaced), format!("retry: {DISPLACED_RETRY_MS}\n\n")].concat();
    let framing = StreamFraming {
        content_type: "text/event-stream",
        opening: Some(format!("retry: {RETRY_MS}\n\n").into()),
        displaced: Some(displaced.into()),
    };
    let events = channel_events(app, follower).map(|event| Bytes::from(encode(event)));
    stream_response(framing, (place, lease), events)
}

/// Returns the events for a follower: where it begins, then the changes, and heartbeats while there are none.
fn channel_events(app: App, mut follower: ChangeFollower) -> impl Stream<Item = ChannelEvent> + Send {
    stream! {
        yield ChannelEvent::Hello { id: follower.seen(), now: app.now() };
        if !follower.continues() {
            yield ChannelEvent::Reset { id: follower.seen() };
        }
        let closing = app.closing_token().clone();
        let mut last = Instant::now();
        loop {
            let update = tokio::select! {
                biased;
                update = follower.next() => Some(update),
                () = sleep_until(last + limits::HEARTBEAT) => None,
                () = closing.cancelled() => return,
            };
            last = Instant::now();
            match update {
                Some(FeedUpdate::Changes(changes)) => {
                    for (id, change) in changes {
                        yield ChannelEvent::Changed { id, change };
                    }
                }
                Some(FeedUpdate::Reset(id)) => yield ChannelEvent::Reset { id },
                None => yield ChannelEvent::Heartbeat { now: app.now() },
            }
        }
    }
}

/// Encodes an event. JSON contains no raw line ends, so one `data:` line always holds it.
fn encode(event: ChannelEvent) -> String {
    let id = event.cursor().map(|id| format!("id: {id}\n")).unwrap_or_default();
    // Numbers, ids and times always serialize.
    let json = serde_json::to_string(&event).unwrap_or_else(|_| "{}".into());
    format!("{id}event: {}\ndata: {json}\n\n", event.name())
}
