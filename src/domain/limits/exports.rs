//! The bounds of what is taken out, and of what is kept of where a chat came from.

/// Differences of a chat to its source: how many are kept, and the bytes of each.
pub const DIFFERENCES: usize = 400;
pub const DIFFERENCE_BYTES: usize = 4 << 10;
/// Pictures within a page that stands alone: the bytes of one, and of all. Base64 makes a third more of them.
pub const PAGE_PICTURE_BYTES: usize = 12 << 20;
pub const PAGE_PICTURES_BYTES: usize = 64 << 20;
