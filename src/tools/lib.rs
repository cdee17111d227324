//! Tools that Turnleaf runs: its own, and those of MCP servers. What a call may do is decided here and in `service`, how
//! a reply goes on with it is `run`'s.
//!
//! `toolbox` is the vocabulary between a run and whatever runs its tools, `name` what a tool is called on the wire,
//! `schema` whether arguments are such as a tool takes, `result` makes a stored outcome of what a tool said, `built_in`
//! are the tools that Turnleaf brings, `mcp` those of servers.

pub mod built_in;
pub mod mcp;
pub mod name;
pub mod result;
pub mod schema;
pub mod toolbox;
