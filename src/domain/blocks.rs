//! Blocks, and the views of them: segments, groups, sources, previews, and the forms of other message models.

pub mod block;
pub mod client_redaction;
pub mod content_block;
pub mod derived_text;
pub mod group;
pub mod legacy_message;
pub mod merge;
pub mod notice;
pub mod preview;
pub mod reasoning_title;
pub mod segment;
pub mod sources;
