//! The link to the preview of a code block ([`crate::ui::markdown`] writes it into replies). It leads to a page of its
//! own; with script a click shows that page's content over the chat.

/// Loads the script of the panel with the first click on such a link, and follows the link if that fails. It comes before
/// every other listener. A click with a modifier opens the page where the person wants it.
pub const PREVIEW_LISTENER: &str = r#"addEventListener("click",event=>{const link=event.target.closest?.("a.md-preview");if(!link||event.button||event.ctrlKey||event.metaKey||event.shiftKey||event.altKey)return;event.preventDefault();import("/preview.js").then(panel=>panel.open(link),()=>location.assign(link.href))},true);"#;
