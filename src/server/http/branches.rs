//! Branches and the tree of a chat: the API, the pages and the forms.

pub mod api;
pub mod compare;
pub mod operations;
pub mod pages;
pub mod reruns;
pub mod tree;
