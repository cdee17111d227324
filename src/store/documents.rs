//! Documents and files. [`read`] reads documents, [`write`] creates and changes them, [`purge`] deletes them
//! permanently, and [`index`] updates the search index.

pub mod attachments;
pub mod blobs;
pub mod index;
pub mod purge;
pub mod read;
pub mod salvage;
pub mod uploads;
pub mod write;
