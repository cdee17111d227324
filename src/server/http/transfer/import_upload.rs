//! Uploads of imports: a file as the body of a request, or files in a form. They are spooled to disk while they arrive,
//! so that their size needs no memory, and are read in the background after the response.

use std::collections::HashSet;
use std::io::Write;

use axum::body::Bytes;
use futures::{Stream, StreamExt};
use http::StatusCode;
use tempfile::NamedTempFile;

use crate::domain::documents::file_name;
use crate::domain::{ImportId, InvalidField, MessageCode, UserId, limits};
use crate::server::app::App;
use crate::server::http::attachments::uploads::spool_write_problem;
use crate::server::http::response::problem::Problem;
use turnleaf_service::transfer::imports::{
    ImportFormat, ImportRequest, ImportSlot, MessageKeys, ReadOptions, SpooledImport, parse_format,
};

/// The name of the format that is detected from the content.
pub const AUTO: &str = "auto";

/// The purpose of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadUse {
    Import,
    /// A dry run whose file is not kept.
    DryRun,
    /// A dry run whose file can be imported afterwards.
    Preview,
}

/// The settings for reading the file of an import.
pub struct ImportSettings {
    pub name: String,
    pub format: Option<ImportFormat>,
    pub options: ReadOptions,
    pub upload_use: UploadUse,
}

/// Parses the name of a format; none detects it.
pub fn requested_format(name: Option<&str>) -> Result<Option<ImportFormat>, InvalidField> {
    match name {
        None | Some(AUTO) => Ok(None),
        Some(name) => parse_format(name).map(Some).ok_or_else(|| InvalidField::new("from", MessageCode::UnknownFormat)),
    }
}

/// Parses the mapping of keys, which only one format has.
pub fn requested_options(format: Option<ImportFormat>, mapping: Option<&str>) -> Result<ReadOptions, Problem> {
    let Some(mapping) = mapping else { return Ok(ReadOptions::default()) };
    if format != Some(ImportFormat::Messages) {
        let invalid = InvalidField::new("map", MessageCode::OnlyWith.with("other", "from=messages"));
        return Err(Problem::unprocessable("invalid", invalid));
    }
    let message_keys = MessageKeys::parse(mapping).map_err(|_| {
        let fields = MessageKeys::field_names().collect::<Vec<_>>().join(", ");
        let invalid = InvalidField::new("map", MessageCode::InvalidKeyMapping.with("fields", fields));
        Problem::unprocessable("invalid", invalid)
    })?;
    Ok(ReadOptions { message_keys })
}

/// Spools the file to disk as it arrives.
pub async fn spool_file<E>(
    (app, owner): (&App, UserId),
    place: &ImportSlot,
    mut stream: impl Stream<Item = Result<Bytes, E>> + Unpin,
    broken: impl Fn(E) -> Problem,
) -> Result<NamedTempFile, Problem> {
    let mut file = place.new_file().map_err(spool_write_problem)?;
    let mut length = 0;
    let mut checked_at = 0;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(&broken)?;
        length += piece.len();
        if length - checked_at >= limits::STORAGE_CHECKED_EVERY {
            checked_at = length;
            // The bytes that were written before count as used space already.
            app.service().check_growth(owner, piece.len() as u64).await?;
        }
        // A blocking write is acceptable here: a chunk goes to the page cache.
        file.write_all(&piece).map_err(spool_write_problem)?;
    }
    // Only now is the length of a chunked body known.
    app.service().check_growth(owner, 0).await?;
    if length == 0 {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "empty_file", MessageCode::FileEmpty));
    }
    Ok(file)
}

/// The spooled files of a form with their names, in order.
#[derive(Default)]
pub struct SpooledFiles(Vec<(NamedTempFile, String)>);

impl SpooledFiles {
    /// Adds a file.
    ///
    /// # Errors
    /// There are [`limits::IMPORT_FILES`] already.
    pub fn add(&mut self, file: NamedTempFile, name: &str) -> Result<(), InvalidField> {
        if self.0.len() == limits::IMPORT_FILES {
            return Err(InvalidField::new("file", MessageCode::TooManyFiles.with("most", limits::IMPORT_FILES)));
        }
        self.0.push((file, clean_name(name)));
        Ok(())
    }

    /// Returns the import of all files, and its name. Several files are one folder, as in an unpacked export.
    pub fn into_import(mut self, place: &ImportSlot) -> Result<(SpooledImport, String), Problem> {
        let several = self.0.split_off(self.0.len().min(1));
        let (first, name) = self.0.pop().ok_or_else(|| InvalidField::new("file", MessageCode::NoFileChosen))?;
        if several.is_empty() {
            return Ok((first.into_temp_path().into(), name));
        }
        let folder = place.new_folder().map_err(spool_write_problem)?;
        let title = format!("{name} (+{})", several.len());
        let mut taken = HashSet::new();
        for (file, name) in std::iter::once((first, name)).chain(several) {
            let path = folder.path().join(unique_name(&bounded_name(name), &mut taken));
            file.persist_noclobber(path).map_err(|error| spool_write_problem(error.error))?;
        }
        Ok((folder.into(), title))
    }
}

/// The bytes of the name of a stored file. File systems allow 255; a number may come before it.
const STORED_NAME_BYTES: usize = 200;
/// The bytes of an extension that is kept when a name is shortened.
const EXTENSION_BYTES: usize = 20;

/// Shortens a name so that a file system takes it. The extension stays, because readers look at it.
fn bounded_name(mut name: String) -> String {
    if name.len() <= STORED_NAME_BYTES {
        return name;
    }
    let dot = name.rfind('.').filter(|dot| name.len() - dot <= EXTENSION_BYTES);
    let extension = dot.map(|dot| name.split_off(dot)).unwrap_or_default();
    name.truncate(name.floor_char_boundary(STORED_NAME_BYTES - extension.len()));
    name + &extension
}

/// Returns the name, or one like it that no earlier file has. Names are compared as file systems without case do.
fn unique_name(name: &str, taken: &mut HashSet<String>) -> String {
    let mut unique = name.to_owned();
    let mut number = 1;
    while !taken.insert(unique.to_lowercase()) {
        number += 1;
        unique = format!("{number}-{name}");
    }
    unique
}

/// Returns a name that can be shown and stored.
fn clean_name(name: &str) -> String {
    file_name::sanitize(name).unwrap_or_else(|_| "file".to_owned())
}

/// Starts the import or the dry run of an upload, and returns its id.
pub fn start_upload(
    app: &App,
    owner: UserId,
    file: SpooledImport,
    settings: ImportSettings,
) -> Result<ImportId, Problem> {
    let ImportSettings { name, format, options, upload_use } = settings;
    let dry_run = upload_use != UploadUse::Import;
    let import =
        ImportRequest { owner, file: file.path().to_owned(), name: clean_name(&name), format, options, dry_run };
    Ok(match upload_use {
        UploadUse::Preview => app.service().start_preview(import, file)?,
        UploadUse::Import | UploadUse::DryRun => app.service().start_import(import, file)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_in_folder_are_unique() {
        let mut taken = HashSet::new();
        let names = ["a.json", "A.json", "a.json", "b.json"].map(|name| unique_name(name, &mut taken));
        assert_eq!(names, ["a.json", "2-A.json", "3-a.json", "b.json"]);
    }

    #[test]
    fn stored_name_is_bounded_and_keeps_extension() {
        let long = "对".repeat(80);
        let cases = [
            ("a.json".to_owned(), "a.json".to_owned()),
            (format!("{long}.jsonl"), format!("{}.jsonl", "对".repeat(64))),
            (long.clone(), "对".repeat(66)),
            (format!("a.{}", "b".repeat(250)), format!("a.{}", "b".repeat(198))),
        ];
        for (name, bounded) in cases {
            assert_eq!(bounded_name(name), bounded);
        }
    }
}
