//! `turnleaf import`: chats from a Turnleaf archive, from exports of other programs, and from their databases.

use std::fmt;
use std::io::{self, IsTerminal};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::domain::text::plural::counted;
use crate::server::cli::args::ImportArgs;
use crate::server::cli::database::{block_on, create_data_dir};
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::{installation, output};
use turnleaf_platform::config::Config;
use turnleaf_platform::config::database::DatabaseUrl;
use turnleaf_platform::ids::{self, BootId};
use turnleaf_platform::lock_file::LockFile;
use turnleaf_service::transfer::imports::legacy::{LegacySchema, LegacySource};
use turnleaf_service::transfer::imports::{
    ImportExtent, ImportFormat, ImportReport, ImportRequest, LegacyImport, MessageKeys, ReadOptions, formats,
    parse_format, parse_schema, schemas,
};

/// One source of an import.
enum CliImportSource {
    /// A file; without a format it is detected from the content.
    File(PathBuf, Option<ImportFormat>),
    Database(LegacySource, LegacySchema),
}

/// Imports the sources one after the other, and reports the result of each. Ends with exit code 3 when only a part of
/// them was imported, and 1 when nothing was.
pub fn run(config: &Config, args: &ImportArgs, json: bool) -> Result<(), CliError> {
    let options = parse_options(args)?;
    let sources =
        args.sources.iter().map(|source| parse_source(&args.from, source)).collect::<Result<Vec<_>, CliError>>()?;
    // A database is imported in one transaction, during which a server on SQLite could not write, and its replies
    // would fail. The lock keeps a server from running.
    let holds_writer = parse_schema(&args.from).is_some() && config.database.value.is_sqlite() && !args.dry_run;
    let lock = match holds_writer {
        true => Some(LockFile::acquire(create_data_dir(config)?.path(), ids::mint::<BootId>())?),
        false => None,
    };
    let reports = block_on(async {
        let (service, owner, _looked_in) = if args.dry_run {
            installation::open_read_only(config).await?
        } else {
            let (service, owner) = installation::open(config, lock.as_ref()).await?;
            (service, owner, None)
        };
        let mut reports = Vec::with_capacity(sources.len());
        for source in sources {
            let mut printed = 0;
            let mut progress = |report: &ImportReport| {
                if report.conversations >= printed + 100 && std::io::stderr().is_terminal() {
                    printed = report.conversations;
                    eprintln!("{}: {printed} chats", report.name);
                }
                true
            };
            let (name, dry_run) = (source.to_string(), args.dry_run);
            let action = format!("import {name}");
            let report = match source {
                CliImportSource::Database(source, schema) => {
                    let import = LegacyImport { owner, source, schema, name, dry_run };
                    service.import_legacy(import, &mut progress).await
                }
                CliImportSource::File(file, format) => {
                    let import = ImportRequest { owner, file, name, format, options: options.clone(), dry_run };
                    service.import(import, &mut progress).await
                }
            };
            reports.push(report.map_err(|error| CliError::could_not(&action, error))?);
        }
        // Closing moves the write-ahead log into the database file.
        service.supervisor().db().close().await;
        Ok(reports)
    })?;
    if json {
        output::print_json(&reports)?;
    } else {
        reports.iter().try_for_each(print_report)?;
    }
    let extents = reports.iter().map(ImportReport::extent);
    let is_any = extents.clone().any(|extent| extent != ImportExtent::Nothing);
    let exit = if is_any { CliExitCode::InPart } else { CliExitCode::Failed };
    match reports.iter().zip(extents).find(|(_, extent)| *extent != ImportExtent::Everything) {
        None => Ok(()),
        Some((report, _)) => Err(CliError::new(exit, incomplete_text(report))),
    }
}

/// Says why a source was not imported as a whole.
fn incomplete_text(report: &ImportReport) -> String {
    let name = &report.name;
    match &report.stopped {
        Some(why) => format!("{name} could not be read completely: {why}"),
        None if report.did_not_fit > 0 => {
            format!("not enough space for {} from {name}", counted(report.did_not_fit, "chat", "chats"))
        }
        None if report.skipped == 0 => {
            format!("{name} was not imported completely: {} left out", counted(report.skipped_rows(), "row", "rows"))
        }
        None => format!("{name} was not imported completely: {} left out", counted(report.skipped, "item", "items")),
    }
}

fn parse_options(args: &ImportArgs) -> Result<ReadOptions, CliError> {
    let wrong_use = |text: String| CliError::new(CliExitCode::WrongUse, text);
    let Some(mapping) = &args.map else { return Ok(ReadOptions::default()) };
    if parse_format(&args.from) != Some(ImportFormat::Messages) {
        return Err(wrong_use("--map can only be used with --from messages".to_owned()));
    }
    let message_keys = MessageKeys::parse(mapping).map_err(|error| wrong_use(format!("--map: {error}")))?;
    Ok(ReadOptions { message_keys })
}

fn parse_source(from: &str, source: &Path) -> Result<CliImportSource, CliError> {
    let schema = parse_schema(from);
    let format = parse_format(from);
    if schema.is_none() && format.is_none() && from != "auto" {
        let known: Vec<&str> = formats().chain(schemas()).collect();
        let text = format!("unknown format `{from}`; use auto, {}", known.join(", "));
        return Err(CliError::new(CliExitCode::WrongUse, text));
    }
    let url = source.to_str().filter(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"));
    if url.is_none()
        && let Some(why) = source_problem(source, schema.is_some())
    {
        return Err(why);
    }
    match (schema, url) {
        (Some(schema), Some(url)) => {
            Ok(CliImportSource::Database(LegacySource::Server(DatabaseUrl::new(url)?), schema))
        }
        (None, Some(_)) => {
            let known: Vec<&str> = schemas().collect();
            let text = format!("set the database schema with --from: {}", known.join(" or "));
            Err(CliError::new(CliExitCode::WrongUse, text))
        }
        (Some(schema), None) => Ok(CliImportSource::Database(LegacySource::File(source.to_owned()), schema)),
        (None, None) => Ok(CliImportSource::File(source.to_owned(), format)),
    }
}

/// Returns why a path cannot be imported: it does not exist, or is neither a file nor a folder.
fn source_problem(source: &Path, is_database: bool) -> Option<CliError> {
    let failed = |text: String| Some(CliError::new(CliExitCode::Failed, text));
    let kind = match source.metadata() {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(CliError::file_not_found(source)),
        Err(error) => return Some(CliError::could_not(&format!("read {}", source.display()), error)),
    };
    let what = match () {
        () if kind.is_file() => return None,
        () if kind.is_dir() && !is_database => return None,
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => "not a regular file",
    };
    failed(format!("{} is {what}: pass a file or a folder of exported files", source.display()))
}

/// Formats the name of the source in the report.
impl fmt::Display for CliImportSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The URL is formatted without its password.
            Self::Database(LegacySource::Server(url), _) => url.fmt(f),
            Self::Database(LegacySource::File(file), _) | Self::File(file, _) => match file.file_name() {
                Some(name) => f.write_str(&name.to_string_lossy()),
                None => file.display().fmt(f),
            },
        }
    }
}

fn print_report(report: &ImportReport) -> Result<(), CliError> {
    let ImportReport { conversations, imported, known, left_out, turns, branches, .. } = report;
    let of = report.format.unwrap_or("unknown");
    output::print_line(format_args!("{} ({of}): {}", report.name, counted(*conversations, "chat", "chats")))?;
    let would = if report.dry_run { "would be imported" } else { "imported" };
    output::print_line(format_args!(
        "  {imported} {would} ({} on {}, {}, {})",
        counted(*turns, "message or reply", "messages and replies"),
        counted(*branches, "branch", "branches"),
        counted(report.files, "file", "files"),
        counted(report.documents, "document", "documents")
    ))?;
    output::print_line(format_args!("  {known} already imported, {left_out} not imported"))?;
    if report.in_trash > 0 {
        let text = counted(report.in_trash, "of these is in Trash", "of these are in Trash");
        output::print_line(format_args!("  {text}: restore them before importing again to add what is new"))?;
    }
    if report.did_not_fit > 0 {
        output::print_line(format_args!("  {} not imported: not enough space", report.did_not_fit))?;
    }
    for table in &report.tables {
        output::print_line(format_args!(
            "  {}: {}, {} not imported",
            table.name,
            counted(table.rows, "row", "rows"),
            table.left_out
        ))?;
    }
    output::print_line(format_args!("  {} corrected, {} not preserved", report.put_right, report.lost))?;
    for finding in &report.findings {
        output::print_line(format_args!("  {}: {}: {}", finding.kind.label(), finding.place, finding.text))?;
    }
    let shown = report.findings.len() as u64;
    if report.findings_total > shown {
        let total = counted(report.findings_total, "finding", "findings");
        output::print_line(format_args!("  showing {shown} of {total}"))?;
    }
    Ok(())
}
