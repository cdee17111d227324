//! Components: they run on the server and in the browser, touch no web API and no server, and have no `cfg`.

pub mod app;
pub mod markdown;
