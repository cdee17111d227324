//! Documents and attachments: their cards, names and types, and selections of their text.

pub mod attachment;
pub mod document_prompt;
pub mod file_name;
pub mod image_type;
pub mod selection;
