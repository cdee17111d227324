//! The connection banner, and the listeners on the device's network state.

use leptos::ev;
use leptos::prelude::*;

use super::{ConnectionStatus, PageConnection};
use crate::browser::css_heights::{self, HeightObserver};
use crate::browser::{document, network, reload};
use crate::ui::erased::{effect, live_view, view};
use crate::ui::kit::Icon;
use crate::ui::messages;

/// The banner above the message box, where it is always visible and covers nothing.
#[component]
pub fn ConnectionBanner() -> impl IntoView {
    view! { <div class="connection no-print"><ConnectionBars/></div> }
}

/// The bars of the banner, and the listeners on the device's network state.
#[component]
pub fn ConnectionBars() -> impl IntoView {
    let connection = expect_context::<PageConnection>();
    effect(move || {
        if !network::is_online() {
            connection.go_offline();
        }
        let gone = window_event_listener(ev::offline, move |_| connection.go_offline());
        // Only a response tells whether the server is reachable, too.
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
    let state = live_view(move || {
        let shown = connection.shown.get();
        let (class, icon, text) = match shown {
            ConnectionStatus::Live => return None,
            ConnectionStatus::Reconnecting => ("banner", "retry", messages::reconnecting()),
            ConnectionStatus::Offline => ("banner offline", "offline", messages::offline()),
            ConnectionStatus::Restored => ("banner ok", "check", messages::connected()),
        };
        let next = (shown == ConnectionStatus::Offline).then(|| {
            view! { <span class="countdown">{move || messages::amounts::next_try(connection.left.get().into())}</span> }
        });
        let can_try = matches!(shown, ConnectionStatus::Reconnecting | ConnectionStatus::Offline);
        let details = (can_try && connection.is_held_back.get()).then(|| {
            view! {
                <details>
                    <summary>{messages::connection_details()}</summary>
                    {messages::updates_held_back()}
                </details>
            }
        });
        Some(view! {
            <div class=class>
                <Icon name=icon/>
                <span>{text}" "{next}</span>
                {details}
                {can_try.then(|| view! {
                    <button type="button" class="button bare strong" on:click=move |_| connection.try_now()>
                        {messages::try_now()}
                    </button>
                })}
            </div>
        })
    });
    let version = live_view(move || {
        connection.is_old.get().then(|| {
            view! {
                <div class="banner">
                    <Icon name="retry"/>
                    <span>{messages::new_version()}</span>
                    <button type="button" class="button bare strong" on:click=|_| reload::reload_page()>
                        {messages::reload()}
                    </button>
                </div>
            }
        })
    });
    // Observed, because the page reserves the height that the bars cover.
    let bars = NodeRef::<leptos::html::Div>::new();
    let height_observer = StoredValue::new(None::<HeightObserver>);
    effect(move || height_observer.set_value(bars.get().and_then(|bars| css_heights::observe_height(&bars, "--bars"))));
    view! { <div class="connection-bars" node_ref=bars>{state} {version}</div> }
}
