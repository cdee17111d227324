//! `GET /api/turns/{id}/events`: replay, then live, then a clean end, as server-sent events or as lines of JSON. The
//! same journal for both; only the encoding differs. A third encoding is `socket`'s.

pub mod encoder;
mod ndjson;
mod sse;

use std::pin::pin;

use async_stream::stream;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use serde::Deserialize;
use tokio::time::{Instant, interval_at};

use self::encoder::{Encoder, Outgoing};
use crate::domain::frame::{Signal, parse_cursor};
use crate::domain::{BlockId, Event, TurnId, limits, sources, withhold};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::accept;
use crate::server::http::request::admission::{self, Client};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::Query;
use crate::server::http::response::problem::Problem;
use crate::server::http::streams::open_streams::{OpenStream, Subscriber};
use crate::server::markup::markup_of;
use crate::ui::locale::{Locale, locale, speak};
use turnleaf_platform::tasks;
use turnleaf_service::{Cursor, Followed, Line, ServiceError, StoreError, may_be_shortened};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct EventsQuery {
    /// Events after this number; `Last-Event-ID` goes before it.
    after: Option<String>,
    /// `1`: also `markup` signals, the server's rendering of finished blocks.
    markup: Option<String>,
}

/// Follows a turn.
pub async fn events(
    State(app): State<App>,
    viewer: Viewer,
    client: Client,
    PathId(id): PathId<TurnId>,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last_event_id = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?").to_owned());
    let cursor = match last_event_id.filter(|id| !id.is_empty()).or(query.after) {
        None => Cursor::After(0),
        Some(text) => parse_cursor(&text, id).map_or(Cursor::Unknown, Cursor::After),
    };
    let turn = app.service().turn(viewer.0, id).await?;
    if turn.status.is_terminal()
        && turn.last_event_seq > 0
        && cursor == Cursor::After(turn.last_event_seq)
        && !may_be_shortened(&turn)
    {
        // All of it was seen: 204 tells a browser's EventSource not to come back.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let Some(followed) = app.service().supervisor().follow(viewer.0, id, cursor).await.map_err(ServiceError::from)?
    else {
        return Err(Problem::not_found());
    };
    let with_markup = query.markup.as_deref() == Some("1");
    let place = app.streams().open(Subscriber::new(viewer.0, client));
    let outgoing = outgoing(app, viewer, id, followed, with_markup);
    let offered = [sse::Sse::CONTENT_TYPE, ndjson::Lines::CONTENT_TYPE];
    Ok(match accept::preferred(&headers, &offered) {
        ndjson::Lines::CONTENT_TYPE => respond(ndjson::Lines::of(&turn), place, outgoing),
        _ => respond(sse::Sse::of(id), place, outgoing),
    })
}

fn respond<E: Encoder + 'static>(
    mut encoder: E,
    place: OpenStream,
    outgoing: impl Stream<Item = Outgoing> + Send + 'static,
) -> Response {
    let opening = encoder.opening();
    let bytes = stream! {
        if let Some(opening) = opening {
            yield Ok::<Bytes, std::convert::Infallible>(opening);
        }
        let mut outgoing = pin!(outgoing);
        while let Some(next) = place.displaced().run_until_cancelled(outgoing.next()).await {
            match next {
                Some(next) => if let Some(bytes) = encoder.encode(next) {
                    yield Ok(bytes);
                },
                None => return,
            }
        }
        if let Some(bytes) = encoder.displaced() {
            yield Ok(bytes);
        }
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(E::CONTENT_TYPE)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
        // Proxies that buffer would hold a reply back until its end.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (Extension(admission::Followed), headers, Body::from_stream(bytes)).into_response()
}

/// What is sent: the followed turn, heartbeats while it is silent, and the rendering of blocks that are finished.
pub fn outgoing(
    app: App,
    viewer: Viewer,
    id: TurnId,
    followed: impl Stream<Item = Result<Followed, StoreError>> + Send + 'static,
    with_markup: bool,
) -> impl Stream<Item = Outgoing> + Send {
    // Whatever polls the stream: what is drawn is in the language of the request.
    let locale = locale();
    stream! {
        let mut followed = pin!(followed);
        let mut heartbeat = interval_at(Instant::now() + limits::HEARTBEAT, limits::HEARTBEAT);
        let closing = app.closing();
        loop {
            let next = tokio::select! {
                biased;
                next = followed.next() => next,
                _ = heartbeat.tick() => {
                    yield Outgoing::Signal(Signal::Heartbeat { now: app.now() });
                    continue;
                }
                () = closing.cancelled() => return,
            };
            match next {
                Some(Ok(next)) => {
                    let next = withheld(next);
                    let ended = with_markup.then(|| ended_block(&next)).flatten();
                    yield Outgoing::Followed(next);
                    if let Some(signal) = match ended { Some(block) => markup(&app, viewer, id, block, locale).await, None => None } {
                        yield Outgoing::Signal(signal);
                    }
                    heartbeat.reset();
                }
                Some(Err(error)) => {
                    // The follower comes back with its cursor.
                    tracing::warn!(turn = %id, %error, "a follower was cut off");
                    return;
                }
                None => return,
            }
        }
    }
}

/// What may be shown of what the journal has (domain.md C13).
fn withheld(followed: Followed) -> Followed {
    match followed {
        Followed::Snapshot(turn) => Followed::Snapshot(Box::new(withhold::turn(*turn))),
        Followed::Line(line) if matches!(line.name(), "block_start" | "block_end") => {
            let seen = serde_json::from_str::<Event>(&line.json).ok().and_then(|event| withhold::event(&event));
            let json = seen.and_then(|seen| serde_json::to_string(&seen).ok());
            Followed::Line(json.map_or(line.clone(), |json| Line { seq: line.seq, json: json.into() }))
        }
        Followed::Line(line) => Followed::Line(line),
    }
}

fn ended_block(followed: &Followed) -> Option<BlockId> {
    let Followed::Line(line) = followed else {
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

async fn markup(app: &App, viewer: Viewer, turn: TurnId, block: BlockId, locale: Locale) -> Option<Signal> {
    let turn = app.service().turn(viewer.0, turn).await.ok()?;
    let drawing = move || {
        let drawn = turn.blocks.iter().find(|candidate| candidate.id == block)?;
        markup_of(turn.id, drawn, &sources::of_blocks(&turn.blocks))
    };
    let parts = tasks::spawn_blocking(move || speak(locale, drawing)).await.ok()??;
    Some(Signal::Markup { block_id: block, parts })
}
