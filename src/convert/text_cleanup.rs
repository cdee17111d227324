//! Normalizes text for storage: `\n` line ends, no NUL, at most the size of a document.

use std::borrow::Cow;

use crate::ConversionError;
use turnleaf_domain::limits;
use turnleaf_domain::text::byte_size::ByteSize;

/// Replaces all line ends with `\n`.
pub fn normalize_line_ends(text: String) -> String {
    match text.contains('\r') {
        true => text.replace("\r\n", "\n").replace('\r', "\n"),
        false => text,
    }
}

/// Cleans extracted text: removes control characters and trailing blanks, and keeps at most one empty line in a row.
pub fn clean_extracted(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut empty = 0;
    for line in normalize_line_ends(text.to_owned()).split('\n') {
        let line = visible(line);
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            tidied.push_str(line);
            tidied.push('\n');
        }
    }
    tidied.trim_matches('\n').to_owned()
}

fn visible(line: &str) -> Cow<'_, str> {
    match line.contains(|c: char| c.is_control() && c != '\t') {
        true => line.chars().filter(|c| !c.is_control() || *c == '\t').collect::<String>().into(),
        false => line.into(),
    }
}

/// Returns the text if it fits into a document.
///
/// # Errors
/// [`ConversionError::TooLong`].
pub fn check_length(text: String) -> Result<String, ConversionError> {
    match text.len() > limits::DOCUMENT_BYTES {
        true => Err(too_long()),
        false => Ok(text),
    }
}

pub fn too_long() -> ConversionError {
    ConversionError::TooLong(ByteSize::from_usize(limits::DOCUMENT_BYTES).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_up() {
        assert_eq!(normalize_line_ends("a\r\nb\rc\n\r\n".into()), "a\nb\nc\n\n");
        assert_eq!(clean_extracted("\n\n a \t\r\n\0b\u{7}\t.\n\n\n\nc\u{c}\n"), " a\nb\t.\n\nc");
        assert_eq!(check_length("a".repeat(limits::DOCUMENT_BYTES)).map(|text| text.len()), Ok(limits::DOCUMENT_BYTES));
        assert_eq!(check_length("a".repeat(limits::DOCUMENT_BYTES + 1)), Err(ConversionError::TooLong("8 MiB".into())));
    }
}
