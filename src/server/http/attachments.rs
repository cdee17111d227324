//! Attachments: uploads, the composer's forms, and the bytes of stored files.

pub mod blobs;
pub mod forms;
pub mod uploads;
