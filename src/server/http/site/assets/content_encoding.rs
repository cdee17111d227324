//! Negotiation of the encodings in which files are stored (`Accept-Encoding`).

/// The encodings in which files are stored, best first, with the endings of their file names.
const PREPARED_ENCODINGS: [(&str, &str); 2] = [("br", "br"), (GZIP, "gz")];
pub const GZIP: &str = "gzip";

/// Returns the stored encodings that `Accept-Encoding` allows, best first.
pub fn accepted_encodings(accepted: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    PREPARED_ENCODINGS.into_iter().filter(move |(encoding, _)| allows(accepted, encoding))
}

fn allows(accepted: &str, encoding: &str) -> bool {
    accepted.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        // A weight of zero forbids the encoding.
        let is_refused = parts.any(|part| {
            part.strip_prefix("q=").is_some_and(|weight| weight.parse::<f32>().is_ok_and(|weight| weight <= 0.0))
        });
        is_named && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brotli_precedes_gzip_and_zero_weight_forbids() {
        let names = |accepted: &'static str| accepted_encodings(accepted).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names("gzip, deflate, br, zstd"), ["br", "gzip"]);
        assert_eq!(names("gzip;q=1.0, br;q=0"), ["gzip"]);
        assert_eq!(names("BR"), ["br"]);
        assert!(names("").is_empty());
        assert!(names("brotli, identity").is_empty());
    }
}
