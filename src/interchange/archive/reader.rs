//! Streams an archive element by element: blobs, then documents, then projects, then chats. Of a chat or a document
//! only the header is held in memory; turns, generations and versions are spooled to a file until the element is
//! complete.

use std::io::BufRead;
use std::ops::ControlFlow;

use super::resume_points::{self, ResumePoint};
use super::scan::{ArchiveScanner, ScanError};
use super::spool::Spool;
use super::spool_writer::{ChatSpooler, ReadHalt, SkippedElement, read_damaged, read_document, read_project};
use super::spooled_chat::ArchiveItem;
use super::{ArchivedBlob, CHATS, FORMAT, LISTS, VERSION};
use crate::bounds;
use crate::input::{Input, import_error};
use crate::report::{self, ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};
use turnleaf_domain::limits;
use turnleaf_domain::text::byte_size::ByteSize;

/// The member with the projects of the chats.
const PROJECTS: &str = "projects";

/// Returns the version if the beginning of a file is that of an archive.
pub(crate) fn detect_version(start: &str) -> Option<u32> {
    let rest = start.trim_start_matches('\u{feff}').trim_start();
    let after = |text: &'_ str, key: &str| text.find(&format!("\"{key}\"")).map(|at| at + key.len() + 2);
    let value =
        |key| after(rest, key).and_then(|at| rest.get(at..)?.trim_start().strip_prefix(':').map(str::trim_start));
    value("format")?.strip_prefix('"')?.strip_prefix(FORMAT)?.strip_prefix('"')?;
    let digits: String = value("version")?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Delivers the contents of an archive. Invalid elements are reported and skipped, and so is damage, as far as a
/// resume point can be found after it ([`resume_points`](super::resume_points)).
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let version = detect_version(&input.read_start(0)?).ok_or(ImportError::WrongFormat("a Turnleaf archive"))?;
    if version > VERSION {
        return Err(ImportError::NewerVersion(version));
    }
    let file = input.parts().all().first().map(|part| part.name.clone()).unwrap_or_default();
    let mut reading = ArchiveReading { file, ..ArchiveReading::default() };
    // One pass is enough, unless the lists are in another order.
    let mut first = Some(0);
    while let Some(next) = first {
        first = reading.walk(input, next, taker)?;
    }
    match reading.unreported_damage.take().filter(|_| !reading.is_damage_reported) {
        Some(reason) => reading.report(taker, IssueKind::Lost, String::new(), reason),
        None => Ok(()),
    }
}

/// State of reading an archive, which may take several passes.
#[derive(Default)]
struct ArchiveReading {
    file: String,
    /// A list was found.
    is_begun: bool,
    has_replacements: bool,
    /// Damage was reported; or damage was found in a list that another pass will report.
    is_damage_reported: bool,
    unreported_damage: Option<String>,
    /// It was reported that the rest is not read.
    is_cut: bool,
    /// The projects were read; archives of older versions have none.
    has_projects: bool,
    /// Total size of the requests stored as deltas and their bases, in bytes.
    whole: u64,
}

impl ArchiveReading {
    /// Reports an issue of the named element, or of the whole file if the name is empty.
    fn report(
        &mut self,
        taker: &mut dyn ImportSink,
        kind: IssueKind,
        conversation: String,
        text: String,
    ) -> Result<(), ImportError> {
        let place = IssueLocation { file: self.file.clone(), conversation, message: String::new() };
        report_issue(taker, ImportIssue { kind, location: place, text })
    }

    /// Scans the archive once and imports its lists from `next` on, as far as they are in order. Returns the first
    /// list that was passed before its turn.
    fn walk(
        &mut self,
        input: &mut Input,
        next: usize,
        taker: &mut dyn ImportSink,
    ) -> Result<Option<usize>, ImportError> {
        let mut walk = ArchiveWalk { at: next, awaited: next, ..ArchiveWalk::default() };
        let mut start = (0, WalkStart::File);
        let mut damages = 0;
        loop {
            let mut text = input.open_text(0)?;
            resume_points::skip(&mut text, start.0).map_err(import_error)?;
            let mut scan = ArchiveScanner::from_offset(text, start.0);
            let halted = walk.read_lists(&mut scan, start.1, self, taker);
            if scan.into_source().has_replacements() && !self.has_replacements {
                self.has_replacements = true;
                let text = report::REPLACED.to_owned();
                self.report(taker, IssueKind::PutRight, String::new(), text)?;
            }
            let (reason, is_json) = match halted {
                Ok(()) => break,
                Err(ReadHalt::Import(reason)) => return Err(reason),
                Err(ReadHalt::Scan(ScanError::Spool(error))) => return Err(ImportError::Spool(error)),
                Err(ReadHalt::Scan(ScanError::NotJson)) => (report::NOT_JSON_BEHIND.to_owned(), false),
                Err(ReadHalt::Scan(ScanError::Truncated)) => (report::ENDS_WITHIN.to_owned(), true),
                Err(ReadHalt::Scan(ScanError::Io(error))) => match import_error(error) {
                    ImportError::Damaged(reason) if self.is_begun => {
                        self.report_damage(&walk, next, report::damaged_from_here(&reason), taker)?;
                        break;
                    }
                    other => return Err(other),
                },
            };
            let mark = match resume_points::find_next(&mut input.open_text(0)?, walk.from, walk.number.map(|_| walk.at))
            {
                Ok(mark) => mark,
                Err(error) => match import_error(error) {
                    ImportError::Damaged(_) => None,
                    other => return Err(other),
                },
            };
            if !self.is_begun && mark.is_none() && !is_json {
                return Err(ImportError::WrongFormat("JSON"));
            }
            self.report_damage(&walk, next, reason, taker)?;
            start = match mark {
                None => break,
                Some((at, ResumePoint::List(_))) => (at, WalkStart::List),
                Some((at, ResumePoint::Element)) => (at, WalkStart::Element),
            };
            damages += 1;
            if damages == bounds::DAMAGES {
                self.report_cut(taker)?;
                break;
            }
        }
        Ok(walk.passed)
    }

    /// Reports that nothing after this many damages is read.
    fn report_cut(&mut self, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        if std::mem::replace(&mut self.is_cut, true) {
            return Ok(());
        }
        let text =
            format!("it is damaged in {} places: everything after the last of them was skipped", bounds::DAMAGES);
        self.report(taker, IssueKind::LeftOut, String::new(), text)
    }

    /// Handles damage. Damage within a list is reported by the pass that imports the list, damage elsewhere by the
    /// first pass.
    fn report_damage(
        &mut self,
        walk: &ArchiveWalk,
        next: usize,
        reason: String,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        if walk.number.is_none() && (walk.is_skipping || next > 0) {
            self.unreported_damage.get_or_insert(reason);
            return Ok(());
        }
        self.is_damage_reported = true;
        // Only a damaged chat counts as a conversation that is left out.
        let kind = if walk.number.is_some() && walk.at == CHATS { IssueKind::LeftOut } else { IssueKind::Lost };
        self.report(taker, kind, walk.label(""), reason)
    }
}

/// The position at which a pass starts, or resumes after damage.
#[derive(Clone, Copy)]
enum WalkStart {
    File,
    /// Before the name of a list.
    List,
    /// Before the next element of the current list.
    Element,
}

/// State of one pass.
#[derive(Default)]
struct ArchiveWalk {
    /// The list that is being imported, or comes next.
    at: usize,
    /// The list that may follow it.
    awaited: usize,
    /// The current element, from 1.
    number: Option<u64>,
    /// Offset of the current element or member.
    from: u64,
    /// True while the pass skips a list.
    is_skipping: bool,
    /// The first list that was passed before its turn.
    passed: Option<usize>,
}

impl ArchiveWalk {
    /// Returns the name of the current element for reports, with its title if that was read.
    fn label(&self, title: &str) -> String {
        let mut conversation = self.number.map(|number| format!("{} {number}", LISTS[self.at])).unwrap_or_default();
        if !title.is_empty() {
            conversation.push_str(", ");
            conversation.push_str(title);
        }
        conversation
    }

    /// Imports the lists that are in order.
    fn read_lists<R: BufRead>(
        &mut self,
        scan: &mut ArchiveScanner<R>,
        start: WalkStart,
        reading: &mut ArchiveReading,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ReadHalt> {
        match start {
            WalkStart::File if !scan.try_enter(b'{')? => return Err(ScanError::NotJson.into()),
            WalkStart::File | WalkStart::List => {}
            WalkStart::Element => self.read_elements(scan, reading, taker)?,
        }
        loop {
            (self.number, self.from) = (None, scan.offset());
            // If no member follows a skipped list, the list may have been damaged and ended elsewhere.
            let Some(name) = scan.next_member()? else { return Ok(()) };
            self.is_skipping = false;
            let list = LISTS.iter().position(|list| *list == name);
            reading.is_begun |= list.is_some();
            match list {
                // The list follows the imported one, or is the same one again.
                Some(list) if list == self.at || list == self.awaited => {
                    (self.at, self.awaited) = (list, list + 1);
                    if scan.try_enter(b'[')? {
                        self.read_elements(scan, reading, taker)?;
                    } else {
                        scan.skip_value()?;
                        reading.report(
                            taker,
                            IssueKind::Lost,
                            LISTS[list].to_owned(),
                            "it is not a list".to_owned(),
                        )?;
                    }
                }
                Some(list) => {
                    if list > self.at {
                        self.passed = Some(self.passed.map_or(list, |passed| passed.min(list)));
                    }
                    self.is_skipping = true;
                    scan.skip_value()?;
                }
                None if name == "damaged" => {
                    for one in read_damaged(scan)? {
                        reading.report(taker, one.kind, one.place, one.text)?;
                    }
                }
                // They are few, and no list of their own: archives without them need no further pass.
                None if name == PROJECTS && !reading.has_projects => read_projects(scan, reading, taker)?,
                None => scan.skip_value()?,
            }
        }
    }

    /// Imports the remaining elements of the current list.
    fn read_elements<R: BufRead>(
        &mut self,
        scan: &mut ArchiveScanner<R>,
        reading: &mut ArchiveReading,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ReadHalt> {
        let mut spool = None;
        for number in self.number.map_or(1, |number| number + 1).. {
            (self.number, self.from) = (Some(number), scan.offset());
            if !scan.has_element()? {
                break;
            }
            self.from = scan.offset();
            if number > bounds::CONVERSATIONS {
                let text = format!("there are more than {} {}", bounds::CONVERSATIONS, LISTS[self.at]);
                return Err(ImportError::TooLarge(text).into());
            }
            let item = match self.at {
                0 => read_blob(scan, &mut spool, taker)?.map(ArchiveItem::Blob),
                1 => read_document(scan, open_spool(taker)?)?.map(|document| ArchiveItem::Document(Box::new(document))),
                _ => ChatSpooler::new(open_spool(taker)?)
                    .read_chat(scan, &mut reading.whole)?
                    .map(|chat| ArchiveItem::Chat(Box::new(chat))),
            };
            if let Ok(ArchiveItem::Chat(chat)) = &item
                && chat.calls_without_request > 0
            {
                let place = self.label(&chat.chat.title);
                let text = format!(
                    "the requests of {} calls were skipped: together they are larger than {}",
                    chat.calls_without_request,
                    ByteSize(bounds::REASSEMBLED_BYTES)
                );
                reading.report(taker, IssueKind::Lost, place, text)?;
            }
            match item {
                Ok(item) => match taker.take_archived(item) {
                    ControlFlow::Continue(()) => {}
                    ControlFlow::Break(()) => return Err(ImportError::Cancelled.into()),
                },
                Err(SkippedElement { title, reason }) => {
                    let kind = if self.at == CHATS { IssueKind::LeftOut } else { IssueKind::Lost };
                    reading.report(taker, kind, self.label(&title), reason)?;
                }
            }
        }
        self.number = None;
        Ok(())
    }
}

/// Imports the projects, before the chats that are in them.
fn read_projects<R: BufRead>(
    scan: &mut ArchiveScanner<R>,
    reading: &mut ArchiveReading,
    taker: &mut dyn ImportSink,
) -> Result<(), ReadHalt> {
    reading.has_projects = true;
    if !scan.try_enter(b'[')? {
        scan.skip_value()?;
        reading.report(taker, IssueKind::Lost, PROJECTS.to_owned(), "it is not a list".to_owned())?;
        return Ok(());
    }
    for number in 1.. {
        if !scan.has_element()? {
            break;
        }
        if number > limits::PROJECTS {
            scan.skip_value()?;
            continue;
        }
        match read_project(scan)? {
            Ok(project) => {
                if taker.take_archived(ArchiveItem::Project(Box::new(project))).is_break() {
                    return Err(ImportError::Cancelled.into());
                }
            }
            Err(SkippedElement { reason, .. }) => {
                reading.report(taker, IssueKind::Lost, format!("{PROJECTS} {number}"), reason)?;
            }
        }
    }
    Ok(())
}

fn open_spool(taker: &mut dyn ImportSink) -> Result<Spool, ReadHalt> {
    Ok(Spool::new(taker.open_scratch().map_err(ImportError::Spool)?))
}

/// Reads the next blob. It is parsed at once, so all blobs share the same place in the spool.
fn read_blob<R: BufRead>(
    scan: &mut ArchiveScanner<R>,
    spool: &mut Option<Spool>,
    taker: &mut dyn ImportSink,
) -> Result<Result<ArchivedBlob, SkippedElement>, ReadHalt> {
    let spool = match spool {
        Some(spool) => spool,
        None => spool.insert(open_spool(taker)?),
    };
    let left_out = |reason| SkippedElement { title: String::new(), reason };
    spool.clear();
    let spot = match spool.take(scan)? {
        Ok(spot) => spot,
        Err(reason) => return Ok(Err(left_out(reason))),
    };
    match spool.read(spot) {
        Err(error) if error.is_io() => Err(ScanError::Spool(error.into()).into()),
        read => Ok(read.map_err(|error| left_out(error.to_string()))),
    }
}
