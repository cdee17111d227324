//! Tools: their servers, the tools that a chat offers, and the calls of a reply.

pub mod call_edits;
pub mod calls;
pub mod choice;
pub mod servers;
pub mod toolbox;
