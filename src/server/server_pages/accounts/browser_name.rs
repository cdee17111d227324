//! Names of browsers and systems for the `User-Agent` that a session began with.

use crate::server::server_pages::messages::accounts as words;

/// Marks of browsers. Those that others put into theirs, too, are last.
const BROWSERS: [(&str, &str); 9] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Marks of systems, in the same order.
const SYSTEMS: [(&str, &str); 7] = [
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

fn find(marks: &[(&str, &'static str)], agent: &str) -> Option<&'static str> {
    marks.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
}

/// Returns the name of a browser and its system; the header itself if neither is known.
pub fn browser_name(agent: Option<&str>) -> String {
    let Some(agent) = agent else { return words::unknown_browser().to_owned() };
    match (find(&BROWSERS, agent), find(&SYSTEMS, agent)) {
        (Some(browser), Some(system)) => words::browser_on_system(browser, system),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => agent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_and_systems_are_named() {
        for (agent, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
                "Chrome on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 \
                 Safari/537.36 Edg/142.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0",
                "Firefox on macOS",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/26.0 Mobile/15E148 Safari/604.1",
                "Safari on iOS",
            ),
            (
                "Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 \
                 Chrome/130.0.0.0 Mobile Safari/537.36",
                "Samsung Internet on Android",
            ),
            ("Mozilla/5.0 (Windows NT 10.0)", "Windows"),
            ("curl/8.14.1", "curl/8.14.1"),
        ] {
            assert_eq!(browser_name(Some(agent)), name);
        }
        assert_eq!(browser_name(None), "Unknown browser");
    }
}
