//! Preferences of this browser: the pages that show them, and the forms that store them in cookies. Includes the
//! instructions of all new chats, which the database stores.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Deserialize;

use crate::domain::InvalidField;
use crate::domain::MessageCode;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::cookies::{cookie_header, preferences};
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::site::assets::{NOTICES_FILE, Site};
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::about::AboutPage;
use crate::server::server_pages::messages::providers::error_sentence;
use crate::server::server_pages::preferences::{InstructionsForm, PreferencesPage};
use crate::server::server_pages::shortcuts::ShortcutsPage;
use crate::server::server_pages::{PageSection, ServerPage};
use crate::ui::keymap::{KeyCommand, Keymap};
use crate::ui::locale::{LOCALE_COOKIE, Locale};
use crate::ui::preferences::{KEPT_SECONDS, KEYS_COOKIE, PreferenceSetting, cookie_value};
use turnleaf_service::ServiceError;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreferencesPageQuery {
    /// `1` after a change was saved.
    saved: Option<String>,
}

/// `GET /settings`: the list of the settings, with the first of them where there is room.
pub async fn index(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let instructions = InstructionsForm { text: app.service().instructions(principal.user).await?, error: None };
    let query = PreferencesPageQuery::default();
    Ok(show(&app, context, &headers, PageSection::Settings, Some(instructions), query))
}

/// `GET /settings/general`.
pub async fn general(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    headers: HeaderMap,
    StrictQuery(query): StrictQuery<PreferencesPageQuery>,
) -> Result<Response, Problem> {
    let instructions = InstructionsForm { text: app.service().instructions(principal.user).await?, error: None };
    Ok(show(&app, context, &headers, PageSection::General, Some(instructions), query))
}

/// `POST /forms/instructions`: sets the instructions of all new chats.
pub async fn save_instructions(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    headers: HeaderMap,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let text = fields.text("system_prompt").unwrap_or_default();
    match app.service().set_instructions(principal.user, &text).await {
        Ok(()) => Ok(see_other("/settings/general?saved=1#instructions")),
        Err(ServiceError::Invalid(invalid)) => {
            let instructions = InstructionsForm { text, error: Some(error_sentence(&invalid)) };
            Ok(show(&app, context, &headers, PageSection::General, Some(instructions), PreferencesPageQuery::default()))
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /settings/appearance`.
pub async fn appearance(
    State(app): State<App>,
    context: PageContext,
    headers: HeaderMap,
    StrictQuery(query): StrictQuery<PreferencesPageQuery>,
) -> Response {
    show(&app, context, &headers, PageSection::Appearance, None, query)
}

fn show(
    app: &App,
    context: PageContext,
    headers: &HeaderMap,
    section: PageSection,
    instructions: Option<InstructionsForm>,
    query: PreferencesPageQuery,
) -> Response {
    let language = cookie_value(&cookie_header(headers), LOCALE_COOKIE).and_then(Locale::parse);
    let (preferences, is_saved) = (preferences(headers), query.saved.is_some());
    let is_wrong = instructions.as_ref().is_some_and(|instructions| instructions.error.is_some());
    let status = if is_wrong { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = PreferencesPage { section, preferences, language, instructions, is_saved };
    without_caching(context.respond(app, status, page.draw()))
}

/// `GET /settings/shortcuts`.
pub async fn shortcuts(
    State(app): State<App>,
    context: PageContext,
    headers: HeaderMap,
    StrictQuery(query): StrictQuery<PreferencesPageQuery>,
) -> Response {
    let keymap = *preferences(&headers).keys();
    let page = ShortcutsPage { keymap, is_saved: query.saved.is_some(), refused: None };
    page_response(&app, context, page.draw())
}

/// `POST /forms/keys`: sets, removes or resets the keys of a `command`, or resets all keys.
pub async fn save_keys(
    State(app): State<App>,
    context: PageContext,
    headers: HeaderMap,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let before = *preferences(&headers).keys();
    let (keymap, row) = if fields.text("usual").as_deref() == Some("all") {
        (Keymap::default(), "")
    } else {
        let name = fields.text("command").unwrap_or_default();
        let command =
            KeyCommand::parse(&name).ok_or_else(|| InvalidField::new("command", MessageCode::UnknownCommand))?;
        let is_blank = fields.text("keys").is_none_or(|keys| keys.trim().is_empty());
        if is_blank && !fields.contains("none") && !fields.contains("usual") {
            // Nothing was typed, so the keys stay.
            return Ok(see_other(&format!("/settings/shortcuts#{}", command.name())));
        }
        let keys = match fields.text("keys") {
            _ if fields.contains("none") => None,
            _ if fields.contains("usual") && command.default_chord().is_none() => None,
            typed => {
                // The default keys may belong to another command by now.
                let usual = command.default_chord().filter(|_| fields.contains("usual")).map(|keys| keys.to_string());
                let typed = usual.or(typed).unwrap_or_default();
                match before.check(command, &typed) {
                    Ok(keys) => Some(keys),
                    Err(rejection) => {
                        let refused = Some((command, typed, rejection));
                        let page = ShortcutsPage { keymap: before, is_saved: false, refused };
                        return Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()));
                    }
                }
            }
        };
        (before.with_chord(command, keys), command.name())
    };
    let mut response = see_other(&format!("/settings/shortcuts?saved=1#{row}"));
    set_cookie(&mut response, KEYS_COOKIE, &keymap.to_stored());
    Ok(response)
}

/// `GET /settings/about`.
pub async fn about(State(app): State<App>, Extension(site): Extension<Arc<Site>>, context: PageContext) -> Response {
    let build = app.leptos().site_pkg_dir.rsplit('/').next().unwrap_or_default().to_owned();
    let notices = site.root_files().iter().any(|name| name == NOTICES_FILE).then(|| format!("/{NOTICES_FILE}"));
    let page = AboutPage { database: app.service().database_name(), build, notices };
    page_response(&app, context, page.draw())
}

fn page_response(app: &App, context: PageContext, page: ServerPage) -> Response {
    without_caching(context.respond(app, StatusCode::OK, page))
}

fn without_caching(mut response: Response) -> Response {
    // The browser's Back button must show the current choice.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `POST /forms/preferences`: stores each submitted setting in a cookie for a year. An invalid value is the default.
pub async fn save_preferences(fields: SubmittedFields) -> Response {
    let next = fields.text("next").unwrap_or_else(|| "/".to_owned());
    // The redirect returns to the changed row, so that keyboard focus continues there.
    let row = PreferenceSetting::ALL
        .map(PreferenceSetting::name)
        .into_iter()
        .chain(["language"])
        .find(|name| fields.contains(name));
    let next = match row {
        Some(row) if next.contains("saved=1") && !next.contains('#') => format!("{next}#{row}"),
        _ => next,
    };
    let mut response = see_other(local_path(&next));
    let chosen = |setting: PreferenceSetting| {
        let word = fields.text(setting.name())?;
        Some((setting.cookie(), setting.value(&word).unwrap_or(setting.values()[0])))
    };
    let language = fields.contains("language").then(|| {
        let locale = fields.text("language").and_then(|word| Locale::parse(&word));
        (LOCALE_COOKIE.to_owned(), locale.map_or("", Locale::as_str))
    });
    for (name, value) in PreferenceSetting::ALL.into_iter().filter_map(chosen).chain(language) {
        set_cookie(&mut response, &name, value);
    }
    response
}

/// Sets a cookie. An empty value expires it at once.
fn set_cookie(response: &mut Response, name: &str, value: &str) {
    let age = if value.is_empty() { 0 } else { KEPT_SECONDS };
    let cookie = format!("{name}={value}; Path=/; Max-Age={age}; SameSite=Lax");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
