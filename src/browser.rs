//! The only room that touches web APIs. Each shim has a twin for the server with the same signature that does nothing,
//! or, where no browser is needed for it, the same.

pub mod alike;
pub mod api_request;
pub mod clipboard;
pub mod clock;
pub mod cookies;
pub mod dialog;
pub mod disclosure;
pub mod document;
pub mod event_source;
pub mod files;
pub mod focus;
pub mod form;
pub mod heights;
pub mod highlight;
pub mod history;
pub mod letters;
pub mod local_store;
pub mod media;
pub mod network;
pub mod notification;
pub mod plain_page;
pub mod reload;
pub mod request_id;
pub mod rich;
pub mod saving;
pub mod scroll;
pub mod selection;
pub mod service_worker;
pub mod textarea;
pub mod transfer;
pub mod tree;
pub mod uploading;
pub mod viewer;
pub mod waking;
