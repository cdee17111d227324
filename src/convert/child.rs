//! `turnleaf convert`: the process that reads one file. It binds itself before it reads anything: memory, time on the
//! processor, no files, no processes, and the [`sandbox`]. What breaks in it breaks nothing else.

use std::any::Any;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::wire::{self, Answer, Request};
use crate::{Article, Converted, Kind, Refused, archive, office, page, pdf, picture, sandbox, sheets, tidy};
use turnleaf_domain::limits;

/// Standard input, output and error, the answer's own, and some to spare.
const OPEN_FILES: u64 = 16;

/// Reads a request from standard input and answers on standard output (`wire`). Fails without an answer where it cannot
/// be bound or there is no request.
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
    bind()?;
    let mut output = output_of_its_own()?;
    let sandbox = sandbox::enter();
    let mut asked = Vec::new();
    let most = 4 + limits::CONVERT_HEAD_BYTES + limits::UPLOAD_BYTES;
    io::stdin().lock().take(most as u64).read_to_end(&mut asked)?;
    let (request, file) = wire::request(&asked).ok_or_else(|| io::Error::other("there is no request"))?;
    if request.is_markup() {
        bind_to(Resource::Cpu, limits::MARKUP_CPU.as_secs())?;
    }
    // A library's panic is an answer; nobody reads its words.
    std::panic::set_hook(Box::new(|_| {}));
    let read = catch_unwind(AssertUnwindSafe(|| match request {
        Request::File(kind) => read(kind, file),
        Request::Page { url } => {
            let article = page::article(markup(file)?, &url)?;
            tidy::bounded(article.text).map(|text| Answer::Page(Article { text, ..article }))
        }
        Request::Sandbox => Ok(Answer::Sandbox(sandbox)),
    }));
    output.write_all(&wire::answer(read.unwrap_or_else(|panic| Err(broken(&*panic)))))
}

fn broken(_: &(dyn Any + Send)) -> Refused {
    Refused::Damaged("its reader came upon something that it does not know".into())
}

/// Whatever a library prints goes where errors go, not into the answer.
fn output_of_its_own() -> io::Result<File> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(output.into())
}

fn bind() -> io::Result<()> {
    for (resource, most) in [
        (Resource::As, limits::CONVERT_MEMORY),
        (Resource::Cpu, limits::CONVERT_CPU.as_secs()),
        (Resource::Fsize, 0),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Core, 0),
        (Resource::Nproc, 0),
    ] {
        bind_to(resource, most)?;
    }
    Ok(())
}

fn bind_to(resource: Resource, most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(most, |allowed| allowed.min(most));
    match setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }) {
        // Elsewhere a system may not have every one of them.
        Err(error) if cfg!(target_os = "linux") => Err(error.into()),
        _ => Ok(()),
    }
}

fn read(kind: Kind, file: &[u8]) -> Result<Answer, Refused> {
    let converted = match kind {
        Kind::Png | Kind::Jpeg | Kind::Gif | Kind::WebP => return picture::read(kind, file).map(Answer::Picture),
        Kind::Pdf => pdf::read(file)?,
        Kind::Docx | Kind::Pptx => {
            archive::check(file)?;
            office::read(kind, file)?
        }
        Kind::Xlsx => {
            archive::check(file)?;
            sheets::read(file)?
        }
        Kind::Html => Converted { text: page::whole(markup(file)?)?, notes: Vec::new() },
        Kind::Markdown | Kind::Csv | Kind::Text => return Err(Refused::Unsupported("plain text".into())),
    };
    let text = tidy::bounded(tidy::read_out(&converted.text))?;
    match text.is_empty() {
        true => Err(Refused::NoText),
        false => Ok(Answer::Text(Converted { text, notes: converted.notes })),
    }
}

fn markup(file: &[u8]) -> Result<&str, Refused> {
    std::str::from_utf8(file).map_err(|_| Refused::Damaged("it is no UTF-8".into()))
}
