//! Turnleaf: chat for every LLM, where a conversation is a tree. This package is the page and what serves it, on top of the
//! crates below `src/`: the model ([`domain`]), `turnleaf_service` and what that stands on.
//!
//! Four places, in the order a message travels: [`ui`] (components, both sides) → [`api`] (server functions, the doorway)
//! → [`server`] (what only the server runs of the page: HTTP, the pages, the command line) → [`browser`] (the only code
//! that touches web APIs) → back into [`ui`]. `docs/ARCHITECTURE.md` says which may use which; `tests/architecture.rs` holds
//! them to it.

pub use turnleaf_domain as domain;

pub mod api;
pub mod browser;
#[cfg(feature = "ssr")]
pub mod server;
pub mod ui;

#[cfg(all(feature = "ssr", feature = "hydrate"))]
compile_error!("`ssr` is the server, `hydrate` is the browser: build one at a time");

/// Takes over the page that the server rendered, as soon as all its code is here. Where a part of that cannot be
/// fetched, the page stays what it is without script.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub async fn hydrate() {
    console_error_panic_hook::set_once();
    apply_page_locale();
    if ui::app::fetch_code_for(&browser::history::path()).await.is_ok() {
        browser::hydration::hydrate_sliced(ui::app::App).await;
        browser::document::mark_hydrated();
    } else {
        browser::document::set_root_attribute("data-basic", "");
    }
    browser::service_worker::register();
    browser::reload::reload_after_restart();
}

/// Takes the language that the server drew the page in.
#[cfg(feature = "hydrate")]
fn apply_page_locale() {
    browser::document::root_attribute("lang")
        .and_then(|lang| ui::locale::Locale::parse(&lang))
        .unwrap_or_default()
        .set_current();
}

/// Lets a plain page, which the server drew and which works by itself, do more where there is script.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub async fn enhance() {
    console_error_panic_hook::set_once();
    apply_page_locale();
    // Without it the page stays what it is without script.
    if let Ok(begin) = ui::server_page::fetch_enhancer().await {
        begin();
        browser::document::mark_hydrated();
    }
    browser::service_worker::register();
    browser::reload::reload_after_restart();
}
