//! The line that says how the connection is, when it is not as it should be (ux.md 14).

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;

use crate::browser::network;
use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, live, view};
use crate::ui::kit::Icon;
use crate::ui::words;

/// A connection that comes back within this was never worth a word.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long "Connected" stays.
const RELIEF: Duration = Duration::from_secs(2);

/// How the page is connected to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Link {
    /// As it should be; nothing is shown.
    #[default]
    Live,
    /// A follower lost its stream and tries again.
    Reconnecting,
    /// The device has no network.
    Offline,
    /// It came back a moment ago.
    Back,
}

/// The connection of the page; in context. Whoever follows a reply reports what happens to its stream.
#[derive(Clone, Copy)]
pub struct Connection {
    shown: RwSignal<Link>,
    is_lost: StoredValue<bool>,
    /// Counts "try now", for followers to obey.
    wanted: RwSignal<u32>,
}

/// Puts the connection into the context.
pub fn provide_connection() -> Connection {
    let connection =
        Connection { shown: RwSignal::new(Link::Live), is_lost: StoredValue::new(false), wanted: RwSignal::new(0) };
    provide_context(connection);
    connection
}

impl Connection {
    /// A stream broke. Said after a while, because most come back at once.
    pub fn lost(self) {
        if self.is_lost.get_value() {
            return;
        }
        self.is_lost.set_value(true);
        set_timeout(
            move || {
                if self.is_lost.get_value() && self.shown.get_untracked() == Link::Live {
                    self.show(Link::Reconnecting);
                }
            },
            PATIENCE,
        );
    }

    /// A stream works (again).
    pub fn works(self) {
        self.is_lost.set_value(false);
        if matches!(self.shown.get_untracked(), Link::Reconnecting | Link::Offline) {
            self.show(Link::Back);
            set_timeout(
                move || {
                    if self.shown.get_untracked() == Link::Back {
                        self.show(Link::Live);
                    }
                },
                RELIEF,
            );
        }
    }

    /// Changes whenever somebody asks to try now, or the network came back.
    pub fn wanted(self) -> Signal<u32> {
        self.wanted.into()
    }

    fn try_now(self) {
        self.wanted.update(|count| *count += 1);
    }

    fn show(self, link: Link) {
        if self.shown.get_untracked() != link {
            self.shown.set(link);
        }
    }
}

/// The line itself, and the ears for the device's network.
#[component]
pub fn ConnectionBanner() -> impl IntoView {
    let connection = expect_context::<Connection>();
    let announcer = expect_context::<Announcer>();
    effect(move || {
        if !network::is_online() {
            connection.show(Link::Offline);
        }
        let gone = window_event_listener(ev::offline, move |_| {
            connection.show(Link::Offline);
            announcer.say(words::connection_lost());
        });
        let back = window_event_listener(ev::online, move |_| {
            connection.try_now();
            connection.works();
            announcer.say(words::connected());
        });
        on_cleanup(move || {
            gone.remove();
            back.remove();
        });
    });
    live(move || {
        let (class, icon, text) = match connection.shown.get() {
            Link::Live => return None,
            Link::Reconnecting => ("banner", "retry", words::reconnecting()),
            Link::Offline => ("banner warn", "offline", words::offline()),
            Link::Back => ("banner ok", "check", words::connected()),
        };
        let can_try = matches!(connection.shown.get(), Link::Reconnecting | Link::Offline);
        Some(view! {
            <div class=class>
                <Icon name=icon/>
                <span>{text}</span>
                {can_try.then(|| view! {
                    <button type="button" class="button bare strong" on:click=move |_| connection.try_now()>
                        {words::try_now()}
                    </button>
                })}
            </div>
        })
    })
}
