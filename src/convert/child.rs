//! `turnleaf convert`: the process that converts one file. Before it reads anything, it limits its own memory and CPU
//! time, gives up files and processes, and enters the [`sandbox`]. A crash in it affects nothing else.

use std::any::Any;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::wire::{self, ConvertRequest, ConvertResponse};
use crate::{
    Article, ConversionError, ConvertedText, FileKind, archive, office, page, pdf, picture, sandbox, sheets,
    text_cleanup,
};
use turnleaf_domain::limits;

/// Standard input, output and error, the copy of standard output, and a few spare ones.
const OPEN_FILES: u64 = 16;

/// Reads a request from standard input and writes the answer to standard output (`wire`). Fails without an answer if
/// the limits cannot be set or there is no request.
pub fn run() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("turnleaf: no file was read: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer() -> io::Result<()> {
    limit_resources()?;
    let mut output = take_stdout()?;
    let sandbox = sandbox::enter();
    let mut input = Vec::new();
    let most = 4 + limits::CONVERT_HEAD_BYTES + limits::UPLOAD_BYTES;
    io::stdin().lock().take(most as u64).read_to_end(&mut input)?;
    let (request, file) = wire::parse_request(&input).ok_or_else(|| io::Error::other("there is no request"))?;
    if request.is_markup() {
        limit_resource(Resource::Cpu, limits::MARKUP_CPU.as_secs())?;
    }
    // A panic of a library becomes an error answer, so its message is not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let read = catch_unwind(AssertUnwindSafe(|| match request {
        ConvertRequest::File(kind) => read(kind, file),
        ConvertRequest::Page { url } => {
            let article = page::extract_article(markup(file)?, &url)?;
            text_cleanup::check_length(article.text).map(|text| ConvertResponse::Page(Article { text, ..article }))
        }
        ConvertRequest::Sandbox => Ok(ConvertResponse::Sandbox(sandbox)),
    }));
    output.write_all(&wire::encode_answer(read.unwrap_or_else(|panic| Err(panic_error(&*panic)))))
}

fn panic_error(_: &(dyn Any + Send)) -> ConversionError {
    ConversionError::Damaged("it contains something unsupported".into())
}

/// Redirects standard output to standard error, so that output of libraries cannot corrupt the answer.
fn take_stdout() -> io::Result<File> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(output.into())
}

fn limit_resources() -> io::Result<()> {
    for (resource, most) in [
        (Resource::As, limits::CONVERT_MEMORY),
        (Resource::Cpu, limits::CONVERT_CPU.as_secs()),
        (Resource::Fsize, 0),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Core, 0),
        (Resource::Nproc, 0),
    ] {
        limit_resource(resource, most)?;
    }
    Ok(())
}

fn limit_resource(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |allowed| allowed.min(most));
    match setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }) {
        // Other systems may lack some of these limits.
        Err(error) if cfg!(target_os = "linux") => Err(error.into()),
        _ => Ok(()),
    }
}

fn read(kind: FileKind, file: &[u8]) -> Result<ConvertResponse, ConversionError> {
    let converted = match kind {
        FileKind::Png | FileKind::Jpeg | FileKind::Gif | FileKind::WebP => {
            return picture::read(kind, file).map(ConvertResponse::Picture);
        }
        FileKind::Pdf => pdf::read(file)?,
        FileKind::Docx | FileKind::Pptx => {
            archive::check(file)?;
            office::read(kind, file)?
        }
        FileKind::Xlsx => {
            archive::check(file)?;
            sheets::read(file)?
        }
        FileKind::Html => ConvertedText { text: page::extract_all_text(markup(file)?)?, notes: Vec::new() },
        FileKind::Markdown | FileKind::Csv | FileKind::Text => {
            return Err(ConversionError::Unsupported("plain text".into()));
        }
    };
    let text = text_cleanup::check_length(text_cleanup::clean_extracted(&converted.text))?;
    match text.is_empty() {
        true => Err(ConversionError::NoText),
        false => Ok(ConvertResponse::Text(ConvertedText { text, notes: converted.notes })),
    }
}

fn markup(file: &[u8]) -> Result<&str, ConversionError> {
    std::str::from_utf8(file).map_err(|_| ConversionError::Damaged("it is not valid UTF-8".into()))
}
