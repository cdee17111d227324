//! What every request is read with: who it may come from, its head, its body, its ids and its language.

pub mod accept;
pub mod admission;
pub mod body;
pub mod cookies;
pub mod csrf;
pub mod form;
pub mod host;
pub mod id;
pub mod idempotency;
pub mod json;
pub mod json_shape;
pub mod language;
pub mod page_calls;
pub mod path_id;
pub mod query;
pub mod size;
pub mod viewer;
