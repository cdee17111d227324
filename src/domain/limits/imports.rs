//! Limits of imports: the size and the time of a file, and what is kept of it.

use std::time::Duration;

/// An import file: it is on disk, not in memory, and slow connections need long for it.
pub const IMPORT_BYTES: usize = 4 << 30;
pub const IMPORT_TIME: Duration = Duration::from_secs(3_600);
/// The files of one import form.
pub const IMPORT_FILES: usize = 1_000;
/// The time for which the file of a previewed import is kept.
pub const IMPORT_PREVIEW_KEPT: Duration = Duration::from_secs(3_600);
/// The recorded imports of a person, of which older ones can no longer be undone, and the chats and differences of
/// a recorded report.
pub const IMPORTS_KEPT: u32 = 100;
pub const IMPORT_REPORT_LISTED: usize = 500;
/// The chats, and the documents, that are listed as kept by the undo of an import.
pub const IMPORT_KEPT_LISTED: u32 = 200;
/// The interval at which a running import stores its report, and the time without that after which an import of
/// another process counts as interrupted.
pub const IMPORT_REPORT_STORED_EVERY: Duration = Duration::from_secs(5);
pub const IMPORT_SILENCE: chrono::TimeDelta = chrono::TimeDelta::minutes(1);
