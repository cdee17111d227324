//! Server-sent events: a stream of named messages. The browser reconnects by itself when the connection breaks, but
//! not after a refusal.

use crate::domain::limits;

/// The silence after which a stream counts as dead, whatever the network reports, in milliseconds: two heartbeats and
/// some tolerance.
pub const SILENCE_MS: i64 = limits::HEARTBEAT.as_millis() as i64 * 2 + 5_000;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// The stream is open, for the first time or after a reconnect.
    Opened,
    /// A message, with its text.
    Message(String),
    /// The connection broke. A final disconnect is a refusal: the browser will not reconnect.
    Disconnected { is_final: bool },
}

#[cfg(feature = "hydrate")]
mod real {
    use send_wrapper::SendWrapper;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{Event, EventSource, MessageEvent};

    use super::StreamEvent;

    type Listener = Closure<dyn FnMut(Event)>;

    /// An open stream. Dropping it closes it.
    pub struct EventStream(SendWrapper<OpenEventSource>);

    struct OpenEventSource {
        source: EventSource,
        names: Vec<String>,
        on_message: Listener,
        _on_open: Listener,
        _on_error: Listener,
    }

    impl Drop for OpenEventSource {
        fn drop(&mut self) {
            self.source.close();
            self.source.set_onopen(None);
            self.source.set_onerror(None);
            for name in &self.names {
                let _ = self.source.remove_event_listener_with_callback(name, self.on_message.as_ref().unchecked_ref());
            }
        }
    }

    impl EventStream {
        /// Returns whether the stream is open or connecting.
        pub fn is_alive(&self) -> bool {
            self.0.source.ready_state() != EventSource::CLOSED
        }
    }

    /// Opens a stream and listens to the messages with these names. Returns `None` if the browser refuses the address.
    pub fn open(url: &str, names: &[&str], on_news: impl Fn(StreamEvent) + Clone + 'static) -> Option<EventStream> {
        let source = EventSource::new(url).ok()?;
        let on_event = on_news.clone();
        let on_message = Listener::new(move |event: Event| {
            // The message of a failed reply has the same name as the stream's own errors; only messages carry data.
            if let Some(text) = event.dyn_ref::<MessageEvent>().and_then(|message| message.data().as_string()) {
                on_event(StreamEvent::Message(text));
            }
        });
        for name in names {
            source.add_event_listener_with_callback(name, on_message.as_ref().unchecked_ref()).ok()?;
        }
        let on_event = on_news.clone();
        let on_open = Listener::new(move |_| on_event(StreamEvent::Opened));
        source.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        let stream = source.clone();
        let on_error = Listener::new(move |event: Event| {
            if event.dyn_ref::<MessageEvent>().is_none() {
                on_news(StreamEvent::Disconnected { is_final: stream.ready_state() == EventSource::CLOSED });
            }
        });
        source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Some(EventStream(SendWrapper::new(OpenEventSource {
            source,
            names,
            on_message,
            _on_open: on_open,
            _on_error: on_error,
        })))
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use super::StreamEvent;

    /// An open stream. Dropping it closes it.
    pub struct EventStream;

    impl EventStream {
        pub fn is_alive(&self) -> bool {
            false
        }
    }

    pub fn open(_url: &str, _names: &[&str], _on_news: impl Fn(StreamEvent) + Clone + 'static) -> Option<EventStream> {
        None
    }
}

pub use real::{EventStream, open};
