//! HTTP: the one door for the network. Turns requests into calls of services and their answers into responses. `router`
//! names every route with what it requires (`access_control`); each noun has a folder with its API, its pages and its
//! forms. Around them lie the layers that no route can forget (`layers`), what every request is read with (`request`)
//! and every answer made with (`response`), and the accept loop (`accept_loop`).

pub mod accept_loop;
pub mod access_control;
mod accounts;
mod attachments;
mod branches;
mod chats;
mod documents;
pub mod features;
pub mod health;
pub mod layers;
mod notifications;
mod openapi;
mod preferences;
mod projects;
mod providers;
pub mod request;
pub mod response;
pub mod router;
mod search;
mod shares;
pub mod site;
pub mod streams;
mod tools;
pub mod transfer;
mod trash;
mod turns;
mod usage;
