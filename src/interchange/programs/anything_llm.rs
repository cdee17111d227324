//! Reader for the chat exports of AnythingLLM: the rows of all workspaces as JSON or CSV, the messages of each workspace
//! as JSON lines, the training form for Alpaca, and the JSON export of one thread.
//!
//! Confirmed by the product's source (repository `Mintplex-Labs/anything-llm`):
//! - rows, lines and the training form: `server/utils/helpers/chat/convertTo.js`, also its earlier versions (columns in
//!   another order, `feedback`, text instead of parts, questions in `instruction`);
//! - the export of a thread: `chatHistoryToJSON` in `server/utils/chats/exportChatToFile.js`, which also names the tags
//!   of reasoning.
//!
//! Inferred: a row has no thread, so the rows of one person in a workspace are one chat; a date in CSV is printed as
//! JavaScript prints it. A line or a row of the training form has no id, so that of its chat is made of its beginning.
//!
//! Hand-written samples for the tests follow these definitions: `samples/anything_llm/`.

use serde_json::{Value, json};

use crate::bounds;
use crate::input::{Input, InputPart};
use crate::reading::export_entries::candidate_filter;
use crate::reading::fields::{content_id, text};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::{SeenConversations, read_each_part};
use crate::reading::table_spool::{RowBudget, TableSpool};
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

mod csv;
mod dates;
mod keys;
mod rows;
mod turns;

const ROWS: &str = "rows";
const TRAINING: &str = "training";

/// Returns whether the value is a row, a line or a thread of AnythingLLM.
pub(crate) fn is_record(value: &Value) -> bool {
    is_row(value) || rows::is_training(value) || turns::is_thread(value) || turns::is_plain_workspace(value)
}

fn is_row(value: &Value) -> bool {
    let has = |name: &str| value.get(name).is_some();
    has("prompt") && has("sent_at") && text(value, "workspace").is_some()
}

/// Returns whether a file is a table of rows in CSV.
pub(crate) fn has_table(input: &mut Input) -> Result<bool, ImportError> {
    let parts = input.parts();
    let is_table = |(at, part): &(usize, &InputPart)| *at == 0 || is_csv_name(part);
    for (at, _) in parts.all().iter().enumerate().filter(is_table).take(bounds::DETECT_PARTS) {
        match input.read_start(at) {
            Ok(start) if is_csv(&start) => return Ok(true),
            // One unreadable part does not decide about the others.
            Ok(_) | Err(ImportError::Damaged(_) | ImportError::TooLarge(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(false)
}

fn is_csv_name(part: &InputPart) -> bool {
    part.base_name().to_ascii_lowercase().ends_with(".csv")
}

/// Returns whether a text begins with the header of a table.
fn is_csv(start: &str) -> bool {
    let header = start.lines().next().unwrap_or_default();
    let columns: Vec<&str> = header.split(',').map(|name| name.trim().trim_matches('"')).collect();
    ["prompt", "response", "workspace", "sent_at"].iter().all(|name| columns.contains(name))
}

/// Reads all files.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let is_candidate = candidate_filter(input);
    let may_hold_chats = move |part: &InputPart| is_candidate(part) || is_csv_name(part);
    let mut seen = SeenConversations::default();
    read_each_part(input, taker, &may_hold_chats, &mut |input, part, taker| {
        let mut spool = TableSpool::new(taker)?;
        let is_csv = is_csv(&input.read_start(part)?);
        if is_csv {
            read_csv(input, part, &mut spool, taker)?;
        } else {
            read_json(input, part, &mut spool, &mut seen, taker)?;
        }
        let file = input.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
        let place = || IssueLocation { file: file.clone(), ..IssueLocation::default() };
        let mut first_user = None;
        for chat in spool.keys(ROWS) {
            let mut budget = RowBudget::default();
            let rows = spool.rows(ROWS, &chat, &mut budget)?;
            let mut notes = ConversationNotes::new(place());
            let conversation = rows::conversation(&chat, &rows, &mut first_user, &mut notes);
            notes.add_messages_too_large(budget.left_out);
            if is_csv {
                notes.add(IssueKind::Lost, "", "the line breaks of its messages are not in the export");
            }
            seen.deliver(conversation, &rows, notes, taker)?;
        }
        for chat in spool.keys(TRAINING) {
            let mut budget = RowBudget::default();
            let rows = spool.rows(TRAINING, &chat, &mut budget)?;
            let mut notes = ConversationNotes::new(place());
            let conversation = rows::training_conversation(&chat, &rows, &mut notes);
            notes.add_messages_too_large(budget.left_out);
            seen.deliver(conversation, &rows, notes, taker)?;
        }
        Ok(())
    })
}

/// Reads the rows of a table, with the names of its columns as keys.
fn read_csv(
    input: &mut Input,
    part: usize,
    spool: &mut TableSpool,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    let file = input.parts().all().get(part).map(|part| part.name.clone()).unwrap_or_default();
    let mut records = csv::CsvRecords::new(input.open_text(part)?);
    let columns = records.next()?.and_then(Result::ok).unwrap_or_default();
    let mut number = 0_u64;
    while let Some(record) = records.next()? {
        number += 1;
        let row: Value = match record {
            Ok(fields) => columns.iter().cloned().zip(fields.into_iter().map(Value::from)).collect(),
            Err(reason) => {
                let location =
                    IssueLocation { message: format!("row {number}"), file: file.clone(), ..IssueLocation::default() };
                report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location, text: reason })?;
                continue;
            }
        };
        spool.add(ROWS, rows::chat_of_row(&row), &row)?;
    }
    Ok(())
}

/// Reads a JSON file: rows are collected, everything else is a chat of its own.
fn read_json(
    input: &mut Input,
    part: usize,
    spool: &mut TableSpool,
    seen: &mut SeenConversations,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    let read = input.for_each_element(part, &[], taker, &mut |value, place, taker| {
        if is_row(&value) {
            return spool.add(ROWS, rows::chat_of_row(&value), &value);
        }
        if rows::is_training(&value) {
            return spool.add(TRAINING, content_id(&json!(rows::instructions(&value))), &value);
        }
        let mut notes = ConversationNotes::new(place);
        let conversation = match turns::is_thread(&value) || turns::is_workspace(&value) {
            true => turns::conversation(&value, &mut notes),
            false => {
                notes.add(IssueKind::LeftOut, "", "it is not a chat of AnythingLLM");
                None
            }
        };
        seen.deliver(conversation, &value, notes, taker)
    });
    read.map(drop)
}

#[cfg(test)]
mod tests;
