//! Attachments of messages and of tool results, resolved for a request.

use std::collections::HashMap;

use bytes::Bytes;

use turnleaf_domain::BlockId;

/// Attachments by the block that refers to them.
pub type AttachmentsByBlock = HashMap<BlockId, AttachmentContent>;

/// The content of an attachment in a request.
#[derive(Debug, Clone)]
pub enum AttachmentContent {
    /// A document or a selection, wrapped with its title and id: the same bytes in every request.
    Text(String),
    Image(InputImage),
    /// The images of a tool result, in order.
    Images(Vec<InputImage>),
}

impl AttachmentContent {
    pub fn images(&self) -> impl Iterator<Item = &InputImage> {
        let images = match self {
            Self::Text(_) => &[],
            Self::Image(image) => std::slice::from_ref(image),
            Self::Images(images) => images.as_slice(),
        };
        images.iter()
    }
}

/// An image for a model that accepts images.
#[derive(Debug, Clone)]
pub struct InputImage {
    /// The hash of `bytes`, in hex.
    pub sha256: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime: String,
    pub bytes: Bytes,
    /// The text that describes the image where it is not sent.
    pub alt: String,
}
