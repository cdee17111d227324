//! The live channel of the page: one stream of server-sent events that tells what has changed elsewhere, open while the
//! page is seen (docs/adr/0103-live-channel.md).

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;

use super::channel_state::{ChannelAction, ChannelState};
use crate::api::error::ApiError;
use crate::api::json;
use crate::browser::event_source::{self, EventStream, StreamEvent};
use crate::browser::{clock, document};
use crate::domain::ChannelEvent;
use crate::ui::chats::notifications;
use crate::ui::connection::PageConnection;
use crate::ui::erased::{effect, on_change};

/// The interval at which the state of the channel is checked.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// A listener, with the key under which it is removed.
type ChannelListener = (u32, Callback<ChannelEvent>);

/// The channel of the page, provided as context.
#[derive(Clone, Copy)]
pub struct LiveChannel {
    state: StoredValue<ChannelState>,
    stream: StoredValue<Option<EventStream>>,
    listeners: StoredValue<Vec<ChannelListener>>,
    /// The key of the next listener.
    next_key: StoredValue<u32>,
    connection: Option<PageConnection>,
}

/// Provides the channel as context. Uses the connection if there is one.
pub fn provide_live_channel() {
    let channel = LiveChannel {
        state: StoredValue::new(ChannelState::default()),
        stream: StoredValue::new(None),
        listeners: StoredValue::new(Vec::new()),
        next_key: StoredValue::new(0),
        connection: use_context(),
    };
    provide_context(channel);
    effect(move || {
        channel.check();
        let seen = window_event_listener(ev::visibilitychange, move |_| channel.check());
        let ticking = set_interval_with_handle(move || channel.check(), CHECK_EVERY).ok();
        on_cleanup(move || {
            seen.remove();
            if let Some(ticking) = ticking {
                ticking.clear();
            }
        });
    });
    // The server is away, or back.
    if let Some(connection) = channel.connection {
        on_change(move || connection.is_offline(), move |_, _| channel.check());
    }
}

impl LiveChannel {
    /// Returns true if the channel tells of nothing, so that the page has to ask.
    pub fn is_silent(self) -> bool {
        self.state.try_with_value(ChannelState::is_silent) != Some(false)
    }

    /// Calls `on_event` with the events from now on, as long as the component exists.
    pub fn listen(self, on_event: impl Fn(ChannelEvent) + Send + Sync + 'static) {
        let key = self.next_key.get_value();
        self.next_key.set_value(key.wrapping_add(1));
        let listener = Callback::new(on_event);
        self.listeners.update_value(|listeners| listeners.push((key, listener)));
        on_cleanup(move || {
            let _ = self.listeners.try_update_value(|listeners| listeners.retain(|(other, _)| *other != key));
        });
    }

    /// Opens or closes the channel as the page needs it now.
    fn check(self) {
        let is_seen = !document::is_hidden() || notifications::are_enabled();
        let is_needed = is_seen && self.connection.is_none_or(|connection| !connection.is_waiting());
        self.apply(|state, now| state.need(now, is_needed));
        self.apply(ChannelState::tick);
    }

    fn apply(self, change: impl FnOnce(&mut ChannelState, i64) -> ChannelAction) {
        let now = clock::now_ms();
        let changed = self.state.try_update_value(|state| (change(state, now), state.is_held_back()));
        let Some((action, is_held_back)) = changed else { return };
        if let Some(connection) = self.connection {
            connection.note_held_back(is_held_back);
        }
        match action {
            ChannelAction::Keep => {}
            ChannelAction::Open => self.open(),
            ChannelAction::Close => self.stream.set_value(None),
        }
    }

    fn open(self) {
        let after = self.state.with_value(ChannelState::cursor).map(|cursor| format!("?after={cursor}"));
        let url = format!("/api/events{}", after.unwrap_or_default());
        let stream = event_source::open(&url, &ChannelEvent::NAMES, move |news| self.on_stream_event(news));
        let is_open = stream.is_some();
        self.stream.set_value(stream);
        if !is_open {
            self.apply(|state, now| state.disconnect(now));
        }
    }

    fn on_stream_event(self, news: StreamEvent) {
        match news {
            // A proxy may send the head of a response and hold back its body.
            StreamEvent::Opened => {}
            StreamEvent::Message(text) => {
                let Ok(event) = json::parse::<ChannelEvent>(text.as_bytes()) else { return };
                self.apply(|state, now| state.receive(now, &event));
                if let (ChannelEvent::Hello { .. }, Some(connection)) = (&event, self.connection) {
                    connection.record_response(&Ok::<(), ApiError>(()));
                }
                for (_, listener) in self.listeners.try_get_value().unwrap_or_default() {
                    let _ = listener.try_run(event);
                }
            }
            // The next stream is opened here, because the browser would not tell when it does not respond.
            StreamEvent::Disconnected { .. } => self.apply(|state, now| state.disconnect(now)),
        }
    }
}
