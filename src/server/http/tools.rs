//! Tools: the API, the page with its forms, and the resources and prompts of tool servers.

pub mod api;
pub mod content;
pub mod import;
pub mod operations;
pub mod page;
pub mod prompt_questions;
pub mod sign_in;
pub mod web_search;
pub mod web_search_forms;
