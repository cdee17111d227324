//! Building blocks of responses: headers, problems, CSV, server-rendered pages, and sandboxed documents.

pub mod block_form;
pub mod csv;
pub mod early_response;
pub mod error_page;
pub mod fallback;
pub mod headers;
pub mod problem;
pub mod sandboxed_document;
pub mod server_page;
pub mod service_problem;
