//! Makes a conversation of the rows of a LobeHub chat.

use serde_json::Value;

use super::rows::{DEFAULT_TOPIC, LobehubChatRows};
use super::{keys, links, message};
use crate::conversation::Conversation;
use crate::reading::fields::{first_text, is_set, printable, text};
use crate::reading::message_builder;
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::order_messages;
use crate::report::IssueKind;

/// Builds the conversation; `None` if it has no messages.
pub(super) fn conversation(chat: &str, rows: &LobehubChatRows, notes: &mut ConversationNotes) -> Option<Conversation> {
    notes.set_conversation(chat);
    notes.add_messages_too_large(rows.left_out);
    let all = rows.messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let (nodes, current) = links::link_messages(all, &rows.threads, &message::names_of_calls(all), notes);
    let LobehubChatRows { topic, session, agent, threads, .. } = rows;
    let config = session.get("config").unwrap_or(agent);
    let (messages, current) = order_messages(nodes, current.as_deref(), notes);
    let (prompt, messages, current) = match text(config, "systemRole") {
        Some(prompt) => (prompt.to_owned(), messages, current),
        None => message_builder::split_system_prompt(messages, current),
    };
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    message_builder::report_missing_files(&messages, notes);
    keys::TOPIC.report_lost(topic, "", notes);
    threads.iter().for_each(|thread| keys::THREAD.report_lost(thread, "", notes));
    report_assistant(chat, rows, config, notes);
    let chosen = topic.get("metadata").and_then(|metadata| text(metadata, "model"));
    let times = || messages.iter().filter_map(|message| message.created_at);
    let (first, last) = (times().min(), times().max());
    Some(Conversation {
        source_id: chat.to_owned(),
        title: text(topic, "title").or_else(|| assistant_name(rows)).unwrap_or_default().to_owned(),
        system_prompt: prompt,
        created_at: notes.date(topic, "createdAt", "").or(first),
        updated_at: notes.date(topic, "updatedAt", "").or(last),
        model: chosen.or_else(|| text(config, "model")).map(str::to_owned),
        is_pinned: is_set(topic, "favorite"),
        current,
        messages,
        ..Conversation::default()
    })
}

/// Returns the name of the session or agent, which is also the title of its default topic.
fn assistant_name(rows: &LobehubChatRows) -> Option<&str> {
    let meta = rows.session.get("meta").unwrap_or(&Value::Null);
    first_text(meta, &["title"]).or_else(|| text(&rows.session, "title")).or_else(|| text(&rows.agent, "title"))
}

/// Reports what is not imported of the session or agent. Its instructions and its model are.
fn report_assistant(chat: &str, rows: &LobehubChatRows, config: &Value, notes: &mut ConversationNotes) {
    keys::SESSION.report_lost(&rows.session, "", notes);
    if let Some(config) = rows.session.get("config") {
        keys::AGENT.report_lost(config, "", notes);
    }
    keys::AGENT.report_lost(&rows.agent, "", notes);
    if let Some(name) = assistant_name(rows).filter(|_| !chat.starts_with(DEFAULT_TOPIC)) {
        notes.add_assistant(name);
    }
    let is_folder = |group: &&str| !matches!(*group, "default" | "pinned");
    if first_text(&rows.session, &["group", "groupId"]).filter(is_folder).is_some() {
        notes.add(IssueKind::Lost, "", "its folder is not imported");
    }
    let settings = config.get("params").and_then(Value::as_object).into_iter().flatten();
    let names: Vec<&str> = settings.filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        let names = printable(&names.join(", "), 200);
        notes.add(IssueKind::Lost, "", format!("its model parameters are not imported ({names})"));
    }
}
