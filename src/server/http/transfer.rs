//! Export, import and deletion of all data.

pub mod delete_all;
pub mod exports;
pub mod import_pages;
pub mod import_upload;
pub mod imports;
pub mod operations;
