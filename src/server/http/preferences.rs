//! What a person chose for this browser: the pages that show it, and the form that keeps it in cookies.

use axum::extract::State;
use axum::response::Response;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Deserialize;

use super::forms::local_path;
use super::plain_page::{Asked, Fields, see_other};
use super::query::Query;
use super::site_pages::{cookies, preferences};
use crate::server::app::App;
use crate::server::plain_pages::about::{AboutPage, shortcuts as shortcuts_page};
use crate::server::plain_pages::preferences::PreferencesPage;
use crate::server::plain_pages::{Page, Section};
use crate::ui::locale::{LOCALE_COOKIE, Locale};
use crate::ui::preferences::{Setting, kept};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// `1` after a choice was kept.
    saved: Option<String>,
}

/// `GET /settings/general`.
pub async fn general(
    State(app): State<App>,
    asked: Asked,
    headers: HeaderMap,
    Query(query): Query<PageQuery>,
) -> Response {
    show(&app, asked, &headers, Section::General, query)
}

/// `GET /settings/appearance`.
pub async fn appearance(
    State(app): State<App>,
    asked: Asked,
    headers: HeaderMap,
    Query(query): Query<PageQuery>,
) -> Response {
    show(&app, asked, &headers, Section::Appearance, query)
}

fn show(app: &App, asked: Asked, headers: &HeaderMap, section: Section, query: PageQuery) -> Response {
    let language = kept(&cookies(headers), LOCALE_COOKIE).and_then(Locale::parse);
    let page =
        PreferencesPage { section, preferences: preferences(headers), language, is_saved: query.saved.is_some() };
    answer(app, asked, page.draw())
}

/// `GET /settings/shortcuts`.
pub async fn shortcuts(State(app): State<App>, asked: Asked) -> Response {
    answer(&app, asked, shortcuts_page())
}

/// `GET /settings/about`.
pub async fn about(State(app): State<App>, asked: Asked) -> Response {
    let build = app.leptos().site_pkg_dir.rsplit('/').next().unwrap_or_default().to_owned();
    let page = AboutPage { database: app.service().database(), build };
    answer(&app, asked, page.draw())
}

fn answer(app: &App, asked: Asked, page: Page) -> Response {
    let mut response = asked.answer(app, StatusCode::OK, page);
    // What Back shows must be what is chosen.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `POST /forms/preferences`: each setting that is named, to a year's cookie. Nonsense is the usual.
pub async fn keep(fields: Fields) -> Response {
    let next = fields.text("next").unwrap_or_else(|| "/".to_owned());
    // Back to the row that was changed, so that keys go on there.
    let row = Setting::ALL.map(Setting::name).into_iter().chain(["language"]).find(|name| fields.has(name));
    let next = match row {
        Some(row) if next.contains("saved=1") && !next.contains('#') => format!("{next}#{row}"),
        _ => next,
    };
    let mut response = see_other(local_path(&next));
    let chosen = |setting: Setting| {
        let word = fields.text(setting.name())?;
        Some((setting.cookie(), setting.value(&word).unwrap_or(setting.values()[0])))
    };
    let language = fields.has("language").then(|| {
        let locale = fields.text("language").and_then(|word| Locale::parse(&word));
        (LOCALE_COOKIE.to_owned(), locale.map_or("", Locale::as_str))
    });
    for (name, value) in Setting::ALL.into_iter().filter_map(chosen).chain(language) {
        // Nothing to keep is a cookie that ends at once.
        let age = if value.is_empty() { 0 } else { YEAR };
        let cookie = format!("{name}={value}; Path=/; Max-Age={age}; SameSite=Lax");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
    response
}

/// In seconds.
const YEAR: u32 = 365 * 24 * 60 * 60;
