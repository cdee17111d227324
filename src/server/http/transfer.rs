//! Chats that go out and come in.

pub mod everything;
pub mod exports;
pub mod imports;
pub mod operations;
