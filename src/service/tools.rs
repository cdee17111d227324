//! Tools as a person deals with them: their servers, which of them a chat offers, and the calls of a reply.

pub mod calls;
pub mod choice;
pub mod servers;
pub mod toolbox;
