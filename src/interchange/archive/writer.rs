//! Streaming archive writer: only one turn, generation or document version is in memory, plus the few requests that
//! serve as delta bases.

use std::io::{self, Write};

use serde::Serialize;

use super::request_delta::DeltaBases;
use super::{ArchiveHead, ArchivedBlob, ArchivedBranch, ArchivedDocument, ArchivedGeneration, ArchivedVersion};
use crate::domain::tools::tool::ToolChoice;
use crate::domain::{Chat, Exchange, ImportDifference, ImportOrigin, Project, Turn};

/// The list that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WritePosition {
    /// A top-level list, and whether it has an element.
    List(ArchiveList, bool),
    /// The versions of the current document.
    Versions(bool),
    /// A list of the current chat.
    Chat(ChatList, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ArchiveList {
    Blobs,
    Documents,
    Projects,
    Chats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ChatList {
    Turns,
    Generations,
    Exchanges,
    Branches,
}

impl ChatList {
    fn opening(self) -> &'static [u8] {
        match self {
            Self::Turns => b",\n\"turns\":[",
            Self::Generations => b"],\n\"generations\":[",
            Self::Exchanges => b"],\n\"exchanges\":[",
            Self::Branches => b"],\n\"branches\":[",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Turns => Self::Generations,
            Self::Generations => Self::Exchanges,
            Self::Exchanges | Self::Branches => Self::Branches,
        }
    }
}

/// Writes an archive. Blobs come first, then documents, then projects, then chats, each with its lists in order; a call out of order
/// is an error.
#[derive(Debug)]
pub struct ArchiveWriter<W> {
    out: W,
    at: WritePosition,
    bases: DeltaBases,
    damaged: Vec<ImportDifference>,
}

impl<W: Write> ArchiveWriter<W> {
    /// Starts an archive.
    pub fn new(mut out: W, head: &ArchiveHead) -> io::Result<Self> {
        let head = serde_json::to_vec(head)?;
        out.write_all(head.strip_suffix(b"}").unwrap_or(&head))?;
        out.write_all(b",\n\"blobs\":[")?;
        Ok(Self {
            out,
            at: WritePosition::List(ArchiveList::Blobs, false),
            bases: DeltaBases::default(),
            damaged: Vec::new(),
        })
    }

    pub fn write_blob(&mut self, blob: &ArchivedBlob) -> io::Result<()> {
        self.reach_list(ArchiveList::Blobs)?;
        self.write_element(blob)
    }

    pub fn write_document(&mut self, document: &ArchivedDocument) -> io::Result<()> {
        self.start_document(document)?;
        self.end_document()
    }

    /// Starts a document; further versions may follow those that it contains.
    pub fn start_document(&mut self, document: &ArchivedDocument) -> io::Result<()> {
        self.reach_list(ArchiveList::Documents)?;
        self.write_comma()?;
        // The versions are the last member, so the list can stay open.
        let text = serde_json::to_vec(document)?;
        self.out.write_all(text.strip_suffix(b"]}").unwrap_or(&text))?;
        self.at = WritePosition::Versions(!document.versions.is_empty());
        Ok(())
    }

    pub fn write_version(&mut self, version: &ArchivedVersion) -> io::Result<()> {
        match self.at {
            WritePosition::Versions(_) => self.write_element(version),
            _ => Err(out_of_order()),
        }
    }

    /// Ends the document.
    pub fn end_document(&mut self) -> io::Result<()> {
        let WritePosition::Versions(_) = self.at else { return Err(out_of_order()) };
        self.out.write_all(b"]}")?;
        self.at = WritePosition::List(ArchiveList::Documents, true);
        Ok(())
    }

    /// Writes the projects of the chats, on one line: only the elements of the other lists begin lines. Without
    /// projects there is no list.
    pub fn write_projects(&mut self, projects: &[Project]) -> io::Result<()> {
        if projects.is_empty() {
            return Ok(());
        }
        self.reach_list(ArchiveList::Documents)?;
        let text = serde_json::to_vec(projects)?;
        self.out.write_all(b"],\n\"projects\":")?;
        self.out.write_all(text.strip_suffix(b"]").unwrap_or(&text))?;
        self.at = WritePosition::List(ArchiveList::Projects, true);
        Ok(())
    }

    /// Starts a chat with its import origin and its tool choice; its lists follow.
    pub fn start_chat(
        &mut self,
        chat: &Chat,
        imported_from: Option<&ImportOrigin>,
        tools: Option<&ToolChoice>,
    ) -> io::Result<()> {
        self.reach_list(ArchiveList::Chats)?;
        self.write_comma()?;
        self.out.write_all(b"{\"chat\":")?;
        serde_json::to_writer(&mut self.out, chat)?;
        if let Some(source) = imported_from {
            self.out.write_all(b",\n\"imported_from\":")?;
            serde_json::to_writer(&mut self.out, source)?;
        }
        if let Some(choice) = tools {
            self.out.write_all(b",\n\"tools\":")?;
            serde_json::to_writer(&mut self.out, choice)?;
        }
        self.out.write_all(ChatList::Turns.opening())?;
        self.at = WritePosition::Chat(ChatList::Turns, false);
        Ok(())
    }

    pub fn write_turn(&mut self, turn: &Turn) -> io::Result<()> {
        self.reach_list_of_chat(ChatList::Turns)?;
        self.write_element(turn)
    }

    /// Writes a generation: whole, or as a delta against an earlier one of the chat.
    pub fn write_generation(&mut self, generation: ArchivedGeneration) -> io::Result<()> {
        self.reach_list_of_chat(ChatList::Generations)?;
        self.write_comma()?;
        self.bases.write(&mut self.out, generation)
    }

    pub fn write_exchange(&mut self, exchange: &Exchange) -> io::Result<()> {
        self.reach_list_of_chat(ChatList::Exchanges)?;
        self.write_element(exchange)
    }

    pub fn write_branch(&mut self, branch: &ArchivedBranch) -> io::Result<()> {
        self.reach_list_of_chat(ChatList::Branches)?;
        self.write_element(branch)
    }

    /// Sets what could not be read of the current chat, or outside of the chats. It is written at the end of that
    /// object.
    pub fn set_damaged(&mut self, damaged: Vec<ImportDifference>) {
        self.damaged = damaged;
    }

    fn end_list(&mut self) -> io::Result<()> {
        self.out.write_all(b"]")?;
        let damaged = std::mem::take(&mut self.damaged);
        if !damaged.is_empty() {
            self.out.write_all(b",\n\"damaged\":")?;
            serde_json::to_writer(&mut self.out, &damaged)?;
        }
        Ok(())
    }

    /// Ends the chat.
    pub fn end_chat(&mut self) -> io::Result<()> {
        self.reach_list_of_chat(ChatList::Branches)?;
        self.end_list()?;
        self.out.write_all(b"}")?;
        self.bases.clear();
        self.at = WritePosition::List(ArchiveList::Chats, true);
        Ok(())
    }

    /// Ends the archive and returns the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.reach_list(ArchiveList::Chats)?;
        self.end_list()?;
        self.out.write_all(b"}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Returns the underlying writer, so that callers can drain it while the archive is written.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    fn reach_list(&mut self, wanted: ArchiveList) -> io::Result<()> {
        let WritePosition::List(mut list, _) = self.at else { return Err(out_of_order()) };
        if list > wanted {
            return Err(out_of_order());
        }
        while list < wanted {
            let (next, opened): (ArchiveList, &[u8]) = match list {
                ArchiveList::Blobs => (ArchiveList::Documents, b"],\n\"documents\":["),
                ArchiveList::Documents | ArchiveList::Projects | ArchiveList::Chats => {
                    (ArchiveList::Chats, b"],\n\"chats\":[")
                }
            };
            self.out.write_all(opened)?;
            list = next;
            self.at = WritePosition::List(list, false);
        }
        Ok(())
    }

    fn reach_list_of_chat(&mut self, wanted: ChatList) -> io::Result<()> {
        let WritePosition::Chat(mut list, _) = self.at else { return Err(out_of_order()) };
        if list > wanted {
            return Err(out_of_order());
        }
        while list < wanted {
            list = list.next();
            self.out.write_all(list.opening())?;
            self.at = WritePosition::Chat(list, false);
        }
        Ok(())
    }

    fn write_element(&mut self, element: &impl Serialize) -> io::Result<()> {
        self.write_comma()?;
        serde_json::to_writer(&mut self.out, element)?;
        Ok(())
    }

    fn write_comma(&mut self) -> io::Result<()> {
        let (WritePosition::List(_, has_some) | WritePosition::Chat(_, has_some) | WritePosition::Versions(has_some)) =
            &mut self.at;
        let before: &[u8] = if std::mem::replace(has_some, true) { b",\n" } else { b"\n" };
        self.out.write_all(before)
    }
}

fn out_of_order() -> io::Error {
    io::Error::other("the parts of an archive are written in their order")
}
