//! `GET /api/turns/{id}/events`: replays the journal of a turn, follows it live and ends with it, as server-sent
//! events or as NDJSON. Both encode the same journal; `socket` is the third encoding.

pub mod encoder;
mod ndjson;
mod sse;

use std::future::ready;
use std::pin::pin;

use async_stream::stream;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};

use self::encoder::{EventEncoder, OutgoingEvent};
use crate::domain::blocks::{client_redaction, sources};
use crate::domain::turns::frame::{StreamSignal, parse_cursor};
use crate::domain::{BlockId, Event, Turn, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::accept;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::principal::ConnectionLease;
use crate::server::http::request::query::{StrictQuery, deserialize_flag};
use crate::server::http::response::problem::Problem;
use crate::server::http::streams::open_streams::{OpenStream, Subscriber};
use crate::server::http::streams::stream_response::{StreamFraming, stream_response};
use crate::server::markup::block_markup_with_citations;
use crate::ui::locale::{Locale, locale, with_locale};
use turnleaf_platform::tasks;
use turnleaf_service::{EventCursor, EventLine, FollowerItem, ServiceError, StoreError, can_be_shortened};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TurnEventsQuery {
    /// Cursor: only events after this number. `Last-Event-ID` takes precedence.
    after: Option<String>,
    /// `1` adds `markup` signals: finished blocks as HTML rendered by the server.
    #[serde(default, deserialize_with = "deserialize_flag")]
    #[param(value_type = Option<bool>)]
    markup: bool,
    /// `1` adds `thinking_signature` lines to NDJSON: the proofs by which a provider recognizes its reasoning.
    #[serde(default, deserialize_with = "deserialize_flag")]
    #[param(value_type = Option<bool>)]
    signatures: bool,
}

/// Follows a turn from a cursor.
pub async fn turn_events(
    State(app): State<App>,
    principal: Principal,
    (client, lease): (ClientIdentity, ConnectionLease),
    PathId(id): PathId<TurnId>,
    StrictQuery(query): StrictQuery<TurnEventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last_event_id = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?").to_owned());
    let cursor = match last_event_id.filter(|id| !id.is_empty()).or(query.after) {
        None => EventCursor::After(0),
        Some(text) => parse_cursor(&text, id).map_or(EventCursor::Unknown, EventCursor::After),
    };
    let turn = app.service().turn(principal.user, id).await?;
    if turn.status.is_terminal()
        && turn.last_event_seq > 0
        && cursor == EventCursor::After(turn.last_event_seq)
        && !can_be_shortened(&turn)
    {
        // The client has seen everything. 204 stops a browser's `EventSource` from reconnecting.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let Some(followed) =
        app.service().supervisor().follow(principal.user, id, cursor).await.map_err(ServiceError::from)?
    else {
        return Err(Problem::not_found());
    };
    let offered = [sse::SseEncoder::CONTENT_TYPE, ndjson::NdjsonEncoder::CONTENT_TYPE];
    let is_ndjson = accept::preferred_media_type(&headers, &offered) == ndjson::NdjsonEncoder::CONTENT_TYPE;
    let extras = EventExtras { markup: query.markup, signatures: is_ndjson && query.signatures };
    let place = app.open_streams().open(Subscriber::new(principal.user, client));
    let outgoing = outgoing_events(app, principal.user, id, followed, extras);
    Ok(if is_ndjson {
        respond(ndjson::NdjsonEncoder::new(&turn), (place, lease), outgoing)
    } else {
        respond(sse::SseEncoder::new(id), (place, lease), outgoing)
    })
}

/// Optional contents of a stream, which a client requests by query parameters.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventExtras {
    /// The rendering of finished blocks.
    markup: bool,
    /// Signatures and other provider secrets: the events are not redacted, so the encoder must write nothing but the
    /// signatures.
    signatures: bool,
}

fn respond<E: EventEncoder + 'static>(
    mut encoder: E,
    rights: (OpenStream, ConnectionLease),
    outgoing: impl Stream<Item = OutgoingEvent> + Send + 'static,
) -> Response {
    let (opening, displaced) = (encoder.opening_bytes(), encoder.displaced_bytes());
    let framing = StreamFraming { content_type: E::CONTENT_TYPE, opening, displaced };
    stream_response(framing, rights, outgoing.filter_map(move |next| ready(encoder.encode(next))))
}

/// Merges the events of the followed turn, heartbeats while it is silent, and the rendering of finished blocks.
pub fn outgoing_events(
    app: App,
    viewer: UserId,
    id: TurnId,
    followed: impl Stream<Item = Result<FollowerItem, StoreError>> + Send + 'static,
    extras: EventExtras,
) -> impl Stream<Item = OutgoingEvent> + Send {
    // The turn stays here after its end, when the run is forgotten, so that its last block needs no database.
    let live = app.service().supervisor().live_turn(id).filter(|live| live.owner() == viewer);
    // The locale of the request is captured here, because the code that polls the stream may run outside of it.
    let locale = locale();
    stream! {
        let mut followed = pin!(followed);
        // The timer is not set again for each event: when it wakes, it looks when the last one was.
        let mut last = Instant::now();
        let mut heartbeat = pin!(sleep_until(last + limits::HEARTBEAT));
        let mut closing = pin!(app.closing_token().clone().cancelled_owned());
        loop {
            let next = tokio::select! {
                biased;
                next = followed.next() => next,
                () = &mut heartbeat => {
                    if last.elapsed() >= limits::HEARTBEAT {
                        last = Instant::now();
                        yield OutgoingEvent::Signal(StreamSignal::Heartbeat { now: app.now() });
                    }
                    heartbeat.as_mut().reset(last + limits::HEARTBEAT);
                    continue;
                }
                () = &mut closing => return,
            };
            match next {
                Some(Ok(next)) => {
                    let next = if extras.signatures { next } else { redact_for_client(next) };
                    let ended = extras.markup.then(|| ended_block(&next)).flatten();
                    yield OutgoingEvent::Followed(next);
                    if let Some(signal) = match ended { Some(block) => {
                            let turn = match &live {
                                Some(live) => Some(client_redaction::redact_turn(live.turn())),
                                None => app.service().turn(viewer, id).await.ok(),
                            };
                            markup(turn, block, locale).await
                        }
                        None => None,
                    } {
                        yield OutgoingEvent::Signal(signal);
                    }
                    last = Instant::now();
                }
                Some(Err(error)) => {
                    // The client reconnects with its cursor.
                    tracing::warn!(turn = %id, %error, "a follower was cut off");
                    return;
                }
                None => return,
            }
        }
    }
}

/// Redacts a follower item for clients: the journal keeps signatures and other opaque values that only the provider
/// reads (docs/reference/domain.md C13).
fn redact_for_client(followed: FollowerItem) -> FollowerItem {
    match followed {
        FollowerItem::Snapshot(turn) => FollowerItem::Snapshot(Box::new(client_redaction::redact_turn(*turn))),
        FollowerItem::Line(line) if matches!(line.name(), "block_start" | "block_end") => {
            let seen =
                serde_json::from_str::<Event>(&line.json).ok().and_then(|event| client_redaction::redact_event(&event));
            let json = seen.and_then(|seen| serde_json::to_string(&seen).ok());
            FollowerItem::Line(json.map_or(line.clone(), |json| EventLine { seq: line.seq, json: json.into() }))
        }
        FollowerItem::Line(line) => FollowerItem::Line(line),
    }
}

fn ended_block(followed: &FollowerItem) -> Option<BlockId> {
    let FollowerItem::Line(line) = followed else {
        return None;
    };
    if line.name() != "block_end" {
        return None;
    }
    match serde_json::from_str(&line.json) {
        Ok(Event::BlockEnd { block_id, .. }) => Some(block_id),
        _ => None,
    }
}

async fn markup(turn: Option<Turn>, block: BlockId, locale: Locale) -> Option<StreamSignal> {
    let turn = turn?;
    let drawing = move || {
        let rendered = turn.blocks.iter().find(|candidate| candidate.id == block)?;
        block_markup_with_citations(turn.id, rendered, &sources::collect_sources(&turn.blocks))
    };
    let parts = tasks::spawn_blocking(move || with_locale(locale, drawing)).await.ok()??;
    Some(StreamSignal::Markup { block_id: block, parts })
}
