//! The site: pages rendered by Leptos, its assets, the service worker, the script behind sandboxed frames, the panel of
//! previews and the frame of diagrams, the script of passkeys, the gallery, and the page for external links.

pub mod assets;
pub mod diagram_frame;
pub mod external_link;
pub mod frame_host;
pub mod gallery;
pub mod pages;
pub mod passkey_script;
pub mod preview_panel;
pub mod worker;
