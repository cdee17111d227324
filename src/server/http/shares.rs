//! Shares and live shares: the API and the pages of their owners, and the routes of their readers.

pub mod api;
pub mod branch_api;
pub mod branch_pages;
pub mod branch_reader;
pub mod operations;
pub mod pages;
pub mod reader;
mod snapshot;
