//! The site itself: pages that Leptos draws, its assets, the service worker.

pub mod assets;
pub mod gallery;
pub mod leave;
pub mod pages;
pub mod worker;
