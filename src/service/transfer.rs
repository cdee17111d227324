//! What comes in from files and what goes out into them, and deleting all of it.

pub mod delete_all;
pub mod exports;
pub mod imports;
