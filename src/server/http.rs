//! HTTP: the one door for the network. Turns requests into calls of services and their answers into responses. Here
//! lie the shell around every route (`router`), the shapes of requests and errors (`json`, `query`, `path_id`,
//! `problem`) and the accept loop (`serve`).

mod attachments;
mod branches;
mod chats;
mod documents;
pub mod health;
pub mod layers;
mod openapi;
mod preferences;
mod providers;
pub mod request;
pub mod response;
pub mod router;
mod search;
pub mod serve;
pub mod site;
pub mod streams;
mod tools;
pub mod transfer;
mod trash;
mod turns;
mod usage;
