//! Projects: the API, the pages and the forms.

pub mod api;
pub mod operations;
pub mod pages;
