//! Tools that Turnleaf runs: its own, and those of MCP servers. What a call may do is decided here, how a reply goes on
//! with it is `run`'s.

pub mod name;
pub mod toolbox;
