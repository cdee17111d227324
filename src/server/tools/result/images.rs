//! Images of results, drawn anew before they are kept: whoever made them is a stranger, and a picture carries places,
//! cameras and whatever hides behind its end (issue 31, security.md).

use futures::StreamExt;
use futures::stream;

use super::{Part, raster};
use crate::domain::limits;
use crate::server::convert::{Picture, Reader};

/// How many images of one result are drawn side by side.
const AT_ONCE: usize = 2;
/// What bytes are kept as that are no picture, or too many of them.
const FILE: &str = "application/octet-stream";

/// The parts with their images as the reader draws them, in their order. An image that it cannot draw, or that is one too
/// many, becomes a file, which nobody is shown as a picture.
pub async fn reencoded(parts: Vec<Part>, reader: &dyn Reader) -> Vec<Part> {
    let mut images = 0;
    let counted = parts.into_iter().map(|part| {
        let is_raster =
            matches!(&part, Part::Image { bytes, .. } | Part::Other { bytes, .. } if raster(bytes).is_some());
        images += usize::from(is_raster);
        (part, is_raster && images <= limits::TOOL_IMAGES)
    });
    let drawn = stream::iter(counted.collect::<Vec<_>>()).map(|(part, is_drawn)| draw(part, is_drawn, reader));
    drawn.buffered(AT_ONCE).collect().await
}

async fn draw(part: Part, is_drawn: bool, reader: &dyn Reader) -> Part {
    let (mime, bytes) = match part {
        Part::Text(text) => return Part::Text(text),
        Part::Image { mime, bytes } | Part::Other { mime, bytes } => (mime, bytes),
    };
    if raster(&bytes).is_none() {
        return Part::Other { mime, bytes };
    }
    if is_drawn
        && let Ok(kind) = reader.sniff("", &bytes)
        && let Ok(Picture { image, for_models, .. }) = reader.picture(kind, bytes.clone()).await
    {
        // A lossless picture may have grown.
        let fitting =
            [Some(image), for_models].into_iter().flatten().find(|form| form.bytes.len() <= limits::TOOL_IMAGE_BYTES);
        if let Some(form) = fitting {
            return Part::Image { mime: form.mime.to_owned(), bytes: form.bytes };
        }
    }
    Part::Other { mime: FILE.to_owned(), bytes }
}
