//! The cookies of a request, and the preferences of the browser that they hold.

use http::HeaderMap;
use http::header::COOKIE;

use crate::ui::preferences::Preferences;

/// Joins all `Cookie` headers of a request.
pub fn cookie_header(headers: &HeaderMap) -> String {
    let cookies: Vec<&str> = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
    cookies.join("; ")
}

/// Reads the preferences from the cookies.
pub fn preferences(headers: &HeaderMap) -> Preferences {
    Preferences::from_cookies(&cookie_header(headers))
}
