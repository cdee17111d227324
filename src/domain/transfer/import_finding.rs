//! Findings of imports as stable codes with arguments, so that a finding is the same however its sentence is worded.
//! A difference that an earlier version stored has only its sentence, which is matched against the templates.

use crate::messages::message_template::{MessageArgs, recognize_sentence};
use crate::messages::old_sentences;

/// The argument with the number of messages that have the same finding; 1 without it.
pub const TIMES: &str = "times";

/// A code and the template of its English sentence.
type FindingTemplate = (&'static str, &'static str);

/// All findings. The more specific template stands before one that matches its sentences, too.
#[rustfmt::skip]
const FINDINGS: &[FindingTemplate] = &[
    ("nul_in_text", "NUL characters in its text were replaced with ␀"),
    ("nul_in_title", "NUL characters in its title or system prompt were replaced"),
    ("conversation_without_id", "a conversation has no id"),
    ("file_missing", "a file is not in the export"),
    ("file_text_only", "a file is not in the export, only its extracted text"),
    ("file_without_name", "a file without a name was skipped"),
    ("key_repeated", "a key repeated in an object was read with its last value"),
    ("message_before_conversation", "a message comes before any conversation"),
    ("message_not_json", "a message that is not JSON was skipped"),
    ("part_of_unknown_type", "a part of an unknown type was skipped ({type})"),
    ("question_empty", "a question has no content: it was imported as empty"),
    ("referenced_file_missing", "a referenced file is not in the export"),
    ("result_without_call", "a result of `{tool}` has no earlier tool call"),
    ("service_flag", "a service flag on the message is not imported"),
    ("system_message_moved", "a system message was placed after the reply it was part of"),
    ("call_added", "a tool result had no tool call: one was added"),
    ("value_truncated", "a value longer than {bytes} bytes was truncated"),
    ("agent_handoffs", "agent handoffs are not imported"),
    ("alternative_views", "alternative views of a block are not imported"),
    ("attachment_of_unknown_type", "an attachment of an unknown type was skipped ({type})"),
    ("earlier_system_prompt", "an earlier form of its system prompt is not imported"),
    ("image_missing", "an image ({type}) is not in the export"),
    ("date_invalid_of", "an invalid date ({key}) was skipped"),
    ("date_invalid", "an invalid date was skipped"),
    ("conversation_id_repeated", "another conversation has the same id: this one got a new id"),
    ("conversation_repeated_id", "another conversation has the same id"),
    ("import_running", "another import of it is running or was interrupted a moment ago; try again in a few minutes"),
    ("message_id_repeated", "another message has the same id: this one got a new id"),
    ("row_id_repeated", "another one has the same id: this one got a new id"),
    ("turn_id_repeated", "another turn has the same id"),
    ("blocks_of_unknown_type", "blocks of type “{type}” are not imported"),
    ("canvas", "canvas documents are only imported as the tool calls that wrote them"),
    ("connected_sources", "connected sources of a message are not imported"),
    ("content_of_unknown_type", "content of type “{type}” is not imported"),
    ("columns_not_read", "content of {columns} cannot be imported"),
    ("unknown_data", "data that Turnleaf does not know is not imported ({key})"),
    ("design_chats", "design tool chats are not imported"),
    ("documents_empty", "documents without a name and text are not imported"),
    ("earlier_summaries", "earlier summaries of the reasoning are not imported"),
    ("embedded_pages", "embedded pages are not imported"),
    ("encrypted_reasoning", "encrypted reasoning is not imported"),
    ("tool_output_of_unknown_type", "extra tool output is not imported ({type})"),
    ("group_chats", "group chats are not imported"),
    ("hidden_messages", "hidden messages are not imported"),
    ("lone_surrogates", "incomplete characters (lone surrogates) were replaced with U+FFFD"),
    ("interactive_tables", "interactive tables and charts are not imported"),
    ("invalid_bytes", "invalid bytes were replaced with U+FFFD"),
    ("message_repeated", "it appears more than once with the same id and content: it was imported once"),
    ("other_user", "it belongs to a different user than the first chat of the file; the owner is not imported"),
    ("project", "it belongs to a project; projects are not imported"),
    ("changed_at_source", "it changed in the source after it was imported: the chat here keeps its content"),
    ("invalid_data", "it could not be stored: it contains invalid data"),
    ("no_content", "it has no content"),
    ("no_messages", "it has no messages"),
    ("deepseek", "it is a conversation of DeepSeek: import it with that format"),
    ("inner_archive", "it is an archive inside the archive: extract it and import it separately"),
    ("folder_named", "it is in the folder “{folder}”; folders are not imported"),
    ("too_large", "it is larger than {limit}"),
    ("too_many_values", "it has more than {values} values"),
    ("not_json", "it is not JSON: {why} at line {line} column {column}"),
    ("not_a_message", "it is not a message"),
    ("not_an_object", "it is not a message: it is not an object"),
    ("custom_gpt", "it used a custom GPT, which is not imported"),
    ("tool_missing", "it used the tool `{tool}`, which does not exist here"),
    ("damaged_when_exported", "it was already damaged when exported: {what}"),
    ("edited_at_source", "it was edited in the source: the earlier words are imported as another version"),
    ("cycle", "it was its own ancestor: the cycle was cut above it"),
    ("items_of_unknown_type", "items of type “{type}” are not imported"),
    ("author_unknown_word", "its author is unknown ({word}): imported as the {role}'s"),
    ("author_unknown", "its author is unknown: imported as the user's"),
    ("hash_mismatch", "its bytes do not match its hash"),
    ("too_many_rows", "its conversation has too many of them"),
    ("conversation_missing", "its conversation is missing"),
    ("date_adjusted", "its date is before that of the previous message, or in the future: it was adjusted"),
    ("file_in_source_now", "its file is in the source now, but the chat here keeps only the name: delete the chat for good and import it again to have the file"),
    ("folder", "its folder is not imported"),
    ("import_interrupted", "its import was interrupted for too long: import the file again"),
    ("row_message_missing", "its message is missing: it was placed by its time"),
    ("model_parameters", "its model parameters are not imported ({names})"),
    ("parent_missing", "its parent is missing: it starts a branch of its own"),
    ("mode_inferred", "its reasoning setting is missing: it was inferred"),
    ("role_unknown", "its role is unknown"),
    ("shared_link", "its shared link is not imported"),
    ("sources_without_urls", "its sources have no URLs"),
    ("summary", "its summary is not imported"),
    ("system_prompt_truncated", "its system prompt was longer than {characters} characters and was truncated"),
    ("tags", "its tags are not imported"),
    ("title_at_source", "its title in the source is “{title}”: the chat here keeps its title"),
    ("tool_selection", "its tool selection cannot be imported: {why}"),
    ("turn_has_question", "its turn already had a question: it starts a new exchange"),
    ("turn_missing_placed", "its turn is missing: it was placed without it"),
    ("turn_missing_mode", "its turn is missing: the mode was inferred"),
    ("found_images", "lists of found images are not imported"),
    ("memories", "memories are not imported"),
    ("chatgpt_memories", "ChatGPT memories are not imported"),
    ("merged_replies", "merged replies are not imported; their originals are"),
    ("messages_beyond_limit", "messages beyond the limit of a conversation were skipped"),
    ("role_without_files", "messages of the {role} cannot have files"),
    ("only_users_have_files", "only user messages can have files: its name is kept"),
    ("parts_of_unknown_type", "parts of type “{type}” are not imported"),
    ("web_pictures", "pictures of a web page are not imported"),
    ("projects", "projects and their documents are not imported"),
    ("quotes_before_text", "quotes attached to a message were placed before its text"),
    ("ratings", "ratings are not imported"),
    ("reading_stopped", "reading the file stopped: {why}"),
    ("signatures", "reasoning signatures are not imported"),
    ("compared_replies", "replies that were compared are not imported"),
    ("read_repositories", "repositories that a tool read are not imported"),
    ("selected_repositories", "repositories that were selected for a message are not imported"),
    ("shared_links", "shared links are not imported"),
    ("sora", "Sora content is not imported"),
    ("stars", "stars on messages are not imported"),
    ("suggested_questions", "suggested questions are not imported"),
    ("earlier_messages_summary", "summaries of earlier messages are not imported"),
    ("message_tags", "tags of messages are not imported"),
    ("not_utf8", "text that is not UTF-8 was read up to the first invalid byte"),
    ("archive_truncated", "the archive is truncated or damaged: the part before that was read"),
    ("prompt_arguments", "the arguments of a prompt of a tool server are not imported"),
    ("too_many_branches", "the chat has too many branches for Turnleaf: {messages} from this one on is skipped"),
    ("too_many_branches", "the chat has too many branches for Turnleaf: {messages} from this one on are skipped"),
    ("left_behind_of_archive", "the chat is already here: {messages} of the archive could not be added to it"),
    ("left_behind", "the chat is already here: {messages} of the source could not be added to it"),
    ("chat_too_long", "the chat is too long for Turnleaf: this message and those after it are skipped"),
    ("code_missing", "the code of a message is not in the export"),
    ("container", "the container in which code ran is not imported"),
    ("too_many_messages", "the conversation has {messages} messages: those after {limit} were skipped"),
    ("conversation_too_large", "the conversation is larger than {bytes} bytes"),
    ("messages_too_large", "the conversation is too large: {messages} messages were skipped"),
    ("custom_instructions", "the custom instructions changed during the conversation: only the first ones are imported"),
    ("invalid_document", "the document could not be stored: it contains invalid data"),
    ("entry_skipped", "the entry was skipped: {why}"),
    ("only_text_of_file", "the export only has the text of a file"),
    ("extracted_text", "the file cannot be read: the text that the source extracted from it is used"),
    ("ends_within_at", "the file ends in the middle of it (it begins at line {line} column {column})"),
    ("ends_within", "the file ends in the middle of it"),
    ("damaged_from_here", "the file is damaged from here: {why}"),
    ("file_not_in_export", "the file is not in the export ({address})"),
    ("file_skipped", "the file was skipped: {why}"),
    ("chat_files_missing", "the files attached to the chat are not in the export"),
    ("persona", "the instructions of the persona {persona} are not in the export"),
    ("last_shown_missing", "the last shown message is missing: the newest one is used"),
    ("library_files", "the list of files in the library is not imported"),
    ("participants", "the participants of the conversation are not imported"),
    ("message_plugins", "the plugins of a message are not imported"),
    ("plugins", "the plugins of the conversation are not imported"),
    ("unknown_file", "the reader does not know this file: it is not imported"),
    ("reasoning_time", "the reasoning time is not imported because the reasoning is not in the export"),
    ("requests_too_large", "the requests of {calls} calls were skipped: together they are larger than {limit}"),
    ("rest_not_json", "the rest is not JSON"),
    ("role_imported_as_assistant", "the role “{role}” was imported as the assistant"),
    ("same_conversation", "the same conversation appears earlier in the file"),
    ("sender_imported_as_assistant", "the sender “{role}” was imported as the assistant"),
    ("preset_settings", "the settings of its preset are not imported ({names})"),
    ("skills", "the skills of a message are not imported"),
    ("research_state", "the state of a research task is not imported"),
    ("provider_state", "the state that a provider attached to a part is not imported"),
    ("status_lines", "the status lines above a reply are not imported ({action})"),
    ("symbol", "the symbol of the conversation is not imported"),
    ("call_without_result", "the tool call `{tool}` has no result: imported as stopped"),
    ("call_added_for_result", "the tool call for the result of `{tool}` is missing: one was added"),
    ("too_many_versions", "there are too many versions for Turnleaf: this one and those after it are skipped"),
    ("table_missing", "this table does not exist"),
    ("tool_sign_ins", "tool sign-ins are not imported"),
    ("subagent_transcripts", "transcripts of subagents are not imported"),
    ("control_characters", "unescaped control characters in a string were accepted"),
    ("too_deep", "values nested too deeply were replaced with null"),
    ("not_numbers", "values that are not JSON numbers (NaN, Infinity, overflow) were replaced with null"),
    ("widgets", "widgets in the text (a map, an image list) are not imported"),
    ("step_missing", "a step of the reply is not in the export ({kind})"),
    ("unsent_message", "a message that was not sent is not imported"),
    ("branch_link", "the link to the branch “{title}” is not imported"),
    ("chat_citations", "citations that no message names are not imported"),
    ("built_apps", "apps that were built in the chat are not imported"),
    ("image_prompts", "prompts for images are not imported"),
    ("date_unclear", "the date is not understood, so it was left out ({date})"),
    ("date_missing", "a message has no date in the export"),
    ("gem", "it used a Gem, which is not imported"),
    ("prompt_line", "a line below a prompt is not imported ({line})"),
    ("prompt_words", "the words before a prompt are not known in its language: they are part of the message"),
    ("other_activity", "an activity that is no prompt is not imported ({words})"),
    ("other_product", "an activity of another product was skipped"),
    ("activity_place", "the place of an activity is not imported"),
    ("activity_description", "the description of an activity is not imported"),
    ("scheduled_tasks", "scheduled tasks are not imported"),
    ("media_posts", "pictures and videos that were made outside of chats are not imported"),
    ("tool_definitions", "the definitions of tools are not imported"),
    ("picture_missing", "a picture is not in the export"),
    ("recording_missing", "a recording is not in the export"),
    ("content_in_role", "{what} in a message of the {role} cannot be imported"),
    ("assistant_named", "it belongs to the assistant “{name}”; assistants are not imported"),
    ("assistant_examples", "the example messages of an assistant are not imported"),
    ("assistant_files", "the files of an assistant are not imported"),
    ("assistant_greeting", "the greeting of an assistant is not imported"),
    ("assistant_knowledge", "the knowledge bases of an assistant are not imported"),
    ("assistant_template", "the template of an assistant's messages is not imported"),
    ("author_note", "the author's note is not imported"),
    ("automatic_backups", "automatic backups of chats are not imported"),
    ("block_missing", "a block of a message is not in the backup"),
    ("chat_description", "the description of the chat is not imported"),
    ("chat_document", "the document of the chat is not imported"),
    ("chat_links", "links between chats are not imported"),
    ("chat_variables", "the variables of the chat are not imported"),
    ("comments", "comments beside the conversation are not imported"),
    ("context_cleared", "a mark that cleared the context was skipped"),
    ("dates_missing", "the dates of its messages are not in the export"),
    ("group_speakers", "the speakers of a group chat are not imported"),
    ("hidden_from_model", "messages that were hidden from the model were imported as ordinary messages"),
    ("knowledge_bases", "knowledge bases are not imported"),
    ("line_breaks_missing", "the line breaks of its messages are not in the export"),
    ("lorebooks", "lorebooks are not imported"),
    ("names_unreadable", "the names of its chats and assistants could not be read"),
    ("pictures_in_reasoning", "pictures within the reasoning are not imported"),
    ("program_notices", "notices of the program are not imported"),
    ("quick_phrases", "quick phrases are not imported"),
    ("quoted_message", "the message that a message quotes is not imported"),
    ("reply_start", "the start of a reply that was given to the model is not imported"),
    ("row_without_id", "a row of {table} has no id"),
    ("search_queries", "the queries of a web search are not imported"),
    ("speakers_before_messages", "the names of the speakers were placed before their messages"),
    ("spoken_messages", "recordings of messages read aloud are not imported"),
    ("thread_details_missing", "the title and the assistant of the thread are not in the export"),
    ("thread_titles", "the titles of threads are not imported"),
    ("threads_missing", "the threads of a workspace are not in the export: their messages follow each other in one chat"),
    ("translation_history", "the history of translations is not imported"),
    ("translations", "translations of messages are not imported"),
    ("used_passages", "the passages of files that a message used are not imported"),
    ("workspaces_missing", "the names of workspaces and the dates of messages are not in the export"),
];

/// Recognizes the code and the arguments of a finding from its English sentence.
pub fn recognize(sentence: &str) -> Option<(&'static str, MessageArgs)> {
    let (sentence, times) = split_times(sentence);
    let known = FINDINGS.iter().copied().chain(old_sentences::IMPORT_FINDINGS.iter().copied());
    let (code, mut args) = recognize_sentence(known, sentence)?;
    args.extend(times.map(|times| (TIMES.to_owned(), times.to_owned())));
    Some((code, args))
}

/// Splits ` (3 times)` from the end of a sentence.
fn split_times(sentence: &str) -> (&str, Option<&str>) {
    let counted = sentence.strip_suffix(" times)").and_then(|rest| rest.rsplit_once(" ("));
    match counted.filter(|(_, times)| !times.is_empty() && times.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((sentence, times)) => (sentence, Some(times)),
        None => (sentence, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::message_template::{fill_template, message_args, next_placeholder};

    /// Returns arguments for all placeholders of a template.
    fn args_of(mut template: &str) -> MessageArgs {
        let mut args = MessageArgs::new();
        while let Some((_, name, rest)) = next_placeholder(template) {
            args.insert(name.to_owned(), format!("<{name}>"));
            template = rest;
        }
        args
    }

    #[test]
    fn every_finding_is_recognized_by_its_sentence() {
        for (code, template) in FINDINGS.iter().chain(old_sentences::IMPORT_FINDINGS) {
            let mut args = args_of(template);
            let sentence = fill_template(template, &args).unwrap();
            assert_eq!(recognize(&sentence), Some((*code, args.clone())), "{sentence}");
            args.insert(TIMES.to_owned(), "12".to_owned());
            assert_eq!(recognize(&format!("{sentence} (12 times)")), Some((*code, args)), "{sentence}");
        }
        assert_eq!(recognize("something else"), None);
    }

    #[test]
    fn argument_is_read_from_sentence() {
        let found = recognize("its model parameters are not imported (seed, top_p) (2 times)");
        let args = message_args([("names", "seed, top_p".to_owned()), (TIMES, "2".to_owned())]);
        assert_eq!(found, Some(("model_parameters", args)));
    }
}
