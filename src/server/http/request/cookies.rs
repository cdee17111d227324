//! The cookies of a request, and what a person chose for this browser that they keep.

use http::HeaderMap;
use http::header::COOKIE;

use crate::ui::preferences::Preferences;

/// All cookies of a request in one line.
pub fn cookie_header(headers: &HeaderMap) -> String {
    let cookies: Vec<&str> = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
    cookies.join("; ")
}

/// What the cookies of a request say.
pub fn preferences(headers: &HeaderMap) -> Preferences {
    Preferences::from_cookies(&cookie_header(headers))
}
