//! Imports and exports: options, origins, findings and records.

pub mod export;
pub mod import_finding;
pub mod import_origin;
pub mod import_record;
