//! Data that comes in and goes out: archives, imports, databases of predecessors, and all that an owner has.

pub mod archive;
pub mod imports;
pub mod inventory;
pub mod legacy;
