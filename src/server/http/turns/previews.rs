//! The previews of code blocks: Turnleaf's page around one, the sandboxed document, and the file. A code block is named
//! by its block and its number, as the links of the page are (`domain::blocks::preview`).

use std::slice;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use serde::Deserialize;

use crate::domain::blocks::preview::{CodePreview, DIAGRAM_CHARS, PreviewKind, preview_versions};
use crate::domain::documents::file_name::{content_disposition, sanitize};
use crate::domain::text::hidden_text::visible_text;
use crate::domain::{BlockId, Turn, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::PathIds;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::sandboxed_document::sandboxed_document;
use crate::server::http::response::server_page::PageContext;
use crate::server::http::site::assets::Site;
use crate::server::http::site::diagram_frame;
use crate::server::markup;
use crate::server::server_pages::preview::{PreviewContent, PreviewPage, PreviewTab};
use crate::ui::locale::{locale, with_locale};
use turnleaf_platform::tasks;
use turnleaf_service::branches::compare::text_diff::TextDiff;

/// The beginning of the document of a drawing, which fits the drawing into its frame.
const DRAWING: &str = "<!doctype html><title>SVG</title><style>html,body{margin:0;block-size:100%}\
    body>svg{display:block;margin:auto;max-inline-size:100%;max-block-size:100%}</style>";

/// The place of a code block, and the shown tab of its preview.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviewQuery {
    /// The number among the code blocks of the block.
    code: usize,
    #[serde(default)]
    show: PreviewTab,
}

/// `GET /turns/{id}/previews/{block}`: the page around a preview.
pub async fn page(
    State(app): State<App>,
    Extension(site): Extension<Arc<Site>>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    StrictQuery(query): StrictQuery<PreviewQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let (turn, shown) = find_preview(&app, principal.user, (turn, block), query.code).await?;
    let around = app.service().path_around(principal.user, turn.chat_id, Some(turn.id), None, limits::PAGE_MAX).await?;
    let (turns, locale) = (around.0.turns, locale());
    let preparing = tasks::spawn_blocking(move || {
        with_locale(locale, || {
            let all = markup::code_previews(&turns);
            let versions: Vec<CodePreview> = preview_versions(&all, &shown).into_iter().cloned().collect();
            // A reply that grows may have another place by now.
            let versions = if versions.contains(&shown) { versions } else { vec![shown.clone()] };
            let content = content(&site, &shown, &versions, query.show);
            (shown, versions, content)
        })
    });
    let (shown, versions, content) = preparing.await.map_err(Problem::internal)?;
    let page = PreviewPage { turn: &turn, shown: &shown, versions: &versions, content };
    Ok(context.respond(&app, StatusCode::OK, page.draw()))
}

/// `GET /turns/{id}/previews/{block}/document`: the document that the code makes. A visit leads to the page around it:
/// only a page can keep a document from navigating to an address of its choice.
pub async fn document(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    StrictQuery(query): StrictQuery<PreviewQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (_, shown) = find_preview(&app, principal.user, (turn, block), query.code).await?;
    if headers.get("sec-fetch-dest").is_some_and(|of| of == "document") {
        return Ok(Redirect::to(&shown.address()).into_response());
    }
    let html = match shown.kind {
        PreviewKind::Html => shown.code,
        PreviewKind::Svg => format!("{DRAWING}{}", shown.code),
        PreviewKind::Mermaid | PreviewKind::Markdown => return Err(Problem::not_found()),
    };
    Ok(sandboxed_document(html.into()))
}

/// `GET /turns/{id}/previews/{block}/file`: the code as a file.
pub async fn file(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    StrictQuery(query): StrictQuery<PreviewQuery>,
) -> Result<Response, Problem> {
    let (_, shown) = find_preview(&app, principal.user, (turn, block), query.code).await?;
    let name = content_disposition(&sanitize(&shown.file_name())?);
    let mut response = shown.code.into_response();
    let fields = response.headers_mut();
    // With this type, no browser renders the file.
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    fields.insert(CONTENT_DISPOSITION, HeaderValue::try_from(name).map_err(Problem::internal)?);
    Ok(response)
}

/// Returns the reply and the preview of its code block.
async fn find_preview(
    app: &App,
    viewer: UserId,
    (turn, block): (TurnId, BlockId),
    number: usize,
) -> Result<(Turn, CodePreview), Problem> {
    let turn = app.service().turn(viewer, turn).await?;
    let reading = tasks::spawn_blocking(move || {
        let previews = markup::code_previews(slice::from_ref(&turn));
        (turn, previews)
    });
    let (turn, previews) = reading.await.map_err(Problem::internal)?;
    let shown = previews.into_iter().find(|preview| preview.block == block && preview.number == number);
    Ok((turn, shown.ok_or_else(Problem::not_found)?))
}

/// Returns the content of the page of a preview.
fn content(site: &Site, shown: &CodePreview, versions: &[CodePreview], tab: PreviewTab) -> PreviewContent {
    let index = versions.iter().position(|version| version == shown);
    let before = index.and_then(|index| versions.get(index.checked_sub(1)?));
    match (tab, before) {
        (PreviewTab::Source, _) => PreviewContent::Source,
        (PreviewTab::Changes, Some(before)) => {
            let diff = TextDiff::from_texts(&visible_text(&before.code), &visible_text(&shown.code));
            PreviewContent::Changes(diff)
        }
        _ => match shown.kind {
            PreviewKind::Html | PreviewKind::Svg => PreviewContent::Frame(shown.address_of("document")),
            PreviewKind::Markdown => PreviewContent::Markdown(markup::block_markup(&shown.code)),
            PreviewKind::Mermaid => {
                let fits = shown.code.encode_utf16().count() <= DIAGRAM_CHARS;
                let address = fits.then(|| diagram_frame::address(site, &shown.code)).flatten();
                address.map_or(PreviewContent::Unavailable, PreviewContent::Frame)
            }
        },
    }
}
