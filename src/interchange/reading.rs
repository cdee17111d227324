//! Parts that the readers of all formats share.

pub mod code_fences;
pub mod dump_tables;
pub mod export_entries;
pub mod fields;
pub mod known_keys;
pub mod media;
pub mod message_builder;
pub mod notes;
pub mod open_calls;
pub mod orphan_results;
pub mod parts;
pub mod session_lines;
pub mod table_spool;
pub mod thought_tags;
pub mod tree;
pub mod unique_ids;
