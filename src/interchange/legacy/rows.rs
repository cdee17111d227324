//! The rows of one conversation after the other, gathered until it is whole. More than one conversation is never held.

use uuid::Uuid;

use super::backfill::{self, Rows};
use super::{Field, Kind, Schema};
use crate::bounds;
use crate::conversation::Conversation;
use crate::notes::Notes;
use crate::report::{Finding, Place, What};

/// A row of any of the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The conversation it is in; empty where it leads to none. Rows of one conversation come together.
    pub conversation: String,
    pub kind: Kind,
    /// Its values, in the order of [`Field::ALL`], as the bytes of their text.
    pub values: [Option<Vec<u8>>; Field::ALL.len()],
}

impl Row {
    /// A value as text: what is no text is put right, what is too long is cut, and both are told.
    pub(super) fn text(&self, field: Field, notes: &mut Notes) -> Option<String> {
        let bytes = self.values[field as usize].as_deref()?;
        let cut = &bytes[..bytes.len().min(bounds::CELL_BYTES)];
        // A character that was cut through is none.
        let cut = match std::str::from_utf8(cut) {
            Err(why) if why.error_len().is_none() && cut.len() < bytes.len() => &cut[..why.valid_up_to()],
            _ => cut,
        };
        if cut.len() < bytes.len() {
            let text = format!("a value longer than {} bytes was cut", bounds::CELL_BYTES);
            notes.add(What::Lost, &self.place(), text);
        }
        let text = String::from_utf8_lossy(cut);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            notes.add(What::PutRight, &self.place(), "text that is not UTF-8 was read as far as it is");
        }
        Some(text.into_owned())
    }

    /// The id of a row, or of the row that it names: a GUID is written the same however the database keeps it.
    pub(super) fn id(&self, field: Field) -> Option<String> {
        let text = String::from_utf8_lossy(self.values[field as usize].as_deref()?);
        let text = text.trim();
        let id = Uuid::parse_str(text).map_or_else(|_| text.to_owned(), |id| id.hyphenated().to_string());
        Some(id).filter(|id| !id.is_empty())
    }

    /// How it is called in findings.
    pub(super) fn place(&self) -> String {
        let id = self.id(Field::Id).unwrap_or_default();
        format!("{} {}", self.kind.word(), shown(&id)).trim_end().to_owned()
    }

    fn bytes(&self) -> usize {
        self.values.iter().flatten().map(Vec::len).sum()
    }
}

/// An id as it is shown: a strange one may be of any length.
fn shown(id: &str) -> String {
    id.chars().take(80).collect()
}

/// How many rows of a table were read, and how many of them are not in what came out of it. Each of those is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub read: u64,
    pub left_out: u64,
}

/// A conversation that is whole, and what there is to tell of it.
#[derive(Debug, Default)]
pub struct Gathered {
    /// None where it could not be made, or where there are only rows that belong to none.
    pub conversation: Option<Conversation>,
    /// Conversations of the source that were left out.
    pub left_out: u64,
    pub findings: Vec<Finding>,
    /// By the number of the kind.
    pub counts: [Count; Kind::ALL.len()],
}

/// Takes rows and gives conversations.
#[derive(Debug)]
pub struct Gathering {
    schema: Schema,
    group: Option<Group>,
}

/// The rows of one conversation.
#[derive(Debug)]
struct Group {
    id: String,
    head: Option<Row>,
    rows: Rows,
    bytes: usize,
    is_too_large: bool,
    /// Rows that came and did not stay.
    dropped: Gathered,
    notes: Notes,
}

impl Gathering {
    pub fn new(schema: Schema) -> Self {
        Self { schema, group: None }
    }

    /// Takes a row. When it is of another conversation than the one before it, that one is whole.
    pub fn add(&mut self, row: Row) -> Option<Gathered> {
        let whole = match &self.group {
            Some(group) if group.id != row.conversation => self.end(),
            _ => None,
        };
        self.group.get_or_insert_with(|| Group::new(&row.conversation)).add(row);
        whole
    }

    /// The last conversation.
    pub fn end(&mut self) -> Option<Gathered> {
        self.group.take().map(|group| group.whole(self.schema))
    }
}

impl Group {
    fn new(id: &str) -> Self {
        let place = Place { conversation: shown(id), ..Place::default() };
        Self {
            id: id.to_owned(),
            head: None,
            rows: Rows::default(),
            bytes: 0,
            is_too_large: false,
            dropped: Gathered::default(),
            notes: Notes::new(place),
        }
    }

    fn add(&mut self, row: Row) {
        self.dropped.counts[row.kind.number()].read += 1;
        if row.kind == Kind::Conversation {
            return self.begin(row);
        }
        if self.head.is_none() {
            return self.drop_row(&row, "its conversation is not there");
        }
        let list = match row.kind {
            Kind::Turn | Kind::Conversation => &mut self.rows.turns,
            Kind::Message => &mut self.rows.messages,
            Kind::Call => &mut self.rows.calls,
            Kind::Thought => &mut self.rows.thoughts,
        };
        if list.len() >= bounds::MESSAGES {
            return self.drop_row(&row, "its conversation has more of them than are read");
        }
        self.bytes += row.bytes();
        if self.is_too_large {
            return;
        }
        list.push(row);
        if self.bytes > bounds::CONVERSATION_BYTES {
            // What was gathered is not needed any more.
            (self.is_too_large, self.rows) = (true, Rows::default());
        }
    }

    fn begin(&mut self, row: Row) {
        if row.id(Field::Id).is_none() {
            self.dropped.left_out += 1;
            self.drop_row(&row, "a conversation has no id");
        } else if self.head.is_some() {
            self.dropped.left_out += 1;
            self.drop_row(&row, "another conversation has the same id");
        } else {
            self.head = Some(row);
        }
    }

    fn drop_row(&mut self, row: &Row, why: &str) {
        self.dropped.counts[row.kind.number()].left_out += 1;
        self.notes.add(What::LeftOut, &row.place(), why);
    }

    fn whole(self, schema: Schema) -> Gathered {
        let Self { head, rows, is_too_large, dropped, mut notes, .. } = self;
        let Gathered { mut left_out, mut counts, .. } = dropped;
        let conversation = head.and_then(|head| {
            if is_too_large {
                let text = format!("the conversation is larger than {} bytes", bounds::CONVERSATION_BYTES);
                notes.add(What::LeftOut, "", text);
                return None;
            }
            backfill::conversation(schema, &head, rows, &mut counts, &mut notes)
        });
        let has_head = counts[Kind::Conversation.number()].read > left_out;
        if conversation.is_none() && has_head {
            left_out += 1;
            counts.iter_mut().for_each(|count| count.left_out = count.read);
        }
        Gathered { conversation, left_out, findings: notes.into_findings(), counts }
    }
}
