//! lock_file
