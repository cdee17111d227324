//! MCP tool servers, programs and URLs, that behave well or badly. The programs are real processes, which the real
//! guard process starts.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "tools/app_views.rs"]
mod app_views;
#[path = "tools/calls.rs"]
mod calls;
#[path = "tools/credentials.rs"]
mod credentials;
#[path = "tools/elicitations.rs"]
mod elicitations;
#[path = "tools/hostile_pages.rs"]
mod hostile_pages;
#[path = "tools/http_servers.rs"]
mod http_servers;
#[path = "tools/kills.rs"]
mod kills;
#[path = "tools/lifecycle.rs"]
mod lifecycle;
#[path = "tools/mcp_fixtures.rs"]
mod mcp_fixtures;
#[path = "tools/orphans.rs"]
mod orphans;
#[path = "tools/suggestions.rs"]
mod suggestions;
#[path = "tools/third_party_servers.rs"]
mod third_party_servers;
#[path = "tools/third_party_web_servers.rs"]
mod third_party_web_servers;
