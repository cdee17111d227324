//! The turns of a shared page as they are stored for readers who continue the chat. They contain what the page shows and
//! nothing else: images in the form of the page, and attached documents as the text of their cards.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::blocks::block::{Block, Content};
use crate::documents::attachment::AttachmentCard;
use crate::tools::tool_output::{ToolImage, result_images};
use crate::turns::turn::Turn;

/// The path of a shared page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SharedTurns {
    pub title: String,
    /// Empty unless it is shared.
    pub system_prompt: String,
    /// Root first, with the ids of the snapshot.
    pub turns: Vec<Turn>,
}

/// An image in the form in which a page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownImage {
    pub sha256: String,
    pub mime: String,
}

impl SharedTurns {
    /// Returns the turns of a snapshot. `shown` has the images of the page by the hashes that the turns name.
    pub fn new(
        title: String,
        system_prompt: String,
        mut turns: Vec<Turn>,
        shown: &HashMap<String, ShownImage>,
    ) -> Self {
        for turn in &mut turns {
            let blocks = std::mem::take(&mut turn.blocks);
            turn.blocks = blocks.into_iter().filter_map(|block| shown_block(block, shown)).collect();
        }
        Self { title, system_prompt, turns }
    }
}

/// Returns a block as the page shows it; `None` if the page shows nothing of it.
fn shown_block(block: Block, shown: &HashMap<String, ShownImage>) -> Option<Block> {
    let card = AttachmentCard::from_block(&block);
    let content = match block.content {
        Content::Image { blob, alt, .. } => match shown.get(&blob) {
            Some(image) => Content::Image { blob: image.sha256.clone(), mime: image.mime.clone(), alt },
            None => missing_image(&alt)?,
        },
        Content::Reference { .. } | Content::PartialReference { .. } => Content::text(quoted_card(&card?)),
        Content::ToolResult { tool_use_id, tool_name, result, success, is_error, metadata } => {
            let metadata = shown_images(&metadata, shown);
            Content::ToolResult { tool_use_id, tool_name, result, success, is_error, metadata }
        }
        content => content,
    };
    Some(Block { content, block_metadata: Value::Null, ..block })
}

/// Returns the words in place of an image that the page does not show.
fn missing_image(alt: &str) -> Option<Content> {
    (!alt.trim().is_empty()).then(|| Content::text(format!("[{}]", alt.trim())))
}

/// Returns what the card of a document shows: its title and the selected lines.
fn quoted_card(card: &AttachmentCard) -> String {
    let mut text = format!("[{}]", card.title);
    for (number, line) in card.quote.iter().flat_map(|quote| quote.lines()).enumerate() {
        text.push_str(if number == 0 { "\n\n> " } else { "\n> " });
        text.push_str(line);
    }
    text
}

/// Returns the metadata of a tool result with the images that the page shows. Whatever else a result may name, such as
/// its files, is not on the page.
fn shown_images(metadata: &Value, shown: &HashMap<String, ShownImage>) -> Value {
    let images = result_images(metadata).into_iter().filter_map(|ToolImage { blob, alt, .. }| {
        let image = shown.get(&blob)?;
        Some(json!({ "blob": image.sha256, "mime": image.mime, "alt": alt }))
    });
    let images: Vec<Value> = images.collect();
    if images.is_empty() { Value::Null } else { json!({ "images": images }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::attachment::{CARD_KEY, DOCUMENT_REF_TYPE};
    use crate::fixtures;

    fn image(blob: &str, alt: &str) -> Content {
        Content::Image { blob: blob.into(), mime: "image/png".into(), alt: alt.into() }
    }

    fn contents(blocks: Vec<Block>) -> Vec<Content> {
        let shown =
            HashMap::from([("whole".to_owned(), ShownImage { sha256: "small".into(), mime: "image/webp".into() })]);
        blocks.into_iter().filter_map(|block| shown_block(block, &shown)).map(|block| block.content).collect()
    }

    #[test]
    fn images_have_form_of_page() {
        let blocks = ["whole", "other", "bare"]
            .map(|blob| fixtures::block(1, 0, image(blob, if blob == "bare" { " " } else { "A leaf" })));
        let small = Content::Image { blob: "small".into(), mime: "image/webp".into(), alt: "A leaf".into() };
        assert_eq!(contents(blocks.to_vec()), [small, Content::text("[A leaf]")]);
    }

    #[test]
    fn document_is_its_card_without_id() {
        let reference = Content::Reference {
            ref_id: fixtures::uuid(9).to_string(),
            ref_type: DOCUMENT_REF_TYPE.into(),
            version_timestamp: None,
        };
        let mut block = fixtures::block(1, 0, reference);
        assert_eq!(contents(vec![block.clone()]), [], "without a card it shows nothing");
        block.block_metadata = json!({ CARD_KEY: { "title": "Plan", "quote": "one\ntwo" } });
        assert_eq!(contents(vec![block]), [Content::text("[Plan]\n\n> one\n> two")]);
    }

    #[test]
    fn result_keeps_shown_images_and_names_nothing_else() {
        let result = |metadata: Value| Content::ToolResult {
            tool_use_id: "call-1".into(),
            tool_name: "look".into(),
            result: json!("seen"),
            success: true,
            is_error: false,
            metadata,
        };
        let metadata = json!({
            "images": [{ "blob": "whole", "mime": "image/png", "alt": "a" }, { "blob": "other" }],
            "files": [{ "blob": "file" }],
            "cut": { "blob": "text" },
        });
        let kept = json!({ "images": [{ "blob": "small", "mime": "image/webp", "alt": "a" }] });
        let blocks = [metadata, json!({ "files": [{ "blob": "file" }] })];
        let blocks = blocks.map(|metadata| fixtures::block(2, 0, result(metadata)));
        assert_eq!(contents(blocks.to_vec()), [result(kept), result(Value::Null)]);
    }
}
