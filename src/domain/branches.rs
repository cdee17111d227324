//! Branches and the tree that they form: lineages, alignment of paths, and reruns.

pub mod branch;
pub mod lineage;
pub mod path_alignment;
pub mod rerun;
pub mod tree;
