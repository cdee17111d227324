//! Chats that go out and come in.

pub mod delete_all;
pub mod exports;
pub mod imports;
pub mod operations;
