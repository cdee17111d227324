//! The base layer of the server: ids, clock, configuration, the data directory and its lock, logging, shutdown. It
//! uses no other room of the server.

pub mod base_url;
pub mod client_network;
pub mod clock;
pub mod config;
pub mod credentials;
pub mod endpoint;
pub mod hex;
pub mod ids;
pub mod lock_file;
pub mod price;
pub mod random;
pub mod sealing;
pub mod search_engine;
pub mod shutdown;
pub mod storage_dir;
pub mod tasks;
pub mod telemetry;
