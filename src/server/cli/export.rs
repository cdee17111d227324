//! `turnleaf export`: chats as an archive; a chat's path as Markdown or as a page; a chat as a git repository.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use bytes::Bytes;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use crate::domain::export::Parts;
use crate::domain::{ChatId, UserId};
use crate::server::cli::args::{ExportArgs, ExportFormat};
use crate::server::cli::database::{block_on, open_current};
use crate::server::cli::exit::{Exit, Failed};
use crate::server::cli::installation;
use crate::server::http::site::assets::Site;
use crate::server::http::transfer::exports::standalone;
use turnleaf_platform::config::Config;
use turnleaf_service::transfer::exports::Which;
use turnleaf_service::{Service, ServiceError};

/// Pieces of an archive that wait to be written.
const AHEAD: usize = 8;

/// Writes to a file, to a folder, or to standard output.
pub fn run(config: &Config, args: &ExportArgs) -> Result<(), Failed> {
    let chat: Option<ChatId> = match args.chat.as_deref().map(str::parse) {
        None => None,
        Some(Ok(chat)) => Some(chat),
        Some(Err(error)) => return Err(Failed::new(Exit::WrongUse, format_args!("--chat: {error}"))),
    };
    let of_one = || chat.ok_or_else(|| Failed::new(Exit::WrongUse, "this is of one chat: say which with --chat ID"));
    let wanted = match args.format {
        ExportFormat::Json => Wanted::Archive(chat.map_or(Which::Everything, Which::Chat)),
        ExportFormat::Markdown => Wanted::Markdown(of_one()?),
        ExportFormat::Html => Wanted::Page(of_one()?),
        ExportFormat::Git => {
            let folder = args.output.as_deref();
            let folder =
                folder.ok_or_else(|| Failed::new(Exit::WrongUse, "say into which folder with --output DIR"))?;
            Wanted::Repository(of_one()?, folder)
        }
    };
    let parts = Parts { reasoning: args.reasoning.into(), tools: args.tools.into() };
    let failed = |error: ServiceError| match (error, &args.chat) {
        (ServiceError::NotFound, Some(chat)) => Failed::new(Exit::Failed, format_args!("there is no chat {chat}")),
        (error, _) => Failed::because("export", error),
    };
    block_on(async {
        // A command that only looks makes no installation, and brings none up to date.
        open_current(config).await?.close().await;
        let (service, owner, _) = installation::open_to_look(config).await?;
        let text = match wanted {
            Wanted::Archive(which) => {
                let out = Out::to(args.output.as_deref())?;
                return archive(&service, owner, which, out).await.map_err(failed)?;
            }
            Wanted::Repository(chat, folder) => {
                let written = service.export_git_folder(owner, chat, folder).await.map_err(failed)?;
                return written.map_err(|error| Failed::because(&format!("write into {}", folder.display()), error));
            }
            Wanted::Markdown(chat) => service.export_markdown(owner, chat, None, parts).await.map_err(failed)?,
            Wanted::Page(chat) => {
                let style = Site::open(config.site_root.as_deref()).style();
                let page = standalone(&service, style, owner, chat, None, parts).await;
                page.map_err(|error| Failed::because("export", error.detail()))?.into_bytes()
            }
        };
        let mut out = Out::to(args.output.as_deref())?;
        out.write(&text)?;
        out.end()
    })
}

/// What is written.
enum Wanted<'a> {
    Archive(Which),
    Markdown(ChatId),
    Page(ChatId),
    Repository(ChatId, &'a Path),
}

/// Ends with what the service says, and with what became of the file.
async fn archive(
    service: &Service,
    owner: UserId,
    which: Which,
    mut out: Out<'_>,
) -> Result<Result<(), Failed>, ServiceError> {
    let (send, mut receive) = mpsc::channel::<Bytes>(AHEAD);
    // What cannot be written is not waited for: its end goes with it, and nothing more is read.
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
        // It was read no further because of this.
        (Err(unwritten), _) => Ok(Err(unwritten)),
        (Ok(_), Err(unread)) => Err(unread),
        (Ok(out), Ok(damaged)) => {
            if damaged > 0 {
                // On standard output the archive itself may stand.
                eprintln!(
                    "{damaged} damaged values could not be exported: the archive names them, and `turnleaf fsck`"
                );
            }
            Ok(out.end())
        }
    }
}

/// Where it goes. A file is there once it is whole.
enum Out<'a> {
    Terminal(BufWriter<io::Stdout>),
    File(BufWriter<NamedTempFile>, &'a Path),
}

impl<'a> Out<'a> {
    fn to(file: Option<&'a Path>) -> Result<Self, Failed> {
        let Some(file) = file else { return Ok(Self::Terminal(BufWriter::new(io::stdout()))) };
        if file.exists() {
            return Err(Failed::new(Exit::Failed, format_args!("{} exists already", file.display())));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = NamedTempFile::new_in(folder);
        let made = made.map_err(|error| Failed::because(&format!("make {}", file.display()), error))?;
        Ok(Self::File(BufWriter::new(made), file))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failed> {
        match self {
            Self::Terminal(out) => out.write_all(bytes),
            Self::File(out, _) => out.write_all(bytes),
        }
        .map_err(unwritten)
    }

    fn end(self) -> Result<(), Failed> {
        match self {
            Self::Terminal(mut out) => out.flush().map_err(unwritten),
            Self::File(out, file) => {
                let made = out.into_inner().map_err(|error| unwritten(error.into_error()))?;
                let kept = made.persist_noclobber(file).map(drop).map_err(|error| error.error);
                kept.map_err(|error| Failed::because(&format!("make {}", file.display()), error))
            }
        }
    }
}

/// Nobody reads on: that is no failure of the export.
fn unwritten(error: io::Error) -> Failed {
    match error.kind() {
        ErrorKind::BrokenPipe => Failed::new(Exit::Failed, "nobody read to the end"),
        _ => Failed::because("write the export", error),
    }
}
