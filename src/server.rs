//! What runs only on the server. Gated once, in `lib.rs`.

pub mod access;
pub mod app;
pub mod cli;
pub mod convert;
pub mod gallery;
pub mod http;
pub mod markup;
pub mod outbound;
pub mod pages;
pub mod plain_pages;
pub mod platform;
pub mod run;
pub mod service;
pub mod store;
pub mod tools;
