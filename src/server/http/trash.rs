//! Deletion and Trash: the API, and the page with its forms.

pub mod api;
pub mod operations;
pub mod page;
