//! The server side of the package, gated once in `lib.rs`.

pub mod access;
pub mod app;
pub mod cli;
pub mod gallery;
pub mod http;
pub mod markup;
pub mod page_data;
pub mod server_pages;
