//! HTTP: the one door for the network. Turns requests into calls of services and their answers into responses. Here
//! lie the shell around every route (`router`), the shapes of requests and errors (`json`, `query`, `path_id`,
//! `problem`) and the accept loop (`serve`).

mod accept;
pub mod assets;
mod branches;
mod calls;
mod chat_settings;
mod chats;
mod compare;
mod copies;
pub mod csrf;
mod csv;
mod events;
mod find;
mod forms;
mod generations;
mod grafts;
pub mod headers;
pub mod health;
pub mod host;
mod idempotency;
pub mod json;
mod json_shape;
mod openapi;
pub mod path_id;
mod plain_page;
pub mod problem;
mod providers;
pub mod query;
mod reading;
mod refusal;
pub mod request_id;
pub mod request_size;
pub mod router;
pub mod routes;
pub mod serve;
mod settings;
mod site_pages;
mod socket;
mod trash;
mod trash_page;
mod tree;
mod tree_pages;
mod turn_pages;
mod turns;
mod usage;
mod viewer;
