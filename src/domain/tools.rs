//! Tools and their servers: definitions, calls and what people decide about them, results.

pub mod approval;
pub mod call_edit;
pub mod elicitation;
pub mod server_instructions;
pub mod tool;
pub mod tool_output;
pub mod view_call;
