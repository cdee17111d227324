//! The room `plain_pages`: pages that the server draws alone, such as the settings. They are documents of links and forms:
//! no part of the browser's bundle, whole without script, the same words, colours and parts as the application's pages.
//! Where script makes something better (a moment in the reader's own time), `browser::plain_page` does it. A page is a typed view, so every text in it is escaped. Not for reading requests or doing deeds: `http` does.
//!
//! In reading order: [`frame`] (the document around a page), [`field`] (the parts of forms), then one file a page.

pub mod about;
pub mod api;
pub mod attaching;
pub mod branches;
pub mod chat_settings;
pub mod chats;
pub mod compare;
pub mod deeds;
pub mod documents;
pub mod drawing;
pub mod everything;
pub mod failed;
pub mod field;
pub mod find;
pub mod frame;
pub mod grafts;
pub mod leave;
pub mod offline;
pub mod preferences;
pub mod providers;
pub mod question;
pub mod raw;
pub mod search;
pub mod sent;
pub mod shortcuts;
pub mod tools;
pub mod transfer;
pub mod trash;
pub mod turns;
pub mod usage;
pub mod words;

pub use frame::{Frame, Page, Said, Section};
