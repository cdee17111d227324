//! Files that come in with messages, and their bytes as they go out.

pub mod blobs;
pub mod forms;
pub mod uploads;
