//! Tools that Turnleaf runs: built-in ones and those of MCP servers. This crate and `service` decide what a call may
//! do; `run` continues the reply with the result.
//!
//! `toolbox` is the interface between a run and the tools, `question` carries questions of tools to the user, `name`
//! builds wire names, `schema` validates arguments,
//! `result` turns tool output into a stored result, `built_in` holds Turnleaf's own tools, `mcp` those of servers.
//! `server_file` reads the tool servers of other programs, `oauth` signs people in to servers.

pub mod built_in;
pub mod mcp;
pub mod name;
pub mod oauth;
pub mod question;
pub mod result;
pub mod schema;
pub mod server_file;
pub mod tool_search;
pub mod toolbox;
