//! The room `service`.
