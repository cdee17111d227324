//! Tools: their servers, the tools that a chat offers, the calls of a reply, and the web search.

pub mod app_views;
pub mod call_edits;
pub mod calls;
pub mod choice;
pub mod elicitations;
pub mod server_content;
pub mod servers;
pub mod toolbox;
pub mod web_search;
