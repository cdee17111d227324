//! Turns: the API, the pages and the forms.

pub mod api;
pub mod app_views;
pub mod call_page;
pub mod elicitations;
pub mod forms;
pub mod generations;
pub mod operations;
pub mod pages;
pub mod previews;
pub mod queue;
pub mod tool_calls;
