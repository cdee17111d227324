//! Reader for LibreChat's JSON export of conversations: one file per conversation, or an archive of such files.
//!
//! Confirmed by the product's source (repository `danny-avila/LibreChat`):
//! - the file: `client/src/hooks/Conversations/useExportConversation.ts` (`conversationId`, `endpoint`, `title`,
//!   `exportAt`, `branches`, `recursive`, `options`, then `messages`, or `messagesTree` in older versions);
//! - flat or nested messages: `client/src/hooks/Messages/useBuildMessageTree.ts`;
//! - the messages: `packages/data-schemas/src/schema/message.ts`, `packages/data-provider/src/schemas.ts`;
//! - their parts: `packages/data-provider/src/types/{assistants,agents,runs,files,web}.ts`;
//! - samples: `api/server/utils/import/__data__/librechat-{export,tree,opts-nonr-branches}.json`;
//! - `:::thinking` fences: `client/src/components/Chat/Messages/Content/MessageContent.tsx`;
//! - source marks in a text: `client/src/utils/citations.ts` (see `citations`).
//!
//! Inferred: `tokenCount` and `promptTokens` of a reply are its output and input; `unfinished` means stopped; a model
//! named `agent_…` or `asst_…` is an id, and the sender's name is more useful. The export does not record which
//! message was displayed last (the newest is assumed), durations, or when the conversation was created (its messages
//! show it); `exportAt` has no date. Files are never included.
//!
//! Hand-written samples for the tests follow these definitions: `samples/librechat/`.

use std::collections::HashMap;

use serde_json::Value;

use crate::conversation::{Conversation, ImportedMessage};
use crate::domain::turns::turn::Role;
use crate::input::Input;
use crate::input::nested::PARENT_MEMBER;
use crate::reading::export_entries::candidate_filter;
use crate::reading::fields::{content_id, count, first_text, id, is_set, list, printable, text};
use crate::reading::message_builder;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::read_parts;
use crate::reading::tree::{SourceNode, order_messages};
use crate::reading::unique_ids::UniqueIds;
use crate::report::IssueKind;
use crate::sink::{ImportError, ImportSink};

mod citations;
mod content;
mod keys;
mod plugins;

/// The parent id of a root message.
const NO_PARENT: &str = "00000000-0000-0000-0000-000000000000";

/// Returns whether the value is a conversation of LibreChat.
pub(crate) fn is_conversation(value: &Value) -> bool {
    let all = messages(value);
    value.get("conversationId").is_some()
        && (value.get("exportAt").is_some() || all.iter().any(|message| message.get("messageId").is_some()))
        && (value.get("messages").is_some_and(Value::is_array)
            || value.get("messagesTree").is_some_and(Value::is_array))
}

/// Reads all files.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let may_hold_chats = candidate_filter(input);
    read_parts(input, taker, &[], &may_hold_chats, &mut conversation)
}

fn messages(value: &Value) -> &[Value] {
    let flat = list(value, "messages");
    if flat.is_empty() { list(value, "messagesTree") } else { flat }
}

/// Reads one conversation.
pub(crate) fn conversation(value: &Value, notes: &mut ConversationNotes) -> Option<Conversation> {
    if !is_conversation(value) {
        notes.add(IssueKind::LeftOut, "", "it is not a conversation of LibreChat");
        return None;
    }
    let source_id = id(value, "conversationId").unwrap_or_else(|| content_id(value));
    notes.set_conversation(&source_id);
    let options = value.get("options").unwrap_or(&Value::Null);
    let endpoint = text(value, "endpoint").or_else(|| text(options, "endpoint"));
    let nodes =
        flatten_messages(messages(value), notes).into_iter().map(|nested| node(&nested, endpoint, notes)).collect();
    let (messages, current) = order_messages(nodes, None, notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    message_builder::report_missing_files(&messages, notes);
    keys::CONVERSATION.report_lost(value, "", notes);
    tell_settings(options, notes);
    let prompt = first_text(options, &["promptPrefix", "system", "instructions"]).unwrap_or_default();
    let times = || messages.iter().filter_map(|message| message.created_at);
    Some(Conversation {
        source_id,
        title: text(value, "title").unwrap_or_default().to_owned(),
        system_prompt: prompt.to_owned(),
        created_at: times().min(),
        updated_at: times().max(),
        model: text(options, "model").map(str::to_owned),
        current,
        is_pinned: false,
        is_archived: is_set(value, "isArchived"),
        messages,
    })
}

/// Reports the settings of a preset by their names.
fn tell_settings(options: &Value, notes: &mut ConversationNotes) {
    let is_setting = |(name, value): &(&String, &Value)| {
        let is_listed = keys::OPTIONS_READ.contains(&name.as_str()) || keys::OPTIONS_IGNORED.contains(&name.as_str());
        !is_listed
            && !value.is_null()
            && value.as_str() != Some("")
            && value.as_array().is_none_or(|all| !all.is_empty())
    };
    let settings = options.as_object().into_iter().flatten().filter(is_setting);
    let names = settings.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        let names = printable(&names, 200);
        notes.add(IssueKind::Lost, "", format!("the settings of its preset are not imported ({names})"));
    }
}

/// A message as it appears in the file.
struct NestedMessage<'a> {
    message: &'a Value,
    id: String,
    /// The message that it is nested in.
    within: Option<String>,
    /// An earlier one has the same id and content.
    is_repeated: bool,
}

/// Flattens nested messages; each follows the one that contains it.
fn flatten_messages<'a>(all: &'a [Value], notes: &mut ConversationNotes) -> Vec<NestedMessage<'a>> {
    let nests = all.iter().any(|message| message.get(PARENT_MEMBER).is_some() || !list(message, "children").is_empty());
    let mut names = UniqueIds::default();
    let mut flat: Vec<NestedMessage<'_>> = Vec::new();
    let mut first: HashMap<String, &Value> = HashMap::new();
    // The stack is filled in reverse, so that messages are popped in order.
    let mut stack: Vec<(&Value, Option<String>)> = all.iter().rev().map(|message| (message, None)).collect();
    while let Some((message, within)) = stack.pop() {
        let mut id = id(message, "messageId").or_else(|| id(message, "_id")).unwrap_or_else(|| content_id(message));
        // Nested messages refer to their container by id, so ids are made unique here; duplicates in a flat list are
        // handled by the tree.
        let mut is_repeated = false;
        if nests {
            let before = *first.entry(id.clone()).or_insert(message);
            let is_same = |name: &str| before.get(name) == message.get(name);
            is_repeated =
                !std::ptr::eq(before, message) && ["text", "content", "isCreatedByUser"].into_iter().all(is_same);
            if is_repeated {
                notes.add_repeated_message(&id);
                id = names.assign(id).0;
            } else {
                id = names.assign_to_message(id, notes).0;
            }
        }
        // If the input itself flattened the list, its indexes are valid in this list.
        let on = count(message, PARENT_MEMBER).and_then(|at| flat.get(usize::try_from(at).ok()?));
        let within = within.or_else(|| on.map(|on| on.id.clone()));
        stack.extend(list(message, "children").iter().rev().map(|child| (child, Some(id.clone()))));
        flat.push(NestedMessage { message, id, within, is_repeated });
    }
    flat
}

fn node(nested: &NestedMessage<'_>, endpoint: Option<&str>, notes: &mut ConversationNotes) -> SourceNode {
    let NestedMessage { message: value, id, within, is_repeated } = nested;
    let parent = text(value, "parentMessageId").filter(|parent| *parent != NO_PARENT).map(str::to_owned);
    // An unreadable message leaves only its position.
    let is_message = value.as_object().is_some_and(|members| members.keys().any(|name| name != PARENT_MEMBER));
    let message = (is_message && !is_repeated).then(|| message(value, id, endpoint, notes));
    if !is_message {
        notes.add_not_a_message(id);
    }
    SourceNode { id: id.clone(), parent: within.clone().or(parent), children: Vec::new(), message }
}

fn message(value: &Value, id: &str, endpoint: Option<&str>, notes: &mut ConversationNotes) -> ImportedMessage {
    let sender = text(value, "sender");
    let is_user = value.get("isCreatedByUser").and_then(Value::as_bool);
    let is_user = is_user.unwrap_or_else(|| sender.is_some_and(|sender| sender.eq_ignore_ascii_case("user")));
    let mut message = message_builder::empty_message(id, if is_user { Role::User } else { Role::Assistant });
    message.created_at = notes.date(value, "createdAt", id);
    if !is_user {
        message.provider = text(value, "endpoint").or(endpoint).and_then(provider);
        message.model = text(value, "model").map(|model| model_name(model, sender));
        message.usage.output_tokens = count(value, "tokenCount");
        message.usage.input_tokens = count(value, "promptTokens");
    }
    content::fill(&mut message, value, notes);
    message
}

/// Returns Turnleaf's name of a provider; `None` if an endpoint does not belong to one provider.
fn provider(endpoint: &str) -> Option<String> {
    match endpoint {
        "agents" | "custom" => None,
        "openAI" | "assistants" | "chatGPTBrowser" | "gptPlugins" => Some("openai".to_owned()),
        "azureOpenAI" | "azureAssistants" => Some("azure".to_owned()),
        "bingAI" => Some("bing".to_owned()),
        // Names that an operator chose are kept.
        other => Some(other.to_lowercase()),
    }
}

fn model_name(model: &str, sender: Option<&str>) -> String {
    let is_id = model.starts_with("agent_") || model.starts_with("asst_");
    sender.filter(|_| is_id).unwrap_or(model).to_owned()
}

#[cfg(test)]
mod tests;
