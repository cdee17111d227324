//! The page of a tool call that waits for an answer: its arguments can be edited, and all tools of its server allowed.
//! It works without script.

use std::fmt::Write as _;

use leptos::prelude::*;
use serde_json::Value;

use super::form_fields::{FieldKind, FormFields, TextField};
use super::messages;
use super::messages::tool_call as words;
use super::turns::turn_address;
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::text::hidden_text::is_hidden_character;
use crate::domain::tools::approval::ApprovalRequest;
use crate::domain::{InvalidField, MessageCode, limits};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::coded_messages::field_error_sentence;
use crate::ui::messages::stored_codes::approval_note;
use crate::ui::messages::transcript as texts;
use turnleaf_service::tools::call_edits::CallQuestion;

/// The id of the form's parts.
const FORM: &str = "call";

/// The page; after a refusal it keeps what was typed.
pub struct ToolCallPage {
    pub question: CallQuestion,
    /// The arguments and the reason that were submitted.
    pub typed: Option<(String, String)>,
    pub error: Option<InvalidField>,
}

impl ToolCallPage {
    pub fn draw(self) -> ServerPage {
        let CallQuestion { turn, block, ask, .. } = &self.question;
        let error = self.error.as_ref();
        let notice = error.map(|error| match error.field.as_str() {
            "confirm" if error.reason.code == MessageCode::IsRequired => words::confirm_first().to_owned(),
            field if is_of_arguments(field) => words::check_arguments().to_owned(),
            _ => field_error_sentence(error),
        });
        let note = approval_note(ask);
        let gone = self.question.schema.is_none();
        let body = view! {
            <p><a href=format!("{}#ask-{block}", turn_address(turn))>{messages::back_to_chat()}</a></p>
            <p class="lead"><bdi>{ask.title.clone()}</bdi>" · "<bdi>{target(ask)}</bdi></p>
            <p class="hint" dir="auto">{texts::effect(&ask.server)}</p>
            {texts::according_to_server(&ask.hints).map(|claims| view! { <p class="hint" dir="auto">{claims}</p> })}
            {note.map(|note| view! { <p class="said warn" dir="auto"><Icon name="alert"/><span>{note}</span></p> })}
            {gone.then(|| view! { <p class="said warn"><Icon name="alert"/><span>{words::tool_gone()}</span></p> })}
            <form class="form" method="post" action="/forms/call">
                <input type="hidden" name="page" value="1"/>
                <input type="hidden" name="turn" value=turn.id.to_string()/>
                <input type="hidden" name="block" value=block.to_string()/>
                <input type="hidden" name="hash" value=ask.hash.clone()/>
                {self.arguments()}
                {self.schema()}
                <div class="deeds">
                    {button("button primary", "allow", texts::allow())}
                    {button("button", "allow_in_chat", texts::allow_in_chat())}
                    {button("button", "always", texts::always())}
                </div>
                {self.declining()}
                {self.all_of_server()}
            </form>
        };
        let title = words::title().to_owned();
        ServerPage { section: PageSection::Chat, title, notice: notice.map(ActionNotice::Refused), body }
    }

    fn arguments(&self) -> AnyView {
        let pretty = visible_json(&self.question.arguments);
        let value = self.typed.as_ref().map_or(pretty.as_str(), |(arguments, _)| arguments);
        let error = self.error.as_ref().filter(|error| is_of_arguments(&error.field));
        let error = error.map(field_error_sentence);
        let hidden = self.question.ask.hidden_characters;
        let field = TextField {
            label: words::arguments(),
            name: "arguments",
            form: FORM,
            value,
            hint: Some(words::arguments_hint()),
            error: error.as_deref(),
            kind: FieldKind::CodeLines(12),
            is_required: true,
            ..TextField::default()
        };
        view! {
            {(hidden > 0).then(|| view! { <p class="said warn"><Icon name="alert"/><span>{words::hidden(hidden)}</span></p> })}
            {field.draw()}
        }
    }

    fn schema(&self) -> Option<AnyView> {
        let schema = self.question.schema.as_ref().map(visible_json)?;
        Some(view! {
            <details class="fold">
                <summary>{words::schema()}<Icon name="chevron-down"/></summary>
                <pre class="listed-schema" dir="ltr" tabindex="0">{schema}</pre>
            </details>
        })
    }

    fn declining(&self) -> AnyView {
        let fields = FormFields { form: FORM, error: self.error.as_ref() };
        let error = fields.error("reason");
        let reason = TextField {
            label: texts::reason(),
            name: "reason",
            form: FORM,
            value: self.typed.as_ref().map_or("", |(_, reason)| reason),
            error: error.as_deref(),
            kind: FieldKind::Lines(2),
            ..TextField::default()
        };
        view! {
            {reason.draw()}
            <div class="deeds">{button("button danger", "deny", texts::deny())}</div>
        }
    }

    /// Renders the permission for all tools of the server, which has to be confirmed.
    fn all_of_server(&self) -> Option<AnyView> {
        let CallQuestion { ask, server_tools, server_tools_hash, .. } = &self.question;
        if ask.server.is_empty() {
            return None;
        }
        let fields = FormFields { form: FORM, error: self.error.as_ref() };
        let tools = server_tools
            .iter()
            .take(limits::TOOLS_PER_SERVER)
            .map(|title| view! { <li><bdi>{title.clone()}</bdi></li> });
        Some(view! {
            <fieldset id="all">
                <legend>{words::all_title()}</legend>
                <p class="hint">{words::all_hint()}</p>
                <input type="hidden" name="shown_tools" value=server_tools_hash.clone()/>
                <details class="fold">
                    <summary>{words::tools(server_tools.len(), &ask.server)}<Icon name="chevron-down"/></summary>
                    <ul dir="auto">{tools.collect_view()}</ul>
                </details>
                <label class="tick"><input type="checkbox" name="confirm" value="1"/><span>{words::confirm_all()}</span></label>
                {fields.checkbox_error("confirm")}
                <div class="deeds">{button("button danger", "allow_server", words::allow_all())}</div>
            </fieldset>
        })
    }
}

fn button(class: &'static str, decision: &'static str, word: &'static str) -> AnyView {
    view! { <button type="submit" name="decision" value=decision class=class>{word}</button> }
}

fn target(ask: &ApprovalRequest) -> String {
    match ask.server.as_str() {
        "" => texts::built_in().to_owned(),
        server => format!("{server}/{}", ask.tool),
    }
}

/// Returns whether a field is the arguments or a place in them.
fn is_of_arguments(field: &str) -> bool {
    field == "arguments" || field.starts_with("arguments/")
}

/// Returns a value as JSON to read and to edit. Hidden characters are escapes, which mean the same.
fn visible_json(value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut visible = String::with_capacity(pretty.len());
    for c in pretty.chars() {
        match is_hidden_character(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(visible, "\\u{unit:04x}");
            }),
            false => visible.push(c),
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::fixtures;
    use crate::domain::messages::message_template::MessageArgs;

    /// Returns the notice of a page with this error.
    fn refusal(error: InvalidField) -> String {
        match call_page("files", Some(error)).draw().notice {
            Some(ActionNotice::Refused(text)) => text,
            _ => String::new(),
        }
    }

    fn page(server: &str, error: Option<InvalidField>) -> String {
        let page = call_page(server, error).draw();
        format!("{:?} {}", page.notice.map(|notice| matches!(notice, ActionNotice::Refused(_))), page.body.to_html())
    }

    fn call_page(server: &str, error: Option<InvalidField>) -> ToolCallPage {
        let ask = ApprovalRequest {
            hash: "h".into(),
            server: server.into(),
            tool: "write".into(),
            title: "<Write>".into(),
            schema_hash: "s".into(),
            hidden_characters: 1,
            hints: Vec::new(),
            note: None,
            note_code: None,
            note_args: MessageArgs::new(),
        };
        let question = CallQuestion {
            turn: fixtures::user_turn(1, "x"),
            block: fixtures::block_id(2),
            ask,
            arguments: json!({ "text": "a\u{202e}b</textarea>" }),
            schema: Some(json!({ "type": "object" })),
            server_tools: vec!["<Write>".into(), "Read".into()],
            server_tools_hash: "t".into(),
        };
        let typed = error.is_some().then(|| ("{ typed".to_owned(), "why".to_owned()));
        ToolCallPage { question, typed, error }
    }

    #[test]
    fn arguments_are_shown_to_edit_with_hidden_characters_as_escapes() {
        let html = Owner::new().with(|| page("files", None));
        assert!(html.contains("a\\u202eb&lt;/textarea") && !html.contains("a\u{202e}b"), "{html}");
        assert!(html.contains("&lt;Write&gt;") && html.contains("files/write"), "{html}");
        assert!(html.contains("value=\"allow_server\"") && html.contains("name=\"confirm\""), "{html}");
        let html = Owner::new().with(|| page("", None));
        assert!(!html.contains("allow_server"), "{html}");
    }

    #[test]
    fn refusal_keeps_what_was_typed_and_names_place() {
        let invalid = InvalidField::new("arguments/text", MessageCode::IsTooLong);
        let html = Owner::new().with(|| page("files", Some(invalid)));
        assert!(
            html.starts_with("Some(true)") && html.contains("{ typed") && html.contains("why</textarea>"),
            "{html}"
        );
        assert!(html.contains("arguments/text: ") && html.contains("aria-invalid=\"true\""), "{html}");
        let confirm = InvalidField::new("confirm", MessageCode::IsRequired);
        assert_eq!(Owner::new().with(|| refusal(confirm)), words::confirm_first());
    }

    #[test]
    fn visible_json_means_the_same() {
        let value = json!({ "a": ["\u{200b}", "\u{e0041}", "é\n\"", 1.5] });
        let text = visible_json(&value);
        assert!(!text.contains('\u{200b}') && text.contains("\\udb40\\udc41"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
