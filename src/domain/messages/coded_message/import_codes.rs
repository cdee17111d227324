//! The codes of sentences about imports with their English templates.

/// Passes the codes of imports, after those that are given, to the macro that defines all of them.
macro_rules! with_import_codes {
    ($define:ident: $($others:tt)*) => {
        $define! {
            $($others)*
            TooManyFiles, "too_many_files", "at most {most} files";
            NotAPreview, "not_a_preview", "this import is not a preview";
            PreviewRunning, "preview_running", "the preview is not finished yet";
            PreviewExpired, "preview_expired", "the file of this preview is no longer here; upload it again";
            ImportReversing, "import_reversing", "an import is still being undone or restored";
            ImportCreatedNothing, "import_created_nothing", "this import created nothing that could be undone";
            ImportNotUndoable, "import_not_undoable", "this import is already undone";
            ImportNotUndone, "import_not_undone", "this import is not undone";
            ImportPartlyUndone, "import_partly_undone", "some of it could not be moved to Trash; try again";
            ImportPartlyRestored, "import_partly_restored", "some of it could not be restored{cause}";
            ImportStopped, "import_stopped", "it was stopped";
            ImportCrashed, "import_crashed", "the server could not continue; try again";
            ImportInterrupted, "import_interrupted", "the server was restarted";
            ImportDiskLow, "import_disk_low", "the server's disk is almost full";
            ImportUnsupported, "import_unsupported", "this is not a file from a program Turnleaf supports";
            ImportWithoutChats, "import_without_chats", "this is not a file with conversations";
            ImportNotArchive, "import_not_archive", "this is not a Turnleaf archive";
            ImportNotJson, "import_not_json", "this is not JSON";
            ImportOtherFormat, "import_other_format", "this is not {expected}";
            ImportUnrecognized, "import_unrecognized", "no chats were found in it: {reason}";
            ImportDamaged, "import_damaged", "the file ends too early, or is damaged: {reason}";
            ImportTooLarge, "import_too_large", "{reason}";
            ImportNewerVersion, "import_newer_version",
                "it was written by a newer version of Turnleaf (archive version {version}); update this server first";
            ImportIsDatabase, "import_is_database",
                "this is a database: import it with `turnleaf import --from legacy-messages FILE` (or `legacy-actions`), for \
                supported schemas";
            ImportUnreadable, "import_unreadable", "the file cannot be read: {reason}";
            ImportNotSpooled, "import_not_spooled", "it could not be stored temporarily: {reason}";
            ImportDatabaseUnreadable, "import_database_unreadable", "reading the database stopped: {reason}";
            ImportDatabaseNotOpened, "import_database_not_opened", "the database cannot be opened: {reason}";
            ImportTablesUnreadable, "import_tables_unreadable", "its tables cannot be read: {reason}";
            ImportNotSqlite, "import_not_sqlite", "this is not a SQLite database";
            ImportRolledBack, "import_rolled_back", "nothing was stored{cause}";
        }
    };
}
