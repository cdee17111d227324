//! What people attach to their messages, on its way to a model.

use std::collections::HashMap;

use bytes::Bytes;

use turnleaf_domain::BlockId;

/// By the block that names it.
pub type Attached = HashMap<BlockId, Shown>;

/// An attachment on its way to a model.
#[derive(Debug, Clone)]
pub enum Shown {
    /// A document or a selection, wrapped with its title and id: the same bytes every time.
    Text(String),
    Image(ShownImage),
    /// Those of a tool's result, in its order.
    Images(Vec<ShownImage>),
}

impl Shown {
    pub fn images(&self) -> impl Iterator<Item = &ShownImage> {
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
pub struct ShownImage {
    /// Of `bytes`, hex.
    pub sha256: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime: String,
    pub bytes: Bytes,
    /// What it says where it cannot be seen.
    pub alt: String,
}
