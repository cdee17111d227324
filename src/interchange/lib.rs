//! What Turnleaf takes in from other programs, and what it hands out: formats of chats, read and written.
//!
//! Pure: it reads from what it is given and writes into what it is given, and knows no database, no network and no
//! page. A reader turns one conversation after the other into a [`Conversation`], so that a file of any size is read in
//! the memory of its largest conversation; what the form cannot say, and what is broken, is told in its report.

mod answers;
pub mod archive;
mod big_agi;
pub mod bounds;
mod chatgpt;
mod claude;
pub mod conversation;
mod fields;
pub mod git;
pub mod grow;
pub mod input;
pub mod joined;
pub mod legacy;
mod librechat;
mod llama_cpp;
mod made;
pub mod markdown;
mod media;
mod members;
mod names;
mod notes;
mod open_webui;
mod parts;
pub mod reading;
pub mod report;
mod taker;
mod tree;
#[cfg(test)]
mod trial;

pub use conversation::{Body, Conversation, Ending, Message, Piece};
pub use input::Input;
pub use joined::joined;
pub use reading::{Format, detect, read};
pub use report::{Finding, Place, What};
pub use taker::{Stopped, Taker};

/// The model's own crate, under the name that the rooms of the server know it by.
pub(crate) use turnleaf_domain as domain;
