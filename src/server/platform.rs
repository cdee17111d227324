//! The room `platform`.

pub mod endpoint;
