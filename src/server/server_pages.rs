//! The room `server_pages`: pages that the server draws alone, such as the settings. They are documents of links and forms:
//! no part of the browser's bundle, whole without script, the same words, colours and parts as the application's pages.
//! Where script makes something better (a moment in the reader's own time), `browser::server_page` does it. A page is a typed view, so every text in it is escaped. Not for reading requests or doing deeds: `http` does.
//!
//! In reading order: [`frame`] (the document around a page), [`field`] (the parts of forms), then one file a page.

pub mod about;
pub mod api_reference;
pub mod attachment_errors;
pub mod branches;
pub mod card_actions;
pub mod chat_settings;
pub mod chats;
pub mod compare;
pub mod confirmation;
pub mod delete_all;
pub mod documents;
pub mod error_page;
pub mod external_link;
pub mod find_in_chat;
pub mod form_fields;
pub mod frame;
pub mod messages;
pub mod offline;
pub mod preferences;
pub mod providers;
pub mod raw_response;
pub mod reruns;
pub mod search;
pub mod sent_request;
pub mod shortcuts;
pub mod tools;
pub mod transfer;
pub mod trash;
pub mod tree_drawing;
pub mod turns;
pub mod usage;

pub use frame::{ActionNotice, PageFrame, PageSection, ServerPage};
