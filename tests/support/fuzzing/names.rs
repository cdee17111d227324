//! Fuzz target of file names: nothing in a sanitized name acts on a path, a terminal or a header, and sanitizing is
//! idempotent.

use turnleaf::domain::documents::file_name;
use turnleaf::domain::limits;

pub fn file_name_holds(input: &[u8]) {
    let given = String::from_utf8_lossy(input);
    let header = file_name::content_disposition(&given);
    assert!(header.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{header:?}");
    assert_eq!(header.matches('"').count(), 2, "{header:?}");
    let Ok(kept) = file_name::sanitize(&given) else { return assert!(given.contains('\0')) };
    assert!(!kept.is_empty() && kept.chars().count() <= limits::TITLE_CHARS, "{kept:?}");
    assert!(!kept.starts_with('.') && kept == kept.trim(), "{kept:?}");
    assert!(!kept.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | ':')), "{kept:?}");
    assert_eq!(file_name::sanitize(&kept).as_deref(), Ok(kept.as_str()), "kept again");
}
