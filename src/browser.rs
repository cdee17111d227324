//! The only module that uses web APIs. Each function has a twin for the server with the same signature, which does
//! nothing, or does the same if no browser is needed.

pub mod api_request;
pub mod autosave;
pub mod case_mapping;
pub mod clipboard;
pub mod clock;
pub mod cookies;
pub mod css_heights;
pub mod dialog;
pub mod disclosure;
pub mod document;
pub mod document_viewer;
pub mod dom_morph;
pub mod event_source;
pub mod files;
pub mod focus;
pub mod form;
pub mod highlight;
pub mod history;
pub mod hydration;
pub mod local_store;
pub mod media;
pub mod network;
pub mod notification;
pub mod panel_page;
pub mod reload;
pub mod request_id;
pub mod rich_text;
pub mod scroll;
pub mod selection;
pub mod server_page;
pub mod service_worker;
pub mod textarea;
pub mod tree_focus;
pub mod upload_progress;
pub mod xhr;
