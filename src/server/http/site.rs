//! The site itself: pages that Leptos draws, its assets, the service worker.

pub mod assets;
pub mod external_link;
pub mod gallery;
pub mod pages;
pub mod worker;
