//! What comes in from files and what goes out into them, and deleting all of it.

pub mod everything;
pub mod exports;
pub mod imports;
