//! What people attach to their messages, on its way to a model.

use std::collections::HashMap;

use bytes::Bytes;

use turnleaf_domain::BlockId;

/// By the block that names it.
pub type AttachmentsByBlock = HashMap<BlockId, AttachmentContent>;

/// An attachment on its way to a model.
#[derive(Debug, Clone)]
pub enum AttachmentContent {
    /// A document or a selection, wrapped with its title and id: the same bytes every time.
    Text(String),
    Image(InputImage),
    /// Those of a tool's result, in its order.
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

/// An image for a model that sees.
#[derive(Debug, Clone)]
pub struct InputImage {
    /// Of `bytes`, hex.
    pub sha256: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime: String,
    pub bytes: Bytes,
    /// What it says where it cannot be seen.
    pub alt: String,
}
