//! Snapshots: a shared path as the standalone page that exports also write (`transfer::exports`). Its images lie beside it
//! as files, at addresses relative to its own, so that the stored page does not contain its link.

use std::collections::{BTreeSet, HashMap};

use axum::response::{Html, IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use http::{HeaderName, HeaderValue};

use crate::api::error::ApiError;
use crate::domain::shares::shared_turns::ShownImage;
use crate::domain::transfer::export::{ExportDetail, ExportOptions};
use crate::domain::{BranchShareId, ChatId, InvalidField, MessageCode, SharedParts, SharedTurns, TurnId, UserId};
use crate::server::app::App;
use crate::server::http::response::problem::Problem;
use crate::server::http::transfer::exports::{draw_page, page_images};
use crate::server::page_data::SharedPath;
use crate::server::server_pages::messages::shares as words;
use crate::ui::locale::locale;
use crate::ui::messages;
use crate::ui::standalone::StandalonePage;
use turnleaf_service::ServiceError;
use turnleaf_service::shares::RenderedSnapshot;

/// The folder of the images, from the address of a page's folder.
const IMAGES: &str = "blobs/";
/// The beginning of an image, as its writer has it. No text contains this: its `<` is written as a reference.
const IMAGE_TAG: &str = "<img loading=\"lazy\" decoding=\"async\" src=\"";

/// The policy of a shared page, without its end: it renders itself and loads images of this server only.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors ";

/// Keeps search engines away from a shared page and from everything that belongs to it.
const NO_INDEX: (HeaderName, &str) = (HeaderName::from_static("x-robots-tag"), "noindex, nofollow");

/// Renders the path to a leaf, or the path at which the chat opens, as readers of a share get it.
///
/// # Errors
/// 404 if the chat or the leaf does not exist; 422 if there is nothing to share.
pub async fn render_snapshot(
    app: &App,
    style: String,
    owner: UserId,
    (chat, leaf): (ChatId, Option<TurnId>),
    parts: SharedParts,
) -> Result<RenderedSnapshot, Problem> {
    let (_, end) = app.service().shareable_path(owner, chat, leaf).await?;
    let (leaf, _) = end.ok_or_else(nothing_to_share)?;
    Ok(render_path(app, style, owner, (chat, leaf), parts).await?.0)
}

fn nothing_to_share() -> ServiceError {
    InvalidField::new("leaf_id", MessageCode::NoSuchMessage).into()
}

/// Renders the path to this leaf, of a reply that runs as far as it is written, and returns whether one runs.
///
/// # Errors
/// As of [`render_snapshot`].
pub async fn render_path(
    app: &App,
    style: String,
    owner: UserId,
    (chat, leaf): (ChatId, TurnId),
    parts: SharedParts,
) -> Result<(RenderedSnapshot, bool), Problem> {
    let service = app.service();
    let path = app.page_service().shared_path(owner, chat, leaf, parts).await;
    let SharedPath { title, system_prompt, turns, is_running } = path.map_err(|error| match error {
        ApiError::NotFound => Problem::not_found(),
        error => Problem::internal(error),
    })?;
    let created_at = turns.first().ok_or_else(nothing_to_share)?.turn.created_at;
    let (images, pictures_left_out) = page_images(service, owner, &turns).await?;
    let address = |sha256: &str| format!("{IMAGES}{sha256}");
    let pictures = images.iter().map(|(whole, image)| (whole.clone(), address(&image.sha256))).collect();
    let shown = images.into_iter().map(|(whole, image)| {
        let shown = ShownImage { sha256: image.sha256, mime: image.kind.to_owned() };
        (whole, shown)
    });
    let shown: HashMap<String, ShownImage> = shown.collect();
    let copied = turns.iter().map(|view| view.turn.clone()).collect();
    let copied = SharedTurns::new(title.clone(), system_prompt.clone(), copied, &shown);
    let images: BTreeSet<String> = shown.into_values().map(|image| image.sha256).collect();
    let detail = |is_shared| if is_shared { ExportDetail::Folded } else { ExportDetail::LeftOut };
    let page = StandalonePage {
        title,
        created_at,
        exported_at: app.now(),
        system_prompt,
        turns,
        pictures,
        has_picture_files: true,
        pictures_left_out,
        is_cut: false,
        imported_from: None,
        damaged: Vec::new(),
        parts: ExportOptions { reasoning: detail(parts.reasoning), tools: detail(parts.tools) },
        style,
    };
    let html = draw_page(service, page).await?;
    let snapshot = RenderedSnapshot { leaf, html, images: images.into_iter().collect(), turns: copied };
    Ok((snapshot, is_running))
}

/// The beginning of a page's content, before which the server adds a link. No text contains it, as above.
const BODY: &str = "<body class=\"standalone\">";

/// Adds the link with which a reader continues the chat to a shared page. It is not part of the page that is stored.
pub fn with_continue_link(html: &str, token: &str) -> String {
    with_reader_line(html, &[continue_link(token)])
}

/// Adds what a reader may do to the page of a live share, whose address ends with this id.
pub fn with_live_links(html: &str, id: BranchShareId, is_running: bool) -> String {
    let running = is_running.then(|| words::reply_running().to_owned());
    let refresh = format!("<a href=\"{id}\">{}</a>", messages::refresh());
    let line: Vec<String> = running.into_iter().chain([refresh, continue_link(&id.to_string())]).collect();
    with_reader_line(html, &line)
}

/// Returns the link to continue from the page whose address ends with this part.
fn continue_link(page: &str) -> String {
    format!("<a href=\"{page}/continue\">{}</a>", words::continue_chat())
}

/// Adds a line in the language of the reader above a page.
fn with_reader_line(html: &str, parts: &[String]) -> String {
    let (language, line) = (locale().as_str(), parts.join(" · "));
    let line = format!("<p class=\"standalone-continue\" lang=\"{language}\">{line}</p>");
    html.replacen(BODY, &format!("{BODY}{line}"), 1)
}

/// The pages that may frame a shared page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotFrame {
    Nobody,
    /// The page of its owner, as a preview.
    ThisServer,
}

/// Returns the page whose images are below an address of this server.
pub fn snapshot_response(html: &str, folder: &str, frame: SnapshotFrame) -> Response {
    let html = html.replace(&format!("{IMAGE_TAG}{IMAGES}"), &format!("{IMAGE_TAG}{folder}/{IMAGES}"));
    let mut response = Html(html).into_response();
    let policy = match frame {
        SnapshotFrame::Nobody => format!("{POLICY}'none'"),
        SnapshotFrame::ThisServer => format!("{POLICY}'self'"),
    };
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    without_traces(response)
}

/// Adds the headers that keep a response out of caches and search engines.
pub fn without_traces(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_INDEX.0, HeaderValue::from_static(NO_INDEX.1));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::markdown::Html as HtmlWriter;

    #[test]
    fn link_to_continue_stands_before_page_and_nowhere_else() {
        let page = format!("<html>{BODY}<h1>a</h1><p>&lt;body class=\"standalone\"&gt;</p></body></html>");
        let linked = with_continue_link(&page, "00ff");
        let link = "<p class=\"standalone-continue\" lang=\"en\"><a href=\"00ff/continue\">Continue this chat</a></p>";
        assert_eq!(linked, page.replacen(BODY, &format!("{BODY}{link}"), 1));
        assert_eq!(linked.matches("/continue").count(), 1, "{linked}");
    }

    #[tokio::test]
    async fn only_images_of_page_get_its_address() {
        let mut writer = HtmlWriter::default();
        writer.image("blobs/ab", "a", None);
        writer.text("<img loading=\"lazy\" decoding=\"async\" src=\"blobs/cd\"/>");
        let response = snapshot_response(writer.finish().as_str(), "/share/t", SnapshotFrame::Nobody);
        let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        assert!(policy.ends_with("frame-ancestors 'none'") && !policy.contains("script"), "{policy}");
        let html = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let html = String::from_utf8(html.to_vec()).unwrap();
        assert!(html.contains("src=\"/share/t/blobs/ab\""), "{html}");
        assert_eq!(html.matches("/share/t").count(), 1, "{html}");
    }
}
