//! The reasons why a file cannot be read further, as coded messages.

use std::io;

use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_interchange::ImportError;

/// The expected file in the error for a file without a known format.
pub(super) const SUPPORTED_FILE: &str = "a file from a program Turnleaf supports";

/// Returns the reason with its code. The English text is that of the error, except for I/O errors.
pub(super) fn stop_reason(error: &ImportError) -> CodedMessage {
    match error {
        ImportError::WrongFormat(SUPPORTED_FILE) => MessageCode::ImportUnsupported.into(),
        ImportError::WrongFormat("a file with conversations") => MessageCode::ImportWithoutChats.into(),
        ImportError::WrongFormat("a Turnleaf archive") => MessageCode::ImportNotArchive.into(),
        ImportError::WrongFormat("JSON") => MessageCode::ImportNotJson.into(),
        ImportError::WrongFormat(expected) => MessageCode::ImportOtherFormat.with("expected", expected),
        ImportError::Unrecognized(reason) => MessageCode::ImportUnrecognized.with("reason", reason),
        ImportError::Damaged(reason) => MessageCode::ImportDamaged.with("reason", reason),
        ImportError::TooLarge(reason) => MessageCode::ImportTooLarge.with("reason", reason),
        ImportError::NewerVersion(version) => MessageCode::ImportNewerVersion.with("version", version),
        ImportError::Database => MessageCode::ImportIsDatabase.into(),
        ImportError::Cancelled => MessageCode::ImportStopped.into(),
        ImportError::Io(error) => MessageCode::ImportUnreadable.with("reason", logged_kind(error)),
        ImportError::Spool(error) => MessageCode::ImportNotSpooled.with("reason", logged_kind(error)),
    }
}

/// Logs an error and returns its kind. Its text may contain a path of the server, which is not for the reader.
fn logged_kind(error: &io::Error) -> io::ErrorKind {
    tracing::warn!(%error, "a file of an import could not be read or stored");
    error.kind()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_has_code_and_text_of_error() {
        let errors = [
            (ImportError::WrongFormat(SUPPORTED_FILE), "import_unsupported"),
            (ImportError::WrongFormat("a file with conversations"), "import_without_chats"),
            (ImportError::WrongFormat("a Turnleaf archive"), "import_not_archive"),
            (ImportError::WrongFormat("JSON"), "import_not_json"),
            (ImportError::WrongFormat("a chat of SillyTavern"), "import_other_format"),
            (ImportError::Unrecognized("it has no messages".to_owned()), "import_unrecognized"),
            (ImportError::Damaged("at byte 3".to_owned()), "import_damaged"),
            (ImportError::TooLarge("the archive has more than 3 entries".to_owned()), "import_too_large"),
            (ImportError::NewerVersion(9), "import_newer_version"),
            (ImportError::Database, "import_is_database"),
        ];
        for (error, code) in errors {
            let reason = stop_reason(&error);
            assert_eq!((reason.code.code(), reason.to_string()), (code, error.to_string()));
        }
    }

    #[test]
    fn reason_of_io_error_has_no_path() {
        let error = || io::Error::new(io::ErrorKind::StorageFull, "/srv/turnleaf/a: no space");
        let (unreadable, unspooled) =
            (stop_reason(&ImportError::Io(error())), stop_reason(&ImportError::Spool(error())));
        assert_eq!(unreadable, MessageCode::ImportUnreadable.with("reason", "no storage space"));
        assert_eq!(unspooled, MessageCode::ImportNotSpooled.with("reason", "no storage space"));
    }
}
