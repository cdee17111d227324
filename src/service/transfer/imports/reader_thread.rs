//! Parses the file on a thread of its own: format readers are synchronous, and block on the disk and on the task that
//! stores what they read. The bounded channel provides backpressure: at most a few conversations are in memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::folder::open_folder;
use super::report::ImportRequest;
use super::spool::ImportScratch;
use super::stop_reasons::{SUPPORTED_FILE, stop_reason};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{CodedMessage, MessageCode, ModelLock};
use turnleaf_interchange::archive::{self, ArchiveItem};
use turnleaf_interchange::conversation::FileBytes;
use turnleaf_interchange::git;
use turnleaf_interchange::input::Seekable;
use turnleaf_interchange::{
    Conversation, ImportError, ImportFormat, ImportIssue, ImportSink, Input, IssueKind, IssueLocation, PieceBody,
    bounds,
};
use turnleaf_platform::tasks::{self, Task};
use turnleaf_store::transfer::legacy::is_sqlite_file;

/// An item of the file.
pub(super) enum ReadItem {
    Format(ImportFormat),
    /// A conversation with its files, as far as they could be read.
    Conversation(ImportFormat, Box<Conversation>),
    Archived(ArchiveItem),
    Finding(ImportIssue),
}

/// Returns the default model of a provider.
pub(super) type DefaultModelLookup = Box<dyn Fn(&str) -> Option<String> + Send>;

/// The resources of the installation that the reader thread needs.
pub(super) struct ImportSurroundings {
    pub scratch: ImportScratch,
    /// The lock of branches whose source names no provider and model.
    pub default_lock: ModelLock,
    pub default_model: DefaultModelLookup,
}

/// The receiver of the parsed items, in order. Dropping it stops the reader thread.
pub(super) struct ImportReader {
    progress: Arc<ReadProgress>,
    read: Receiver<ReadItem>,
    reader: Task<Result<(), ImportError>>,
    _stop: DropGuard,
}

impl ImportReader {
    /// Starts the reader thread. It ends with the file, or when the receiver is dropped.
    pub fn start(import: &ImportRequest, surroundings: ImportSurroundings, stop: CancellationToken) -> Self {
        let (import, heeded) = (import.clone(), stop.clone());
        let so_far = Arc::<ReadProgress>::default();
        let progress = so_far.clone();
        Self::spawn(stop, so_far, move |send| match read(&import, surroundings, &heeded, &progress, send) {
            Err(_) if heeded.is_cancelled() => Err(ImportError::Cancelled),
            ended => ended,
        })
    }

    /// Returns the bytes read and the length of the file; `None` when unknown.
    pub fn progress(&self) -> Option<(u64, u64)> {
        let of = self.progress.of.load(Ordering::Relaxed);
        (of > 0).then(|| (self.progress.at.load(Ordering::Relaxed).min(of), of))
    }

    fn spawn(
        stop: CancellationToken,
        so_far: Arc<ReadProgress>,
        reader: impl FnOnce(&Sender<ReadItem>) -> Result<(), ImportError> + Send + 'static,
    ) -> Self {
        let (send, read) = channel(1);
        Self { progress: so_far, read, reader: tasks::spawn_blocking(move || reader(&send)), _stop: stop.drop_guard() }
    }

    pub async fn next(&mut self) -> Option<ReadItem> {
        self.read.recv().await
    }

    /// Call after the last item: returns why the file could not be read further; `None` when it was read to its end.
    pub async fn finish(self) -> Option<CodedMessage> {
        match self.reader.await {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(stop_reason(&reason)),
            Err(error) => {
                tracing::error!(%error, "the import reader failed");
                Some(MessageCode::ImportCrashed.into())
            }
        }
    }
}

/// The progress of reading. It is unknown for archives, whose parts are read in an order of their own.
#[derive(Default)]
struct ReadProgress {
    at: AtomicU64,
    /// The length of the file; 0 while unknown.
    of: AtomicU64,
}

fn read(
    import: &ImportRequest,
    surroundings: ImportSurroundings,
    stop: &CancellationToken,
    so_far: &Arc<ReadProgress>,
    send: &Sender<ReadItem>,
) -> Result<(), ImportError> {
    let is_folder = std::fs::metadata(&import.file)?.is_dir();
    let is_git = import.format == Some(ImportFormat::Git) || import.format.is_none() && git::is_folder(&import.file);
    if is_folder && is_git {
        return read_repository(import, surroundings, stop, send);
    }
    if !is_folder && is_sqlite_file(&import.file)? {
        return Err(ImportError::Database);
    }
    let open = || {
        if is_folder {
            let stop = stop.clone();
            let wrap = move |file| -> Box<dyn io::Read> {
                Box::new(StoppableFile { file, stop: stop.clone(), at: 0, progress: Arc::default() })
            };
            return open_folder(&import.file, wrap);
        }
        Input::open(&import.name, Box::new(StoppableFile::open(&import.file, stop, so_far.clone())?))
    };
    let mut input = open()?;
    let format = match import.format {
        Some(format) => format,
        None => turnleaf_interchange::detect(&mut input)?.ok_or(ImportError::WrongFormat(SUPPORTED_FILE))?,
    };
    if send.blocking_send(ReadItem::Format(format)).is_err() {
        return Err(ImportError::Cancelled);
    }
    // The input is borrowed while its conversations are read, so files need a second one.
    let files = if input.is_archive() { Some(open()?) } else { None };
    if files.is_none() {
        so_far.of.store(std::fs::metadata(&import.file)?.len(), Ordering::Relaxed);
    }
    let mut sink = ChannelSink { format, files, surroundings, send };
    turnleaf_interchange::read_with(format, &import.options, &mut input, &mut sink)
}

/// Reads a folder with a git repository. Its progress is unknown.
fn read_repository(
    import: &ImportRequest,
    surroundings: ImportSurroundings,
    stop: &CancellationToken,
    send: &Sender<ReadItem>,
) -> Result<(), ImportError> {
    let format = ImportFormat::Git;
    if send.blocking_send(ReadItem::Format(format)).is_err() {
        return Err(ImportError::Cancelled);
    }
    let open = |path: &Path| -> io::Result<Box<dyn Seekable>> {
        Ok(Box::new(StoppableFile::open(path, stop, Arc::default())?))
    };
    git::read_folder(&import.file, &open, &mut ChannelSink { format, files: None, surroundings, send })
}

/// A file whose reads fail once the import is stopped, which is the only way to interrupt a long element.
struct StoppableFile {
    file: File,
    stop: CancellationToken,
    at: u64,
    progress: Arc<ReadProgress>,
}

impl StoppableFile {
    fn open(path: &Path, stop: &CancellationToken, progress: Arc<ReadProgress>) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, stop: stop.clone(), at: 0, progress })
    }

    fn set_position(&mut self, at: u64) {
        self.at = at;
        self.progress.at.store(at, Ordering::Relaxed);
    }
}

impl io::Read for StoppableFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let read = self.file.read(into)?;
        self.set_position(self.at + read as u64);
        Ok(read)
    }
}

impl Seek for StoppableFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = self.file.seek(to)?;
        self.set_position(at);
        Ok(at)
    }
}

/// The sink that sends parsed items into the channel.
struct ChannelSink<'s> {
    format: ImportFormat,
    /// A second input of the same file, for the files of conversations.
    files: Option<Input>,
    surroundings: ImportSurroundings,
    send: &'s Sender<ReadItem>,
}

impl ChannelSink<'_> {
    fn pass(&self, read: ReadItem) -> ControlFlow<()> {
        if self.send.blocking_send(read).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Reads the files of a conversation into it, each once, even if several messages name it.
    fn read_files(&mut self, conversation: &mut Conversation) -> Vec<ImportIssue> {
        let mut findings = Vec::new();
        let mut brought: HashMap<String, Result<Arc<[u8]>, String>> = HashMap::new();
        let mut room = bounds::CONVERSATION_FILES_BYTES;
        for message in &mut conversation.messages {
            for piece in &mut message.pieces {
                let (PieceBody::Picture { file, .. } | PieceBody::Attachment { file }) = &mut piece.body else {
                    continue;
                };
                let FileBytes::Entry(name) = &file.bytes else { continue };
                let name = name.clone();
                let read = brought.entry(name.clone()).or_insert_with(|| self.read_file(&name, &mut room));
                match read {
                    Ok(bytes) => file.bytes = FileBytes::Inline(bytes.clone()),
                    Err(error) => {
                        let place = IssueLocation {
                            file: name.clone(),
                            conversation: conversation.source_id.clone(),
                            message: message.source_id.clone(),
                        };
                        findings.push(ImportIssue {
                            kind: IssueKind::Lost,
                            location: place,
                            text: format!("{}: {error}", file.name),
                        });
                        file.bytes = FileBytes::Absent(name);
                    }
                }
            }
        }
        findings
    }

    /// Returns the bytes of a file, or why it is left out. `room` is the number of bytes that the conversation's
    /// files may still take.
    fn read_file(&mut self, name: &str, room: &mut u64) -> Result<Arc<[u8]>, String> {
        let read = match &mut self.files {
            Some(files) => files.read_part(name, bounds::FILE_BYTES),
            None => Err(ImportError::Damaged("it is not in the export".into())),
        };
        let bytes = read.map_err(|error| error.to_string())?;
        let Some(left) = room.checked_sub(bytes.len() as u64) else {
            let bound = ByteSize(bounds::CONVERSATION_FILES_BYTES);
            return Err(format!("the files of its conversation exceed {bound}"));
        };
        *room = left;
        Ok(bytes.into())
    }
}

impl ImportSink for ChannelSink<'_> {
    fn take_conversation(&mut self, conversation: Conversation) -> ControlFlow<()> {
        let mut conversation = turnleaf_interchange::merge_replies(conversation);
        for finding in self.read_files(&mut conversation) {
            self.pass(ReadItem::Finding(finding))?;
        }
        self.pass(ReadItem::Conversation(self.format, Box::new(conversation)))
    }

    fn take_archived(&mut self, item: ArchiveItem) -> ControlFlow<()> {
        self.pass(ReadItem::Archived(item))?;
        // Waits until the item is taken, because two large items in memory are enough.
        match Handle::current().block_on(self.send.reserve()) {
            Ok(_) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn open_scratch(&mut self) -> io::Result<Box<dyn archive::ScratchFile>> {
        Ok(Box::new(self.surroundings.scratch.new_spool()))
    }

    fn default_lock(&self) -> ModelLock {
        self.surroundings.default_lock.clone()
    }

    fn default_model(&self, provider: &str) -> Option<String> {
        (self.surroundings.default_model)(provider)
    }

    fn take_issue(&mut self, finding: ImportIssue) -> ControlFlow<()> {
        self.pass(ReadItem::Finding(finding))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::transfer::imports::ImportJobs;
    use turnleaf_platform::ids;

    #[tokio::test]
    async fn reader_panic_is_reported_and_is_no_end_of_file() {
        let mut reading = ImportReader::spawn(CancellationToken::new(), Arc::default(), |_| panic!("as a reader may"));
        assert!(reading.next().await.is_none());
        assert_eq!(reading.finish().await, Some(MessageCode::ImportCrashed.into()));
        assert_eq!(ImportReader::spawn(CancellationToken::new(), Arc::default(), |_| Ok(())).finish().await, None);
    }

    #[tokio::test]
    async fn reader_ends_within_element_when_dropped() {
        let stop = CancellationToken::new();
        let (mut endless, heeded) = (zeros(&stop), stop.clone());
        let (ended, end) = tokio::sync::oneshot::channel();
        let reading = ImportReader::spawn(stop, Arc::default(), move |_| {
            let _ = ended.send(io::copy(&mut endless, &mut io::sink()).map_err(|error| error.kind()));
            Ok(())
        });
        drop(reading);
        assert_eq!(end.await.unwrap(), Err(io::ErrorKind::ConnectionAborted));
        assert!(heeded.is_cancelled());
        let mut one = [0];
        assert!(zeros(&heeded).read(&mut one).is_err());
    }

    fn zeros(stop: &CancellationToken) -> StoppableFile {
        StoppableFile { file: File::open("/dev/zero").unwrap(), stop: stop.clone(), at: 0, progress: Arc::default() }
    }

    #[tokio::test]
    async fn read_progress_is_known() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../interchange/samples/llama_cpp/list.json");
        let name = "list.json".to_owned();
        let import = ImportRequest {
            owner: ids::mint(),
            file: file.into(),
            name,
            format: None,
            options: Default::default(),
            dry_run: true,
        };
        let (scratch, default_lock) = (ImportJobs::default().scratch_files(), ModelLock::new("demo", "demo"));
        let surroundings = ImportSurroundings { scratch, default_lock, default_model: Box::new(|_| None) };
        let mut reading = ImportReader::start(&import, surroundings, CancellationToken::new());
        while reading.next().await.is_some() {}
        let length = std::fs::metadata(file).unwrap().len();
        assert_eq!(reading.progress(), Some((length, length)));
    }
}
