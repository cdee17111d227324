//! Server-sent events: a stream of named messages that the browser opens again by itself when it merely breaks.

/// What a stream has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// It is open, for the first time or again.
    Opened,
    /// A message: its text.
    Message(String),
    /// It broke. A final break is a refusal: the browser will not open it again.
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
        /// Whether the stream is open or being opened.
        pub fn is_alive(&self) -> bool {
            self.0.source.ready_state() != EventSource::CLOSED
        }
    }

    /// Opens a stream and listens to the messages with these names. None when the browser refuses the address.
    pub fn open(url: &str, names: &[&str], on_news: impl Fn(StreamEvent) + Clone + 'static) -> Option<EventStream> {
        let source = EventSource::new(url).ok()?;
        let tell = on_news.clone();
        let on_message = Listener::new(move |event: Event| {
            // A failed reply is a message that is named like the stream's own errors; only messages carry data.
            if let Some(text) = event.dyn_ref::<MessageEvent>().and_then(|message| message.data().as_string()) {
                tell(StreamEvent::Message(text));
            }
        });
        for name in names {
            source.add_event_listener_with_callback(name, on_message.as_ref().unchecked_ref()).ok()?;
        }
        let tell = on_news.clone();
        let on_open = Listener::new(move |_| tell(StreamEvent::Opened));
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
