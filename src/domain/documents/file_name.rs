//! Names of uploaded files, which are displayed and never opened. Sanitizing keeps the last path component without
//! characters that act on a terminal, a header or a file system.

use crate::encoding::url_encoding;
use crate::limits;
use crate::messages::coded_message::MessageCode;
use crate::messages::failure::InvalidField;

/// The name of a file without a name.
pub const UNNAMED: &str = "unnamed";

/// Sanitizes a name for storage and display: at most [`limits::TITLE_CHARS`] characters, with its extension kept.
///
/// # Errors
/// The name contains NUL, which no system produces.
pub fn sanitize(given: &str) -> Result<String, InvalidField> {
    if given.contains('\0') {
        return Err(InvalidField::new("name", MessageCode::HasNul));
    }
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    // The part before a colon is a drive letter, or a file with an alternate data stream.
    let last = last.rsplit(':').next().unwrap_or_default();
    let visible: String = last.chars().filter(|c| !c.is_control()).collect();
    let name = visible.trim_end().trim_start_matches(|c: char| c == '.' || c.is_whitespace());
    Ok(if name.is_empty() { UNNAMED.to_owned() } else { shorten(name) })
}

fn shorten(name: &str) -> String {
    let count = name.chars().count();
    if count <= limits::TITLE_CHARS {
        return name.to_owned();
    }
    let ending: String = match name.rsplit_once('.') {
        Some((_, ending)) if ending.chars().count() <= 16 => format!("….{ending}"),
        _ => "…".to_owned(),
    };
    name.chars().take(limits::TITLE_CHARS - ending.chars().count()).collect::<String>() + &ending
}

/// Returns the header that downloads a response under this name (RFC 6266, RFC 8187): in ASCII for old clients, and
/// exact.
pub fn content_disposition(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ');
    let ascii: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let exact = url_encoding::encode(name);
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{exact}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_components_are_removed() {
        for (given, shown) in [
            ("../../../../etc/cron.d/x", "x"),
            ("..\\..\\x", "x"),
            ("/etc/passwd", "passwd"),
            ("C:\\x", "x"),
            ("C:x", "x"),
            ("a/b", "b"),
            (".htaccess", "htaccess"),
            (". .htaccess", "htaccess"),
            ("..", UNNAMED),
            ("", UNNAMED),
            ("a/", UNNAMED),
            ("a\"\r\nSet-Cookie: x=1.txt", "x=1.txt"),
            ("a\tb\u{7f}.md", "ab.md"),
            ("报告.pdf", "报告.pdf"),
        ] {
            assert_eq!(sanitize(given).unwrap(), shown, "{given:?}");
        }
        assert!(sanitize("x\0.png").is_err());
    }

    #[test]
    fn long_name_keeps_its_extension() {
        let shown = sanitize(&format!("{}.tar.gz", "n".repeat(300))).unwrap();
        assert_eq!(shown.chars().count(), limits::TITLE_CHARS);
        assert!(shown.ends_with("….gz"), "{shown}");
        assert_eq!(sanitize(&"n".repeat(300)).unwrap().chars().count(), limits::TITLE_CHARS);
    }

    #[test]
    fn any_name_stays_within_one_header() {
        for (name, kept) in [
            ("a b.txt", "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
            ("a\"\r\nX: 1", "attachment; filename=\"a___X_ 1\"; filename*=UTF-8''a%22%0D%0AX%3A%201"),
            ("报.pdf", "attachment; filename=\"_.pdf\"; filename*=UTF-8''%E6%8A%A5.pdf"),
        ] {
            assert_eq!(content_disposition(name), kept);
        }
    }
}
