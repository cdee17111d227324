//! Content negotiation by `Accept` (RFC 9110, 12.5.1).

use axum::http::{HeaderMap, header};

/// Returns the offered media type that the client prefers; of equal ones the first. A client that states no
/// preference, or none that is offered, gets the first.
pub fn preferred_media_type(headers: &HeaderMap, offered: &[&'static str]) -> &'static str {
    let accepted: Vec<(&str, f32)> = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(parse_range)
        .collect();
    let mut best = (offered.first().copied().unwrap_or_default(), 0.0);
    for kind in offered {
        let liking = media_type_weight(&accepted, kind);
        if liking > best.1 {
            best = (kind, liking);
        }
    }
    best.0
}

/// Returns whether the client accepts HTML explicitly, as browsers do for navigation and no own script does.
pub fn wants_page(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .any(|value| value.to_str().is_ok_and(|accepted| accepted.contains("text/html")))
}

/// Parses a media range and its weight.
fn parse_range(text: &str) -> (&str, f32) {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    (range, weight.and_then(|weight| weight.parse().ok()).filter(|q| (0.0..=1.0).contains(q)).unwrap_or(1.0))
}

/// Returns the weight of the most specific range that matches the type.
fn media_type_weight(accepted: &[(&str, f32)], kind: &str) -> f32 {
    let group = kind.split('/').next().unwrap_or_default();
    let exactness = |range: &str| match range.split_once('/') {
        _ if range.eq_ignore_ascii_case(kind) => Some(3),
        Some((first, "*")) if first.eq_ignore_ascii_case(group) => Some(2),
        Some(("*", "*")) => Some(1),
        _ => None,
    };
    let fitting = accepted.iter().filter_map(|(range, weight)| Some((exactness(range)?, *weight)));
    fitting.max_by_key(|(exactness, _)| *exactness).map_or(0.0, |(_, weight)| weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: [&str; 2] = ["text/event-stream", "application/x-ndjson"];

    #[test]
    fn heavier_and_more_exact_range_wins() {
        for (accept, gets) in [
            ("", 0),
            ("*/*", 0),
            ("text/event-stream", 0),
            ("application/x-ndjson", 1),
            ("Application/X-NDJSON; charset=utf-8", 1),
            ("application/*", 1),
            ("application/x-ndjson;q=0.5, text/event-stream", 0),
            ("application/x-ndjson, text/event-stream;q=0.5", 1),
            ("application/x-ndjson, text/event-stream", 0),
            ("application/x-ndjson;q=0, */*", 0),
            ("text/event-stream;q=0, */*;q=0.1", 1),
            ("*/*;q=0.8, application/x-ndjson;q=0.9", 1),
            ("text/html", 0),
            ("application/x-ndjsonish", 0),
            (";;,,q=,", 0),
        ] {
            let mut headers = HeaderMap::new();
            if !accept.is_empty() {
                headers.insert(header::ACCEPT, accept.parse().unwrap());
            }
            assert_eq!(preferred_media_type(&headers, &OFFERED), OFFERED[gets], "{accept}");
        }
    }
}
