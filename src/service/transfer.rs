//! Transfer: imports, exports, and the deletion of everything.

pub mod delete_all;
pub mod exports;
pub mod imports;
