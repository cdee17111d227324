//! The document around the application: what the server renders before and after `<body>`.

use leptos::config::LeptosOptions;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::MetaTags;
use leptos_router::location::RequestUrl;

use crate::ui::app::{App, code_part_for};
use crate::ui::erased::view;
use crate::ui::escape::icon_sprite;
use crate::ui::kit::installable;
use crate::ui::locale::locale;
use crate::ui::preferences::{PreferenceSetting, Preferences};
use crate::ui::preview_link::PREVIEW_LISTENER;
use crate::ui::sandboxed_frame::FRAME_LISTENER;
use crate::ui::sidebar::HasSession;
use crate::ui::site_font::font_preload;
use crate::ui::startup_script::{StartupCall, startup_script};

/// The fallback of a page whose program does not start although scripts run: a page with a running reply reloads
/// itself as one without script does, at the address that is written there for it
/// ([`crate::ui::escape::FollowWithoutScript`]). It does not reload while a form contains input that would be lost,
/// nor where the server does not respond: the current content is readable. The style shows forms and the notice at
/// once. Before hydration nothing else can reject; a failed code part is marked on the root.
const FOLLOW: &str = r#"{let armed=false;const all=what=>[...document.querySelectorAll(what)],chosen=()=>all("select").map(box=>box.value).join(),arm=()=>{if(armed||document.documentElement.hasAttribute("data-hydrated"))return;armed=true;document.documentElement.dataset.basic="";const before=chosen(),again=()=>setTimeout(async()=>{const there=document.querySelector("noscript")?.textContent.match(/url=([^"]+)/);if(!there||document.documentElement.hasAttribute("data-hydrated"))return;const is_free=chosen()===before&&!all("textarea").some(box=>box.value!==box.defaultValue)&&!all("input[type=file]").some(box=>box.files.length);if(is_free&&await fetch(there[1]).then(page=>page.ok,()=>false))location.replace(there[1]);else again()},4000);again()};addEventListener("unhandledrejection",arm);new MutationObserver(arm).observe(document.documentElement,{attributeFilter:["data-basic"]})}"#;

/// The whole page, for the server to render. Expects the request's [`Preferences`] and the nonce as context.
///
/// The style sheet is a plain link and not `leptos_meta`'s, so that it comes first and blocks: a page is never shown
/// without its style. `options.site_pkg_dir` carries the version of the assets.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    let preferences = use_context::<Preferences>().unwrap_or_default();
    let package = format!("/{}", options.site_pkg_dir);
    let style = format!("{package}/{}.css", options.output_name);
    let session = use_context::<HasSession>().is_some_and(|HasSession(has_session)| has_session).then_some("");
    // Hydration waits for this code part.
    let part = use_context::<RequestUrl>().and_then(|url| code_part_for(url.as_ref()));
    view! {
        <!DOCTYPE html>
        <html
            lang=locale().as_str()
            data-theme=preferences.get(PreferenceSetting::Theme)
            data-sidebar=preferences.get(PreferenceSetting::Sidebar)
            data-size=preferences.root_attribute(PreferenceSetting::TextSize)
            data-density=preferences.root_attribute(PreferenceSetting::Density)
            data-code=preferences.root_attribute(PreferenceSetting::Code)
            data-motion=preferences.root_attribute(PreferenceSetting::Motion)
            data-reasoning=preferences.root_attribute(PreferenceSetting::Reasoning)
            data-send=preferences.root_attribute(PreferenceSetting::Send)
            data-letters=preferences.root_attribute(PreferenceSetting::Letters)
            data-announced=preferences.root_attribute(PreferenceSetting::Announced)
            data-notify=preferences.root_attribute(PreferenceSetting::Notify)
            data-keys=preferences.keys_attribute()
            data-font=preferences.font_attribute()
            data-session=session
        >
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"/>
                <meta name="color-scheme" content="light dark"/>
                <meta name="robots" content="noindex"/>
                <link rel="stylesheet" href=style nonce=use_nonce()/>
                {font_preload(preferences, &package)}
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                {installable(preferences.get(PreferenceSetting::Theme))}
                <MetaTags/>
                <script nonce=use_nonce()>{format!("{FOLLOW}{PREVIEW_LISTENER}{FRAME_LISTENER}")}</script>
                {startup_script(&package, &options.output_name, part, StartupCall::Hydrate, use_nonce().map(|nonce| nonce.to_string()))}
            </head>
            <body>
                <App/>
                // After the hydrated content, which begins with the first node of the body.
                {icon_sprite()}
            </body>
        </html>
    }
}
