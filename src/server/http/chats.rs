//! Chats: the API, the pages and the forms.

pub mod api;
pub mod copies;
pub mod drafts;
pub mod find_in_chat;
pub mod new_chat;
pub mod operations;
pub mod page;
pub mod path_views;
pub mod settings;
pub mod titles;
pub mod tools;
