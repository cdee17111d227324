//! Tools: the API, and the page with its forms.

pub mod api;
pub mod import;
pub mod operations;
pub mod page;
pub mod sign_in;
pub mod web_search;
pub mod web_search_forms;
