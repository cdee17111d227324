//! Reading the file on a thread of its own: formats are read by plain code, which waits for the disk and for whoever
//! stores what it reads. At most a few conversations are on their way.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::jobs::Scratch;
use super::report::{BROKE_DOWN, Import, STOPPED};
use turnleaf_domain::size::Size;
use turnleaf_interchange::archive::{self, Item};
use turnleaf_interchange::conversation::Bytes;
use turnleaf_interchange::{Body, Conversation, Finding, Format, Input, Place, Stopped, Taker, What, bounds};
use turnleaf_platform::tasks::{self, Task};
use turnleaf_store::legacy::is_sqlite;

/// What was read.
pub(super) enum Read {
    Format(Format),
    /// Its files are within it, as far as they could be read.
    Conversation(Format, Box<Conversation>),
    Archived(Item),
    Finding(Finding),
}

/// What is read, in its order. Let go, it ends the reader.
pub(super) struct Reading {
    so_far: Arc<SoFar>,
    read: Receiver<Read>,
    reader: Task<Result<(), Stopped>>,
    _stop: DropGuard,
}

impl Reading {
    /// Begins to read. It ends when the file does, or when nobody takes what it reads.
    pub fn begin(import: &Import, scratch: Scratch, stop: CancellationToken) -> Self {
        let (import, heeded) = (import.clone(), stop.clone());
        let so_far = Arc::<SoFar>::default();
        let told = so_far.clone();
        Self::of(stop, so_far, move |send| match read(&import, scratch, &heeded, &told, send) {
            Err(_) if heeded.is_cancelled() => Err(Stopped::BrokenOff),
            ended => ended,
        })
    }

    /// How much of how much is read; nothing where that cannot be told.
    pub fn so_far(&self) -> Option<(u64, u64)> {
        let of = self.so_far.of.load(Ordering::Relaxed);
        (of > 0).then(|| (self.so_far.at.load(Ordering::Relaxed).min(of), of))
    }

    fn of(
        stop: CancellationToken,
        so_far: Arc<SoFar>,
        reader: impl FnOnce(&Sender<Read>) -> Result<(), Stopped> + Send + 'static,
    ) -> Self {
        let (send, read) = channel(1);
        Self { so_far, read, reader: tasks::spawn_blocking(move || reader(&send)), _stop: stop.drop_guard() }
    }

    pub async fn next(&mut self) -> Option<Read> {
        self.read.recv().await
    }

    /// Behind the last: why the file could not be read on; nothing where it was read to its end.
    pub async fn ended(self) -> Option<String> {
        match self.reader.await {
            Ok(Ok(())) => None,
            Ok(Err(Stopped::BrokenOff)) => Some(STOPPED.to_owned()),
            Ok(Err(why)) => Some(why.to_string()),
            Err(error) => {
                tracing::error!(%error, "the reader of an import broke down");
                Some(BROKE_DOWN.to_owned())
            }
        }
    }
}

/// How far the file is read. Of an archive, whose parts are read in an order of its own, nobody knows.
#[derive(Default)]
struct SoFar {
    at: AtomicU64,
    /// The length of the file; 0 while that says nothing.
    of: AtomicU64,
}

fn read(
    import: &Import,
    scratch: Scratch,
    stop: &CancellationToken,
    so_far: &Arc<SoFar>,
    send: &Sender<Read>,
) -> Result<(), Stopped> {
    if is_sqlite(&import.file)? {
        return Err(Stopped::Database);
    }
    let open = || {
        let file = Heeding { file: File::open(&import.file)?, stop: stop.clone(), at: 0, told: so_far.clone() };
        Input::open(&import.name, Box::new(file))
    };
    let mut input = open()?;
    let format = match import.format {
        Some(format) => format,
        None => turnleaf_interchange::detect(&mut input)?
            .ok_or(Stopped::NotThis("a file of a program that Turnleaf knows"))?,
    };
    if send.blocking_send(Read::Format(format)).is_err() {
        return Err(Stopped::BrokenOff);
    }
    // An input is busy while it is read for conversations.
    let files = if input.is_archive() { Some(open()?) } else { None };
    if files.is_none() {
        so_far.of.store(std::fs::metadata(&import.file)?.len(), Ordering::Relaxed);
    }
    turnleaf_interchange::read(format, &mut input, &mut Passing { format, files, scratch, send })
}

/// A file that can be read until somebody says that it is enough: a long element has no other end.
struct Heeding {
    file: File,
    stop: CancellationToken,
    at: u64,
    told: Arc<SoFar>,
}

impl Heeding {
    fn is_at(&mut self, at: u64) {
        self.at = at;
        self.told.at.store(at, Ordering::Relaxed);
    }
}

impl io::Read for Heeding {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_cancelled() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let read = self.file.read(into)?;
        self.is_at(self.at + read as u64);
        Ok(read)
    }
}

impl Seek for Heeding {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = self.file.seek(to)?;
        self.is_at(at);
        Ok(at)
    }
}

/// Passes on what is read.
struct Passing<'s> {
    format: Format,
    /// The same file, for what conversations bring along.
    files: Option<Input>,
    scratch: Scratch,
    send: &'s Sender<Read>,
}

impl Passing<'_> {
    fn pass(&self, read: Read) -> ControlFlow<()> {
        if self.send.blocking_send(read).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Reads the files of a conversation into it, each once, though several messages name it.
    fn bring_files(&mut self, conversation: &mut Conversation) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut brought: HashMap<String, Result<Arc<[u8]>, String>> = HashMap::new();
        let mut room = bounds::CONVERSATION_FILES_BYTES;
        for message in &mut conversation.messages {
            for piece in &mut message.pieces {
                let (Body::Picture { file, .. } | Body::Attachment { file }) = &mut piece.body else { continue };
                let Bytes::Entry(name) = &file.bytes else { continue };
                let name = name.clone();
                let read = brought.entry(name.clone()).or_insert_with(|| self.bring(&name, &mut room));
                match read {
                    Ok(bytes) => file.bytes = Bytes::Inline(bytes.clone()),
                    Err(why) => {
                        let place = Place {
                            file: name.clone(),
                            conversation: conversation.source_id.clone(),
                            message: message.source_id.clone(),
                        };
                        findings.push(Finding { what: What::Lost, place, text: format!("{}: {why}", file.name) });
                        file.bytes = Bytes::Absent(name);
                    }
                }
            }
        }
        findings
    }

    /// The bytes of a file, or why they are left out. `room` is what the conversation's files may still have.
    fn bring(&mut self, name: &str, room: &mut u64) -> Result<Arc<[u8]>, String> {
        let read = match &mut self.files {
            Some(files) => files.bytes(name, bounds::FILE_BYTES),
            None => Err(Stopped::Damaged("it did not come along".into())),
        };
        let bytes = read.map_err(|why| why.to_string())?;
        let Some(left) = room.checked_sub(bytes.len() as u64) else {
            let bound = Size(bounds::CONVERSATION_FILES_BYTES);
            return Err(format!("the files of its conversation are more than {bound}"));
        };
        *room = left;
        Ok(bytes.into())
    }
}

impl Taker for Passing<'_> {
    fn conversation(&mut self, conversation: Conversation) -> ControlFlow<()> {
        let mut conversation = turnleaf_interchange::joined(conversation);
        for finding in self.bring_files(&mut conversation) {
            self.pass(Read::Finding(finding))?;
        }
        self.pass(Read::Conversation(self.format, Box::new(conversation)))
    }

    fn archived(&mut self, item: Item) -> ControlFlow<()> {
        self.pass(Read::Archived(item))?;
        // Nothing more is read before it is taken: two large ones at once are enough.
        match Handle::current().block_on(self.send.reserve()) {
            Ok(_) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn scratch(&mut self) -> io::Result<Box<dyn archive::Scratch>> {
        Ok(Box::new(self.scratch.short()))
    }

    fn finding(&mut self, finding: Finding) -> ControlFlow<()> {
        self.pass(Read::Finding(finding))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::transfer::imports::ImportJobs;
    use turnleaf_platform::ids;

    #[tokio::test]
    async fn a_reader_that_breaks_down_is_told_and_no_end_of_the_file() {
        let mut reading = Reading::of(CancellationToken::new(), Arc::default(), |_| panic!("as a reader may"));
        assert!(reading.next().await.is_none());
        assert_eq!(reading.ended().await.as_deref(), Some(BROKE_DOWN));
        assert_eq!(Reading::of(CancellationToken::new(), Arc::default(), |_| Ok(())).ended().await, None);
    }

    #[tokio::test]
    async fn a_reader_ends_within_an_element_when_it_is_let_go() {
        let stop = CancellationToken::new();
        let (mut endless, heeded) = (zeros(&stop), stop.clone());
        let (ended, end) = tokio::sync::oneshot::channel();
        let reading = Reading::of(stop, Arc::default(), move |_| {
            let _ = ended.send(io::copy(&mut endless, &mut io::sink()).map_err(|error| error.kind()));
            Ok(())
        });
        drop(reading);
        assert_eq!(end.await.unwrap(), Err(io::ErrorKind::ConnectionAborted));
        assert!(heeded.is_cancelled());
        let mut one = [0];
        assert!(zeros(&heeded).read(&mut one).is_err());
    }

    fn zeros(stop: &CancellationToken) -> Heeding {
        Heeding { file: File::open("/dev/zero").unwrap(), stop: stop.clone(), at: 0, told: Arc::default() }
    }

    #[tokio::test]
    async fn how_far_a_file_is_read_is_known() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../interchange/samples/llama_cpp/list.json");
        let name = "list.json".to_owned();
        let import = Import { owner: ids::mint(), file: file.into(), name, format: None, dry_run: true };
        let mut reading = Reading::begin(&import, ImportJobs::default().scratch(), CancellationToken::new());
        while reading.next().await.is_some() {}
        let length = std::fs::metadata(file).unwrap().len();
        assert_eq!(reading.so_far(), Some((length, length)));
    }
}
