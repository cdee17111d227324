//! Names of the files that a commit contains.

use crate::domain::tools::tool_output;
use crate::domain::{Content, Turn};
use crate::reading::media;

/// The folder with the turns of a path.
pub(super) const TURNS_FOLDER: &str = "turns";
/// The turn as Markdown for people, and as JSON for programs.
pub(super) const TURN_TEXT: &str = "turn.md";
pub(super) const TURN_FILE: &str = "turn.json";
/// The lock and the system prompt of the turn's branch.
pub(super) const BRANCH_FILE: &str = "branch.json";

/// Returns the name of an image file.
pub(super) fn image_name(sha256: &str, mime: &str) -> String {
    format!("{sha256}.{}", media::file_extension(mime))
}

/// Returns the hashes and types of the images that a turn shows.
pub(super) fn images_of(turn: &Turn) -> Vec<(String, String)> {
    let of_block = |content: &Content| match content {
        Content::Image { blob, mime, .. } => vec![(blob.clone(), mime.clone())],
        Content::ToolResult { metadata, .. } => {
            tool_output::result_images(metadata).into_iter().map(|image| (image.blob, image.mime)).collect()
        }
        _ => Vec::new(),
    };
    turn.blocks.iter().flat_map(|block| of_block(&block.content)).collect()
}
