//! Writing an archive piece by piece: nothing longer than one turn, one call or one version of a document is held, but for
//! the few calls that later ones are written after.

use std::io::{self, Write};

use serde::Serialize;

use super::after::Bases;
use super::{ArchivedBlob, ArchivedBranch, ArchivedDocument, ArchivedGeneration, ArchivedVersion, Head};
use crate::domain::tool::ToolChoice;
use crate::domain::{Chat, Difference, Exchange, ImportedFrom, Turn};

/// Which list is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// A list of the whole archive, with whether something stands in it.
    List(List, bool),
    /// The versions of the document that is being written.
    Versions(bool),
    /// A list of the chat that is being written.
    Chat(OfChat, bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum List {
    Blobs,
    Documents,
    Chats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OfChat {
    Turns,
    Generations,
    Exchanges,
    Branches,
}

impl OfChat {
    fn opened(self) -> &'static [u8] {
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

/// Writes an archive. Blobs come first, then documents, then chats, each with its lists in their order: a call out of
/// order is an error.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    at: At,
    bases: Bases,
    damaged: Vec<Difference>,
}

impl<W: Write> Writer<W> {
    /// Begins an archive.
    pub fn begin(mut out: W, head: &Head) -> io::Result<Self> {
        let head = serde_json::to_vec(head)?;
        out.write_all(head.strip_suffix(b"}").unwrap_or(&head))?;
        out.write_all(b",\n\"blobs\":[")?;
        Ok(Self { out, at: At::List(List::Blobs, false), bases: Bases::default(), damaged: Vec::new() })
    }

    pub fn blob(&mut self, blob: &ArchivedBlob) -> io::Result<()> {
        self.reach_list(List::Blobs)?;
        self.element(blob)
    }

    pub fn document(&mut self, document: &ArchivedDocument) -> io::Result<()> {
        self.begin_document(document)?;
        self.end_document()
    }

    /// Begins a document; more of its versions follow, behind those that it has.
    pub fn begin_document(&mut self, document: &ArchivedDocument) -> io::Result<()> {
        self.reach_list(List::Documents)?;
        self.comma()?;
        // Its versions stand at its end.
        let text = serde_json::to_vec(document)?;
        self.out.write_all(text.strip_suffix(b"]}").unwrap_or(&text))?;
        self.at = At::Versions(!document.versions.is_empty());
        Ok(())
    }

    pub fn version(&mut self, version: &ArchivedVersion) -> io::Result<()> {
        match self.at {
            At::Versions(_) => self.element(version),
            _ => Err(out_of_order()),
        }
    }

    /// Ends the document.
    pub fn end_document(&mut self) -> io::Result<()> {
        let At::Versions(_) = self.at else { return Err(out_of_order()) };
        self.out.write_all(b"]}")?;
        self.at = At::List(List::Documents, true);
        Ok(())
    }

    /// Begins a chat with where it came from and which tools it offers; its lists follow.
    pub fn begin_chat(
        &mut self,
        chat: &Chat,
        imported_from: Option<&ImportedFrom>,
        tools: Option<&ToolChoice>,
    ) -> io::Result<()> {
        self.reach_list(List::Chats)?;
        self.comma()?;
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
        self.out.write_all(OfChat::Turns.opened())?;
        self.at = At::Chat(OfChat::Turns, false);
        Ok(())
    }

    pub fn turn(&mut self, turn: &Turn) -> io::Result<()> {
        self.reach_list_of_chat(OfChat::Turns)?;
        self.element(turn)
    }

    /// Writes a call: whole, or as what its request has that an earlier one of the chat has not.
    pub fn generation(&mut self, generation: ArchivedGeneration) -> io::Result<()> {
        self.reach_list_of_chat(OfChat::Generations)?;
        self.comma()?;
        self.bases.write(&mut self.out, generation)
    }

    pub fn exchange(&mut self, exchange: &Exchange) -> io::Result<()> {
        self.reach_list_of_chat(OfChat::Exchanges)?;
        self.element(exchange)
    }

    pub fn branch(&mut self, branch: &ArchivedBranch) -> io::Result<()> {
        self.reach_list_of_chat(OfChat::Branches)?;
        self.element(branch)
    }

    /// Names what could not be read of the chat that is being written, or of what stands beside the chats. It is written
    /// at the end of that.
    pub fn damaged(&mut self, damaged: Vec<Difference>) {
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
        self.reach_list_of_chat(OfChat::Branches)?;
        self.end_list()?;
        self.out.write_all(b"}")?;
        self.bases.clear();
        self.at = At::List(List::Chats, true);
        Ok(())
    }

    /// Ends the archive, and gives back what it was written into.
    pub fn end(mut self) -> io::Result<W> {
        self.reach_list(List::Chats)?;
        self.end_list()?;
        self.out.write_all(b"}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// What it is written into, for those who pass on what is there so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    fn reach_list(&mut self, wanted: List) -> io::Result<()> {
        let At::List(mut list, _) = self.at else { return Err(out_of_order()) };
        if list > wanted {
            return Err(out_of_order());
        }
        while list < wanted {
            let (next, opened): (List, &[u8]) = match list {
                List::Blobs => (List::Documents, b"],\n\"documents\":["),
                List::Documents | List::Chats => (List::Chats, b"],\n\"chats\":["),
            };
            self.out.write_all(opened)?;
            list = next;
            self.at = At::List(list, false);
        }
        Ok(())
    }

    fn reach_list_of_chat(&mut self, wanted: OfChat) -> io::Result<()> {
        let At::Chat(mut list, _) = self.at else { return Err(out_of_order()) };
        if list > wanted {
            return Err(out_of_order());
        }
        while list < wanted {
            list = list.next();
            self.out.write_all(list.opened())?;
            self.at = At::Chat(list, false);
        }
        Ok(())
    }

    fn element(&mut self, element: &impl Serialize) -> io::Result<()> {
        self.comma()?;
        serde_json::to_writer(&mut self.out, element)?;
        Ok(())
    }

    fn comma(&mut self) -> io::Result<()> {
        let (At::List(_, has_some) | At::Chat(_, has_some) | At::Versions(has_some)) = &mut self.at;
        let before: &[u8] = if std::mem::replace(has_some, true) { b",\n" } else { b"\n" };
        self.out.write_all(before)
    }
}

fn out_of_order() -> io::Error {
    io::Error::other("the parts of an archive are written in their order")
}
