//! Tool servers, their listings and sign-ins, the policies of their tools, and the calls of their views.

pub mod listings;
pub mod server_policies;
pub mod tool_policies;
pub mod tool_servers;
pub mod tool_sign_ins;
pub mod trusted_tools;
pub mod view_calls;
