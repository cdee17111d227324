//! Pictures stored as blobs: a thumbnail with a link to the full picture. The page's script opens it above the page
//! ([`crate::ui::picture`]); without script the link opens it as a page.

use super::link::{NEW_TAB, REL, blob_address};
use crate::domain::documents::attachment::AttachmentCard;
use crate::domain::{Block, Content};
use crate::ui::markdown::{Attribute, Element, Html, MarkupPart};
use crate::ui::messages::standalone as words;
use crate::ui::standalone::standalone_context;

/// The maximum size of a thumbnail, in pixels.
const ROOM: (u32, u32) = (480, 384);

/// A picture to render.
pub struct PictureView<'a> {
    /// The address of the full picture.
    pub address: &'a str,
    /// The address of a smaller version, where there is one.
    pub small: Option<&'a str>,
    pub alt: &'a str,
    /// The size of the full picture, in pixels.
    pub size: Option<(u32, u32)>,
}

/// Writes the picture. On a standalone page it is inlined, or named if it was left out.
pub fn write_picture(html: &mut Html, picture: &PictureView<'_>) {
    if let Some(page) = standalone_context() {
        match page.picture(picture.address) {
            Some(bytes) => {
                html.open(Element::Span, &[(Attribute::Class, "picture")]);
                html.image(bytes, picture.alt, picture.size.map(fit_to_room));
                html.close();
            }
            None => {
                let alt = picture.alt.trim();
                let kind = words::picture();
                let label = if alt.is_empty() { kind.to_owned() } else { format!("{alt} · {kind}") };
                html.text_element(Element::Span, &[(Attribute::Class, "chip gone")], &label);
            }
        }
        return;
    }
    html.open(Element::A, &[(Attribute::Class, "picture"), (Attribute::Href, picture.address), REL, NEW_TAB]);
    html.image(picture.small.unwrap_or(picture.address), picture.alt, picture.size.map(fit_to_room));
    html.close();
}

/// Renders the picture of an image block, or of an attachment that becomes one; none for any other content, and for
/// one without a valid blob.
pub fn picture_part(content: &Content, card: &AttachmentCard) -> Option<MarkupPart> {
    let Content::Image { blob, alt, .. } = content else { return None };
    let mut html = Html::default();
    let (address, small) = (blob_address(blob)?, card.thumbnail.as_deref().and_then(blob_address));
    write_picture(&mut html, &PictureView { address: &address, small: small.as_deref(), alt, size: card.size });
    Some(MarkupPart::new(html.finish()))
}

/// Renders the picture of a block.
pub fn picture_of_block(block: &Block) -> Option<MarkupPart> {
    picture_part(&block.content, &AttachmentCard::from_block(block).unwrap_or_default())
}

/// Returns the size of the thumbnail: the original size, or scaled down to fit.
fn fit_to_room((width, height): (u32, u32)) -> (u32, u32) {
    let (width, height) = (u64::from(width.max(1)), u64::from(height.max(1)));
    let (most_width, most_height) = (u64::from(ROOM.0), u64::from(ROOM.1));
    let fits = if width * most_height > height * most_width {
        let width_shown = width.min(most_width);
        (width_shown, (height * width_shown / width).max(1))
    } else {
        let height_shown = height.min(most_height);
        ((width * height_shown / height).max(1), height_shown)
    };
    (u32::try_from(fits.0).unwrap_or(ROOM.0), u32::try_from(fits.1).unwrap_or(ROOM.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_keeps_its_shape_and_does_not_grow() {
        for (size, shown) in [
            ((100, 50), (100, 50)),
            ((960, 384), (480, 192)),
            ((400, 768), (200, 384)),
            ((16_384, 1), (480, 1)),
            ((1, 16_384), (1, 384)),
            ((0, 0), (1, 1)),
        ] {
            assert_eq!(fit_to_room(size), shown, "{size:?}");
        }
    }

    #[test]
    fn picture_links_to_full_size_and_shows_small_form() {
        let (whole, small) = ("ab12".repeat(16), "cd34".repeat(16));
        let content = Content::Image { blob: whole.clone(), mime: "image/png".into(), alt: "a \"b\"".into() };
        let card =
            AttachmentCard { size: Some((960, 384)), thumbnail: Some(small.clone()), ..AttachmentCard::default() };
        let html = picture_part(&content, &card).unwrap();
        let html = html.markup().as_str();
        assert!(
            html.contains(&format!("href=\"/api/blobs/{whole}\""))
                && html.contains(&format!("src=\"/api/blobs/{small}\"")),
            "{html}"
        );
        assert!(html.contains("alt=\"a &quot;b&quot;\" width=\"480\" height=\"192\"/>"), "{html}");
        assert!(picture_part(&Content::text("a"), &card).is_none());
        let elsewhere = Content::Image { blob: "../x".into(), mime: "image/png".into(), alt: "a".into() };
        assert!(picture_part(&elsewhere, &card).is_none());
    }
}
