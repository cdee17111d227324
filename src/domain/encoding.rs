//! Encodings of stored and sent values: JSON and its bounds, deltas of bytes, URLs.

pub mod byte_delta;
pub mod json_bounds;
pub mod json_reader;
pub mod url_encoding;
