//! `turnleaf export`: chats as an archive; the path of a chat as Markdown or as a page; a chat as a git repository.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use bytes::Bytes;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use crate::domain::text::plural::counted;
use crate::domain::transfer::export::ExportOptions;
use crate::domain::{ChatId, UserId};
use crate::server::cli::args::{ExportArgs, ExportFormat};
use crate::server::cli::database::{block_on, open_current};
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::installation;
use crate::server::http::site::assets::Site;
use crate::server::http::transfer::exports::standalone_page;
use turnleaf_platform::config::Config;
use turnleaf_service::transfer::exports::{ExportScope, LinkedImage, MarkdownExport};
use turnleaf_service::{Service, ServiceError};

/// The capacity of the channel of archive pieces.
const CHUNK_QUEUE: usize = 8;

/// Exports to a file, to a folder, or to standard output.
pub fn run(config: &Config, args: &ExportArgs) -> Result<(), CliError> {
    let wanted = ExportTarget::from_args(args)?;
    let parts = ExportOptions { reasoning: args.reasoning.into(), tools: args.tools.into() };
    let failed = |error: ServiceError| match (error, &args.chat) {
        (ServiceError::NotFound, Some(chat)) => {
            CliError::new(CliExitCode::Failed, format_args!("chat not found: {chat}"))
        }
        (error, _) => CliError::could_not("export", error),
    };
    block_on(async {
        // A read-only command must not create an installation or migrate one.
        open_current(config).await?.close().await;
        let (service, owner, _) = installation::open_read_only(config).await?;
        let text = match wanted {
            ExportTarget::Archive(which) => {
                let out = ExportOutput::open(args.output.as_deref())?;
                return archive(&service, owner, which, out).await.map_err(failed)?;
            }
            ExportTarget::Repository(chat, folder) => {
                let written = service.export_git_folder(owner, chat, folder).await.map_err(failed)?;
                return written
                    .map_err(|error| CliError::could_not(&format!("write into {}", folder.display()), error));
            }
            ExportTarget::Markdown(chat, assets) => {
                let folder = assets.map(|assets| link_folder(assets, args.output.as_deref())).unwrap_or_default();
                let export = service.export_markdown_with_images(owner, chat, None, parts, &folder).await;
                let MarkdownExport { text, images } = export.map_err(failed)?;
                if let Some(assets) = assets {
                    write_images(&service, owner, &images, assets).await?;
                }
                text
            }
            ExportTarget::Page(chat) => {
                let style = Site::open(config.site_root.as_deref()).style();
                let page = standalone_page(&service, style, owner, chat, None, parts).await;
                page.map_err(|error| CliError::could_not("export", error.detail()))?.into_bytes()
            }
        };
        let mut out = ExportOutput::open(args.output.as_deref())?;
        out.write(&text)?;
        out.finish()
    })
}

/// The subject of the export.
enum ExportTarget<'a> {
    Archive(ExportScope),
    /// The folder is that of the images.
    Markdown(ChatId, Option<&'a Path>),
    Page(ChatId),
    Repository(ChatId, &'a Path),
}

impl<'a> ExportTarget<'a> {
    /// Reads the subject from the arguments.
    fn from_args(args: &'a ExportArgs) -> Result<Self, CliError> {
        let wrong_use = |reason: &str| CliError::new(CliExitCode::WrongUse, reason);
        let chat: Option<ChatId> = match args.chat.as_deref().map(str::parse) {
            None => None,
            Some(Ok(chat)) => Some(chat),
            Some(Err(error)) => return Err(CliError::new(CliExitCode::WrongUse, format_args!("--chat: {error}"))),
        };
        let of_one = || chat.ok_or_else(|| wrong_use("this format exports one chat; choose it with --chat ID"));
        if args.assets.is_some() && args.format != ExportFormat::Markdown {
            return Err(wrong_use("--assets is for --format markdown"));
        }
        Ok(match args.format {
            ExportFormat::Json => Self::Archive(chat.map_or(ExportScope::Everything, ExportScope::Chat)),
            ExportFormat::Markdown => Self::Markdown(of_one()?, args.assets.as_deref()),
            ExportFormat::Html => Self::Page(of_one()?),
            ExportFormat::Git => {
                let folder = args.output.as_deref();
                let folder = folder.ok_or_else(|| wrong_use("set the output folder with --output DIR"))?;
                Self::Repository(of_one()?, folder)
            }
        })
    }
}

/// Returns the folder of the images as links in the Markdown name it: relative to the output where it is below it.
fn link_folder(assets: &Path, output: Option<&Path>) -> String {
    let beside = output.and_then(Path::parent).and_then(|parent| assets.strip_prefix(parent).ok());
    let folder = beside.unwrap_or(assets).to_string_lossy();
    if folder.is_empty() || folder.ends_with('/') { folder.into_owned() } else { format!("{folder}/") }
}

/// Writes the images that a Markdown export links. Files have the names of their contents, so those that exist stay.
async fn write_images(service: &Service, owner: UserId, images: &[LinkedImage], assets: &Path) -> Result<(), CliError> {
    let failed = |file: &Path, error: io::Error| CliError::could_not(&format!("create {}", file.display()), error);
    std::fs::create_dir_all(assets).map_err(|error| failed(assets, error))?;
    for image in images {
        let bytes = match service.blob(owner, &image.sha256).await {
            Err(ServiceError::NotFound) => continue,
            found => found.map_err(|error| CliError::could_not("export", error))?.bytes,
        };
        let file = assets.join(&image.name);
        if !file.exists() {
            let mut made = NamedTempFile::new_in(assets).map_err(|error| failed(&file, error))?;
            made.write_all(&bytes).map_err(write_error)?;
            made.persist(&file).map_err(|error| failed(&file, error.error))?;
        }
    }
    Ok(())
}

/// Exports an archive. The outer result is the service's, the inner one that of the output.
async fn archive(
    service: &Service,
    owner: UserId,
    which: ExportScope,
    mut out: ExportOutput<'_>,
) -> Result<Result<(), CliError>, ServiceError> {
    let (send, mut receive) = mpsc::channel::<Bytes>(CHUNK_QUEUE);
    // A write error drops the receiver, which ends the reader as well.
    let write = async move {
        while let Some(piece) = receive.recv().await {
            out.write(&piece)?;
        }
        Ok(out)
    };
    let read = async {
        let read = service.export_archive(owner, which, &send).await;
        drop(send);
        read
    };
    let (written, read) = tokio::join!(write, read);
    match (written, read) {
        // The read ended early because of this error.
        (Err(unwritten), _) => Ok(Err(unwritten)),
        (Ok(_), Err(unread)) => Err(unread),
        (Ok(out), Ok(damaged)) => {
            if damaged > 0 {
                // Standard output may hold the archive itself.
                eprintln!(
                    "{} could not be exported; see the archive's list or `turnleaf fsck`",
                    counted(damaged, "damaged value", "damaged values")
                );
            }
            Ok(out.finish())
        }
    }
}

/// The output of an export. A file appears only once it is complete.
enum ExportOutput<'a> {
    Terminal(BufWriter<io::Stdout>),
    File(BufWriter<NamedTempFile>, &'a Path),
}

impl<'a> ExportOutput<'a> {
    fn open(file: Option<&'a Path>) -> Result<Self, CliError> {
        let Some(file) = file else { return Ok(Self::Terminal(BufWriter::new(io::stdout()))) };
        if file.exists() {
            return Err(CliError::new(CliExitCode::Failed, format_args!("{} already exists", file.display())));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = NamedTempFile::new_in(folder);
        let made = made.map_err(|error| CliError::could_not(&format!("create {}", file.display()), error))?;
        Ok(Self::File(BufWriter::new(made), file))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        match self {
            Self::Terminal(out) => out.write_all(bytes),
            Self::File(out, _) => out.write_all(bytes),
        }
        .map_err(write_error)
    }

    fn finish(self) -> Result<(), CliError> {
        match self {
            Self::Terminal(mut out) => out.flush().map_err(write_error),
            Self::File(out, file) => {
                let made = out.into_inner().map_err(|error| write_error(error.into_error()))?;
                let kept = made.persist_noclobber(file).map(drop).map_err(|error| error.error);
                kept.map_err(|error| CliError::could_not(&format!("create {}", file.display()), error))
            }
        }
    }
}

/// Converts a write error; a closed pipe is not a failure of the export itself.
fn write_error(error: io::Error) -> CliError {
    match error.kind() {
        ErrorKind::BrokenPipe => CliError::new(CliExitCode::Failed, "the output was closed before the export finished"),
        _ => CliError::could_not("write the export", error),
    }
}
