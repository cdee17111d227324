//! Chats: the API, the pages and the forms.

pub mod api;
pub mod copies;
pub mod drafts;
pub mod find;
pub mod new_chat;
pub mod operations;
pub mod page;
pub mod reading;
pub mod settings;
pub mod tools;
