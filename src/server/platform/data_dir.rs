//! data_dir
