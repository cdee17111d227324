//! Messages of the server as codes with arguments: refusals, failures, and why a parameter was not sent.

pub mod coded_message;
pub mod drop_reason;
pub mod failure;
pub mod message_template;
pub(crate) mod old_sentences;
