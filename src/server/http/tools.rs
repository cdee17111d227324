//! Tools: the API, and the page with its forms.

pub mod api;
pub mod import;
pub mod operations;
pub mod page;
