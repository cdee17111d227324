//! What every answer is made with: headers, problems, and the pages without script.

pub mod csv;
pub mod failed_page;
pub mod fallback;
pub mod headers;
pub mod plain_page;
pub mod problem;
pub mod refusal;
