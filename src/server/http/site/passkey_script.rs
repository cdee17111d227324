//! The script of passkeys, which pages that are about them load (`ui::startup_script`). Their forms are hidden without it.

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

const SCRIPT: &str = include_str!("passkey_script/passkeys.js");

/// `GET /passkeys.js`. Browsers revalidate the script, so that a new build is noticed.
pub async fn show() -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, "no-cache")], SCRIPT).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::startup_script::PASSKEY_LOADER;

    #[test]
    fn pages_with_passkeys_load_script() {
        assert!(PASSKEY_LOADER.contains("querySelector(\"[data-passkeys]\")"));
        assert!(PASSKEY_LOADER.contains("import(\"/passkeys.js\")"));
        assert!(SCRIPT.contains("querySelectorAll(\"[data-passkeys]\")") && SCRIPT.len() <= 3 << 10);
    }

    #[test]
    fn script_asks_for_challenge_only_and_writes_no_markup() {
        for other in ["innerHTML", "insertAdjacentHTML", "eval(", "XMLHttpRequest", "sendBeacon", "import(", "http:"] {
            assert!(!SCRIPT.contains(other), "{other}");
        }
        assert_eq!(SCRIPT.matches("fetch(").count(), 1);
        assert!(SCRIPT.contains("fetch(\"/forms/passkey/begin\""));
    }
}
