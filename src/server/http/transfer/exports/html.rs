//! Standalone HTML export of a path: the application's own transcript with its styles and images in one file.

use std::collections::{HashMap, HashSet};

use axum::body::Bytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::api::error::ApiError;
use crate::api::view::TurnView;
use crate::domain::documents::attachment::AttachmentCard;
use crate::domain::documents::image_type::detect_image_type;
use crate::domain::tools::tool_output;
use crate::domain::transfer::export::ExportOptions;
use crate::domain::{ChatId, Content, TurnId, UserId, limits};
use crate::server::http::response::problem::Problem;
use crate::server::page_data::{PageService, WholePath};
use crate::ui::locale::{locale, with_locale};
use crate::ui::standalone::StandalonePage;
use turnleaf_platform::tasks;
use turnleaf_service::{Service, ServiceError};

/// Renders the path to a leaf, or the path at which the chat opens.
///
/// # Errors
/// 404 if the chat or the leaf does not exist; otherwise the problem of the read that failed.
pub async fn standalone_page(
    service: &Service,
    style: String,
    owner: UserId,
    chat: ChatId,
    leaf: Option<TurnId>,
    parts: ExportOptions,
) -> Result<String, Problem> {
    let pages = PageService::new(service.clone());
    let WholePath { chat, turns, is_cut, imported_from, damaged } =
        pages.whole_path(owner, chat, leaf).await.map_err(|error| match error {
            ApiError::NotFound => Problem::not_found(),
            error => Problem::internal(error),
        })?;
    let (images, pictures_left_out) = page_images(service, owner, &turns).await?;
    let pictures = images.into_iter().map(|(whole, image)| (whole, image.data_url())).collect();
    let page = StandalonePage {
        title: chat.title,
        created_at: chat.created_at,
        exported_at: service.supervisor().clock().now(),
        system_prompt: chat.system_prompt,
        turns,
        pictures,
        has_picture_files: false,
        pictures_left_out,
        is_cut,
        imported_from,
        damaged,
        parts,
        style,
    };
    draw_page(service, page).await
}

/// Renders a page, on the blocking pool, because a long path takes a while. API keys are removed.
pub async fn draw_page(service: &Service, page: StandalonePage) -> Result<String, Problem> {
    let language = locale();
    let drawing = tasks::spawn_blocking(move || with_locale(language, || page.draw()));
    Ok(service.redact_keys(drawing.await.map_err(Problem::internal)?))
}

/// An image that a page shows: the whole one, or its small form.
pub struct PageImage {
    pub sha256: String,
    /// The media type.
    pub kind: &'static str,
    bytes: Bytes,
}

impl PageImage {
    fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.kind, STANDARD.encode(&self.bytes))
    }
}

/// The hash of an image that turns show, and of its thumbnail if there is one.
type ShownPicture = (String, Option<String>);

/// Returns the images of these turns by the hashes of the whole ones, and the number of those left out: they are too
/// large, are gone, or are of a format that browsers may not draw safely.
pub async fn page_images(
    service: &Service,
    owner: UserId,
    turns: &[TurnView],
) -> Result<(HashMap<String, PageImage>, usize), ServiceError> {
    let mut kept = HashMap::new();
    let (mut room, mut left_out) = (limits::PAGE_PICTURES_BYTES, 0);
    let mut seen = HashSet::new();
    for (whole, small) in turns.iter().flat_map(shown_pictures) {
        if !seen.insert(whole.clone()) {
            continue;
        }
        let mut found = None;
        for form in [Some(&whole), small.as_ref()].into_iter().flatten() {
            let blob = match service.blob(owner, form).await {
                Err(ServiceError::NotFound) => continue,
                blob => blob?,
            };
            let fits = blob.bytes.len() <= room.min(limits::PAGE_PICTURE_BYTES);
            let kind = detect_image_type(&blob.bytes).filter(|_| fits);
            found = kind.map(|kind| PageImage { sha256: form.clone(), kind, bytes: blob.bytes });
            if found.is_some() {
                break;
            }
        }
        match found {
            Some(image) => {
                room -= image.bytes.len();
                kept.insert(whole, image);
            }
            None => left_out += 1,
        }
    }
    Ok((kept, left_out))
}

fn shown_pictures(view: &TurnView) -> Vec<ShownPicture> {
    let of_block = |block: &crate::domain::Block| match &block.content {
        Content::Image { blob, .. } => {
            vec![(blob.clone(), AttachmentCard::from_block(block).and_then(|card| card.thumbnail))]
        }
        Content::ToolResult { metadata, .. } => {
            let images = tool_output::result_images(metadata).into_iter().take(limits::TOOL_IMAGES);
            images.map(|image| (image.blob, None)).collect()
        }
        _ => Vec::new(),
    };
    view.turn.blocks.iter().flat_map(of_block).collect()
}
