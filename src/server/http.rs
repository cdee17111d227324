//! The room `http`.
