//! The only room that touches web APIs. Each shim has a twin for the server with the same signature that does nothing.

pub mod document;
