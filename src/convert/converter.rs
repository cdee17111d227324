//! Reads files: plain text here, everything else in a process that is given one file and killed when it takes too long,
//! says too much, or is no longer waited for.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use bytes::Bytes;
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::sandbox::Sandbox;
use crate::wire::{
    ConvertRequest, ConvertResponse, PICTURE_ANSWER_BYTES, TEXT_ANSWER_BYTES, encode_frame, parse_answer,
};
use crate::{Article, ConversionError, ConvertedPicture, ConvertedText, FileKind, encoding, text_cleanup};
use turnleaf_domain::limits;
use turnleaf_platform::tasks;

/// Copies share their places: [`limits::CONVERTS_AT_ONCE`] files are read at once, and pages that were fetched have a place
/// of their own; the others wait for a time.
#[derive(Debug, Clone)]
pub struct Converter {
    program: Arc<Path>,
    places: Arc<Semaphore>,
    page_places: Arc<Semaphore>,
}

impl Converter {
    /// `program` is Turnleaf itself, of which `convert` is asked.
    pub fn new(program: PathBuf) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        let (files, pages) = (places(limits::CONVERTS_AT_ONCE), places(limits::PAGE_CONVERTS_AT_ONCE));
        Self { program: program.into(), places: files, page_places: pages }
    }

    /// The same for what tools bring, with places of its own: however many pictures that are, no upload waits for them.
    pub fn for_tools(&self) -> Self {
        let places = Arc::new(Semaphore::new(limits::TOOL_PICTURES_AT_ONCE));
        Self { places, ..self.clone() }
    }

    /// The text of a file that [`sniff`](crate::sniff) gave this kind. `encoding` is a label of the
    /// WHATWG's list that a person chose; a mark at the text's beginning beats it.
    ///
    /// # Errors
    /// Every [`Refused`]; [`Refused::OutOfBounds`] also where the process could not be started.
    pub async fn read_text(
        &self,
        kind: FileKind,
        bytes: Bytes,
        encoding: Option<&str>,
    ) -> Result<ConvertedText, ConversionError> {
        if bytes.is_empty() {
            return Err(ConversionError::Empty);
        }
        if kind.is_image() {
            return Err(ConversionError::Unsupported("a picture's text".into()));
        }
        let mut file = bytes;
        if kind.is_text() {
            let label = encoding.map(str::to_owned);
            // It takes a moment and never waits.
            let read = tasks::spawn_blocking(move || encoding::decode_text(kind, &file, label.as_deref())).await;
            let text = read.unwrap_or_else(|_| Err(ConversionError::Damaged("it could not be decoded".into())))?;
            if kind != FileKind::Html {
                return Ok(ConvertedText { text: text_cleanup::check_length(text)?, notes: Vec::new() });
            }
            file = Bytes::from(text);
            if file.len() > limits::UPLOAD_BYTES {
                return Err(text_cleanup::too_long());
            }
        }
        match self.ask(ConvertRequest::File(kind), file, TEXT_ANSWER_BYTES).await? {
            ConvertResponse::Text(text) => Ok(text),
            _ => Err(ConversionError::OutOfBounds),
        }
    }

    /// What a web page is about. It is UTF-8, and `url` is where it came from.
    ///
    /// # Errors
    /// [`Refused::OutOfBounds`] where it is too large or takes too long, or where the process could not be started.
    pub async fn read_article(&self, html: Bytes, url: &str) -> Result<Article, ConversionError> {
        match self.ask(ConvertRequest::Page { url: url.to_owned() }, html, TEXT_ANSWER_BYTES).await? {
            ConvertResponse::Page(article) => Ok(article),
            _ => Err(ConversionError::OutOfBounds),
        }
    }

    /// What the process that reads files is bound by here: it says so itself.
    ///
    /// # Errors
    /// [`Refused::OutOfBounds`] where the process could not be started.
    pub async fn probe_sandbox(&self) -> Result<Sandbox, ConversionError> {
        match self.ask(ConvertRequest::Sandbox, Bytes::new(), TEXT_ANSWER_BYTES).await? {
            ConvertResponse::Sandbox(sandbox) => Ok(sandbox),
            _ => Err(ConversionError::OutOfBounds),
        }
    }

    /// A picture without what its file hides, upright, in the forms that are kept. The same bytes give the same bytes.
    ///
    /// # Errors
    /// Every [`Refused`]; [`Refused::OutOfBounds`] also where the process could not be started.
    pub async fn read_picture(&self, kind: FileKind, bytes: Bytes) -> Result<ConvertedPicture, ConversionError> {
        if bytes.is_empty() {
            return Err(ConversionError::Empty);
        }
        if !kind.is_image() {
            return Err(ConversionError::Unsupported("what is no picture".into()));
        }
        match self.ask(ConvertRequest::File(kind), bytes, PICTURE_ANSWER_BYTES).await? {
            ConvertResponse::Picture(picture) => Ok(picture),
            _ => Err(ConversionError::OutOfBounds),
        }
    }

    async fn ask(&self, request: ConvertRequest, file: Bytes, most: usize) -> Result<ConvertResponse, ConversionError> {
        let places = if matches!(request, ConvertRequest::Page { .. }) { &self.page_places } else { &self.places };
        let Ok(Ok(_place)) = timeout(limits::CONVERT_WAIT, places.acquire()).await else {
            tracing::warn!(file = request.name(), "a file was not read: too many others were");
            return Err(ConversionError::OutOfBounds);
        };
        let why = match timeout(limits::CONVERT_TIME, self.exchange(&request, file, most)).await {
            Ok(Ok(frame)) => match parse_answer(frame.into()) {
                Some(answer) => return answer,
                None => "no answer could be read".to_owned(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it took longer than {} s", limits::CONVERT_TIME.as_secs()),
        };
        tracing::warn!(file = request.name(), why, "a file was not read");
        Err(ConversionError::OutOfBounds)
    }

    /// What the process says to a file, if it ends well. It is gone when this is over or dropped.
    async fn exchange(&self, request: &ConvertRequest, file: Bytes, most: usize) -> io::Result<Vec<u8>> {
        let mut command = Command::new(&*self.program);
        command.arg("convert").env_clear().current_dir("/").process_group(0).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut reader = ReaderProcess(command.spawn()?);
        let (Some(mut input), Some(output)) = (reader.0.stdin.take(), reader.0.stdout.take()) else {
            return Err(io::Error::other("it has no pipes"));
        };
        let head = encode_frame(request);
        let write = async move {
            // One that does not want all of it has its reasons in its answer.
            let _ = input.write_all(&head).await;
            let _ = input.write_all(&file).await;
        };
        let read = async move {
            let mut said = Vec::new();
            output.take(most as u64 + 1).read_to_end(&mut said).await?;
            io::Result::Ok(said)
        };
        tokio::pin!(write, read);
        let mut is_written = false;
        let said = loop {
            tokio::select! {
                said = &mut read => break said?,
                () = &mut write, if !is_written => is_written = true,
            }
        };
        if said.len() > most {
            return Err(io::Error::other(format!("it said more than {most} bytes")));
        }
        let status = reader.0.wait().await?;
        match status.success() {
            true => Ok(said),
            false => Err(io::Error::other(status.to_string())),
        }
    }
}

/// Dropping it kills it and all that came of it.
struct ReaderProcess(Child);

impl Drop for ReaderProcess {
    fn drop(&mut self) {
        // While it is not collected its number, which is its group's, is nobody else's.
        if let Some(group) = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }
}
