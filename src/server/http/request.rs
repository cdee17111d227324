//! Extractors and middleware for requests: admission, bounds, bodies, ids, cookies and the language.

pub mod accept;
pub mod admission;
pub mod allowed_hosts;
pub mod body;
pub mod cookies;
pub mod csrf;
pub mod idempotency;
pub mod json;
pub mod json_structure;
pub mod language;
pub mod multipart_form;
pub mod path_id;
pub mod principal;
pub mod proxy_user;
pub mod query;
pub mod request_id;
pub mod server_function_args;
pub mod session_cookie;
pub mod size_limits;
pub mod used_origin;
