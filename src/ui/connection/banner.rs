//! The line itself, and the ears for the device's network.

use leptos::ev;
use leptos::prelude::*;

use super::{Connection, Link};
use crate::browser::heights::{self, Told};
use crate::browser::{document, network, reload};
use crate::ui::erased::{effect, live, view};
use crate::ui::kit::Icon;
use crate::ui::words;

/// Where the line stands: over the message box, wherever the reader is, and in nobody's way.
#[component]
pub fn ConnectionBanner() -> impl IntoView {
    view! { <div class="connection no-print"><ConnectionBars/></div> }
}

/// The line itself, and the ears for the device's network.
#[component]
pub fn ConnectionBars() -> impl IntoView {
    let connection = expect_context::<Connection>();
    effect(move || {
        if !network::is_online() {
            connection.offline();
        }
        let gone = window_event_listener(ev::offline, move |_| connection.offline());
        // Whether the server is there too is for its answer to say.
        let back = window_event_listener(ev::online, move |_| connection.try_now());
        let seen = window_event_listener(ev::visibilitychange, move |_| {
            if connection.is_waiting() && !document::is_hidden() {
                connection.try_now();
            }
        });
        on_cleanup(move || {
            gone.remove();
            back.remove();
            seen.remove();
        });
    });
    let state = live(move || {
        let shown = connection.shown.get();
        let (class, icon, text) = match shown {
            Link::Live => return None,
            Link::Reconnecting => ("banner", "retry", words::reconnecting()),
            Link::Offline => ("banner warn", "offline", words::offline()),
            Link::Back => ("banner ok", "check", words::connected()),
        };
        let next = (shown == Link::Offline).then(|| {
            view! { <span class="countdown">{move || words::next_try(connection.left.get())}</span> }
        });
        let can_try = matches!(shown, Link::Reconnecting | Link::Offline);
        Some(view! {
            <div class=class>
                <Icon name=icon/>
                <span>{text}" "{next}</span>
                {can_try.then(|| view! {
                    <button type="button" class="button bare strong" on:click=move |_| connection.try_now()>
                        {words::try_now()}
                    </button>
                })}
            </div>
        })
    });
    let version = live(move || {
        connection.is_old.get().then(|| {
            view! {
                <div class="banner">
                    <Icon name="retry"/>
                    <span>{words::new_version()}</span>
                    <button type="button" class="button bare strong" on:click=|_| reload::page()>
                        {words::reload()}
                    </button>
                </div>
            }
        })
    });
    // The page is told how much of it they cover.
    let bars = NodeRef::<leptos::html::Div>::new();
    let told = StoredValue::new(None::<Told>);
    effect(move || told.set_value(bars.get().and_then(|bars| heights::tell(&bars, "--bars"))));
    view! { <div class="connection-bars" node_ref=bars>{state} {version}</div> }
}
