//! Selects the attached images for a request by what the model accepts. The others are described as text.

use std::collections::HashSet;

use super::image_header;
use crate::base64;
use crate::provider::{AttachmentContent, HistoryTurn, InputImage};
use turnleaf_domain::{BlockId, Capabilities, Role, TurnId};

/// An image that was omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedImage {
    pub turn_id: TurnId,
    pub block_id: BlockId,
    pub sha256: String,
    pub alt: String,
}

/// Removes images that the model does not accept: all of them if it accepts none, those up to the turn
/// `described_until` (the provider refused them), those of another type or size, and the oldest if there are too many.
/// Images of replies remain: they go back unchanged or not at all.
pub fn omit_unsupported_images(
    history: &mut [HistoryTurn],
    model: &Capabilities,
    described_until: Option<TurnId>,
) -> Vec<OmittedImage> {
    let bounds = model.image_bounds;
    let described = described_until.and_then(|until| history.iter().rposition(|turn| turn.turn_id == until));
    // The accepted images in the order of the request, each with its encoded size.
    let mut kept: Vec<(usize, BlockId, usize, usize)> = Vec::new();
    let mut left_out = Vec::new();
    for (at, turn) in history.iter().enumerate() {
        for block in turn.blocks.iter().filter(|block| turn.role != Role::Assistant || !block.is_image()) {
            for (number, image) in
                turn.attached.get(&block.id).into_iter().flat_map(AttachmentContent::images).enumerate()
            {
                let bytes = base64::encoded_len(image.bytes.len());
                let is_taken = model.images != Some(false)
                    && described.is_none_or(|described| at > described)
                    && bounds.kinds.contains(&image.mime.as_str())
                    && bytes <= bounds.bytes
                    && longer_side(image) <= bounds.side;
                match is_taken {
                    true => kept.push((at, block.id, number, bytes)),
                    false => left_out.push((at, block.id, number)),
                }
            }
        }
    }
    let too_many =
        excess_image_count(&kept.iter().map(|kept| kept.3).collect::<Vec<_>>(), bounds.count, bounds.bytes_in_all);
    left_out.extend(kept.drain(..too_many).map(|(at, block, number, _)| (at, block, number)));
    if let Some((_, side)) = bounds.side_of_many.filter(|(many, _)| kept.len() > *many) {
        let is_large = |(at, block, number, _): &(usize, BlockId, usize, usize)| {
            let image = history[*at].attached.get(block).and_then(|shown| shown.images().nth(*number));
            image.is_some_and(|image| longer_side(image) > side)
        };
        left_out.extend(kept.iter().filter(|kept| is_large(kept)).map(|(at, block, number, _)| (*at, *block, *number)));
    }
    left_out.sort_unstable_by_key(|(at, ..)| *at);
    remove_images(history, &left_out)
}

/// Returns how many of the oldest images must be omitted. The number rises in steps, so that the beginning of the
/// conversation stays the same and the provider's prompt cache stays valid.
fn excess_image_count(bytes: &[usize], count: usize, bytes_in_all: usize) -> usize {
    let step = (count / 4).max(1);
    let fits = |gone: usize| {
        let rest = &bytes[gone.min(bytes.len())..];
        rest.len() <= count && rest.iter().sum::<usize>() <= bytes_in_all
    };
    (0..).map(|steps| steps * step).find(|gone| fits(*gone)).unwrap_or_default().min(bytes.len())
}

fn longer_side(image: &InputImage) -> u32 {
    image_header::image_size(&image.bytes).map_or(0, |(width, height)| width.max(height))
}

fn remove_images(history: &mut [HistoryTurn], gone: &[(usize, BlockId, usize)]) -> Vec<OmittedImage> {
    let is_gone: HashSet<(usize, BlockId, usize)> = gone.iter().copied().collect();
    let mut left_out = Vec::new();
    for (at, block, number) in gone {
        let turn = &history[*at];
        if let Some(image) = turn.attached.get(block).and_then(|shown| shown.images().nth(*number)) {
            let (sha256, alt) = (image.sha256.clone(), image.alt.clone());
            left_out.push(OmittedImage { turn_id: turn.turn_id, block_id: *block, sha256, alt });
        }
    }
    for (at, block) in gone.iter().map(|(at, block, _)| (*at, *block)).collect::<HashSet<_>>() {
        match history[at].attached.remove(&block) {
            Some(AttachmentContent::Images(images)) => {
                let keep = |(number, image)| (!is_gone.contains(&(at, block, number))).then_some(image);
                let images: Vec<InputImage> = images.into_iter().enumerate().filter_map(keep).collect();
                if !images.is_empty() {
                    history[at].attached.insert(block, AttachmentContent::Images(images));
                }
            }
            Some(AttachmentContent::Image(_)) | None => {}
            Some(text @ AttachmentContent::Text(_)) => drop(history[at].attached.insert(block, text)),
        }
    }
    left_out
}
