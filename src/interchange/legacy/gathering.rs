//! The rows of one conversation after the other, gathered until it is whole. More than one conversation is never held.

use super::backfill::{self, Rows};
use super::rows::{Count, Row, shown};
use super::{Field, Kind, Schema};
use crate::bounds;
use crate::conversation::Conversation;
use crate::notes::Notes;
use crate::report::{Finding, Place, What};

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
