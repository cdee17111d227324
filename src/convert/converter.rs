//! Converts files: plain text in this process, everything else in a converter process that gets one file and is
//! killed when it takes too long, writes too much, or is dropped.

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

/// Runs conversions. Clones share their semaphores: at most [`limits::CONVERTS_AT_ONCE`] files at once, with separate
/// permits for fetched pages; further conversions wait for a limited time.
#[derive(Debug, Clone)]
pub struct Converter {
    program: Arc<Path>,
    places: Arc<Semaphore>,
    page_places: Arc<Semaphore>,
}

impl Converter {
    /// Creates a converter; `program` is Turnleaf's own executable, run as `turnleaf convert`.
    pub fn new(program: PathBuf) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        let (files, pages) = (places(limits::CONVERTS_AT_ONCE), places(limits::PAGE_CONVERTS_AT_ONCE));
        Self { program: program.into(), places: files, page_places: pages }
    }

    /// Returns a converter for tool results with its own permits, so that no upload waits for images of tools.
    pub fn for_tools(&self) -> Self {
        let places = Arc::new(Semaphore::new(limits::TOOL_PICTURES_AT_ONCE));
        Self { places, ..self.clone() }
    }

    /// Extracts the text of a file whose kind [`sniff`](crate::sniff) has detected. `encoding` is a WHATWG label that
    /// a person chose; a byte order mark overrides it.
    ///
    /// # Errors
    /// Every [`ConversionError`]; [`ConversionError::OutOfBounds`] also if the process could not be started.
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
            return Err(ConversionError::Unsupported("an image's text".into()));
        }
        let mut file = bytes;
        if kind.is_text() {
            let label = encoding.map(str::to_owned);
            // Decoding is CPU-bound and never awaits.
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

    /// Extracts the main content of a web page. The page is UTF-8, and `url` is its address.
    ///
    /// # Errors
    /// [`ConversionError::OutOfBounds`] if it is too large or takes too long, or if the process could not be started.
    pub async fn read_article(&self, html: Bytes, url: &str) -> Result<Article, ConversionError> {
        match self.ask(ConvertRequest::Page { url: url.to_owned() }, html, TEXT_ANSWER_BYTES).await? {
            ConvertResponse::Page(article) => Ok(article),
            _ => Err(ConversionError::OutOfBounds),
        }
    }

    /// Returns the sandbox layers that are in force for converter processes on this system, as such a process reports
    /// them.
    ///
    /// # Errors
    /// [`ConversionError::OutOfBounds`] if the process could not be started.
    pub async fn probe_sandbox(&self) -> Result<Sandbox, ConversionError> {
        match self.ask(ConvertRequest::Sandbox, Bytes::new(), TEXT_ANSWER_BYTES).await? {
            ConvertResponse::Sandbox(sandbox) => Ok(sandbox),
            _ => Err(ConversionError::OutOfBounds),
        }
    }

    /// Re-encodes an image without metadata, upright, in all stored variants. The output is deterministic.
    ///
    /// # Errors
    /// Every [`ConversionError`]; [`ConversionError::OutOfBounds`] also if the process could not be started.
    pub async fn read_picture(&self, kind: FileKind, bytes: Bytes) -> Result<ConvertedPicture, ConversionError> {
        if bytes.is_empty() {
            return Err(ConversionError::Empty);
        }
        if !kind.is_image() {
            return Err(ConversionError::Unsupported("something that is not an image".into()));
        }
        match self.ask(ConvertRequest::File(kind), bytes, PICTURE_ANSWER_BYTES).await? {
            ConvertResponse::Picture(picture) => Ok(picture),
            _ => Err(ConversionError::OutOfBounds),
        }
    }

    async fn ask(&self, request: ConvertRequest, file: Bytes, most: usize) -> Result<ConvertResponse, ConversionError> {
        let places = if matches!(request, ConvertRequest::Page { .. }) { &self.page_places } else { &self.places };
        let Ok(Ok(_place)) = timeout(limits::CONVERT_WAIT, places.acquire()).await else {
            tracing::warn!(file = request.name(), "too many files are being read; try again");
            return Err(ConversionError::OutOfBounds);
        };
        let reason = match timeout(limits::CONVERT_TIME, self.exchange(&request, file, most)).await {
            Ok(Ok(frame)) => match parse_answer(frame.into()) {
                Some(answer) => return answer,
                None => "no response could be read".to_owned(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it took longer than {} s", limits::CONVERT_TIME.as_secs()),
        };
        tracing::warn!(file = request.name(), reason, "a file was not read");
        Err(ConversionError::OutOfBounds)
    }

    /// Returns the output of the process if it exits successfully. The process is killed when this future completes
    /// or is dropped.
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
            // A process that stops reading early explains why in its answer, so write errors are ignored.
            let _ = input.write_all(&head).await;
            let _ = input.write_all(&file).await;
        };
        let read = async move {
            let mut answer = Vec::new();
            output.take(most as u64 + 1).read_to_end(&mut answer).await?;
            io::Result::Ok(answer)
        };
        tokio::pin!(write, read);
        let mut is_written = false;
        let answer = loop {
            tokio::select! {
                answer = &mut read => break answer?,
                () = &mut write, if !is_written => is_written = true,
            }
        };
        if answer.len() > most {
            return Err(io::Error::other(format!("its response exceeded {most} bytes")));
        }
        let status = reader.0.wait().await?;
        match status.success() {
            true => Ok(answer),
            false => Err(io::Error::other(status.to_string())),
        }
    }
}

/// A converter process. Dropping it kills its whole process group.
struct ReaderProcess(Child);

impl Drop for ReaderProcess {
    fn drop(&mut self) {
        // The pid, which is also the group id, is not reused until the process is reaped.
        if let Some(group) = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }
}
