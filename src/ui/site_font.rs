//! The font of the site. A first visit has the fonts of the system and fetches none; later visits request the font with
//! the document, and the style sheet uses it where it arrives before the first paint, so that no text changes its width
//! (docs/adr/0079-site-font.md).

use leptos::prelude::*;

use crate::ui::erased::view;
use crate::ui::preferences::Preferences;

/// Renders the head element that requests the font, on return visits. `package` is the path of the style sheets.
pub fn font_preload(preferences: Preferences, package: &str) -> Option<AnyView> {
    preferences.is_return_visit().then(|| {
        let font = format!("{package}/sans.woff2");
        // Fonts are fetched without credentials; a preload with them would be a second request. Behind a value, `as`
        // would be read as a cast.
        view! { <link as="font" rel="preload" type="font/woff2" crossorigin="anonymous" href=font/> }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn font_is_requested_on_return_visits_only() {
        let head =
            |cookies: &str| font_preload(Preferences::from_cookies(cookies), "/pkg/0").map(|view| view.to_html());
        assert_eq!(head("turnleaf_theme=dark"), None);
        let link = head("turnleaf_zone=60").unwrap();
        assert!(link.contains("href=\"/pkg/0/sans.woff2\"") && link.contains("as=\"font\""), "{link}");
    }
}
