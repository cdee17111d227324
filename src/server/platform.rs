//! The room `platform`.
