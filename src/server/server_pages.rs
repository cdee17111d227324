//! Server pages: pages that the server renders alone, such as the settings. They are documents of links and forms: no
//! part of the browser's bundle, complete without script, with the same messages, colours and components as the
//! application's pages. Progressive enhancement, such as times in the reader's time zone, is in
//! `browser::server_page`. A page is a typed view, so all text in it is escaped. Parsing requests and performing
//! actions is the job of `http`.
//!
//! In reading order: [`frame`] (the document around a page), [`form_fields`] (the parts of forms), [`list_filter`] (what
//! is above a list), then one file per page.

pub mod about;
pub mod accounts;
pub mod api_reference;
pub mod app_view;
pub mod attachment_errors;
pub mod branches;
pub mod card_actions;
pub mod chat_settings;
pub mod chats;
pub mod compare;
pub mod confirmation;
pub mod delete_all;
pub mod documents;
pub mod elicitation;
pub mod error_page;
pub mod external_link;
pub mod find_in_chat;
pub mod form_fields;
pub mod frame;
pub mod import;
pub mod insert;
pub mod list_filter;
pub mod messages;
pub mod notifications;
pub mod offline;
pub mod preferences;
pub mod preview;
pub mod project_choice;
pub mod projects;
pub mod prompt_question;
pub mod providers;
pub mod raw_response;
pub mod reruns;
pub mod search;
pub mod sent_request;
pub mod shares;
pub mod shortcuts;
pub mod title_suggestion;
pub mod tool_call;
pub mod tools;
pub mod transfer;
pub mod trash;
pub mod tree_drawing;
pub mod turns;
pub mod usage;

pub use frame::{AccountPages, ActionNotice, PageFrame, PageSection, ServerPage};
