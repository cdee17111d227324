//! Shares: the API and the pages of their owners, and the routes of their readers.

pub mod api;
pub mod operations;
pub mod pages;
pub mod reader;
mod snapshot;
