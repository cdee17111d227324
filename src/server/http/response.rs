//! What every answer is made with: headers, problems, and the pages without script.

pub mod csv;
pub mod error_page;
pub mod fallback;
pub mod headers;
pub mod problem;
pub mod server_page;
pub mod service_problem;
