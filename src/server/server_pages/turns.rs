//! Forms for a turn without script, where a button is not enough: edit, and retry with another model.

use leptos::prelude::*;

use super::confirmation::ConfirmationForm;
use super::form_fields::{FieldKind, FileField, TextField};
use super::messages::{self, trash};
use super::{PageSection, ServerPage};
use crate::domain::documents::attachment::Attachment;
use crate::domain::providers::provider::Model;
use crate::domain::text::excerpt::first_words;
use crate::domain::{Content, Role, Turn};
use crate::ui::erased::view;
use crate::ui::kit::{Icon, reference_chip};
use crate::ui::messages as app_words;
use crate::ui::messages::attachments as of_files;
use crate::ui::messages::{transcript as texts, trash as trash_messages};

/// The number of characters of the turn to delete that are shown.
const FIRST_WORDS: usize = 60;

/// Returns the title of the edit page.
pub fn edit_title(role: Role) -> &'static str {
    if role == Role::Assistant { texts::edit_reply() } else { texts::edit_message() }
}

/// The form that edits a turn.
pub struct EditTurnView<'a> {
    pub turn: &'a Turn,
    pub text: &'a str,
    /// The error of the text that was submitted before.
    pub error: Option<&'a str>,
    /// The idempotency key: a second click creates nothing.
    pub request_id: &'a str,
}

impl EditTurnView<'_> {
    pub fn draw(&self) -> AnyView {
        let is_reply = self.turn.role == Role::Assistant;
        let field = TextField {
            label: app_words::message(),
            name: "text",
            form: "edit",
            value: self.text,
            hint: is_reply.then_some(texts::edit_reply_hint()),
            error: self.error,
            kind: FieldKind::Lines(12),
            is_required: true,
            ..TextField::default()
        };
        view! {
            <form class="form" method="post" action="/forms/edit" enctype="multipart/form-data">
                <input type="hidden" name="turn_id" value=self.turn.id.to_string()/>
                <input type="hidden" name="client_request_id" value=self.request_id.to_owned()/>
                {field.draw()}
                {(!is_reply).then(|| attachment_fields(self.turn))}
                <div class="deeds">
                    <button type="submit" class="button primary">
                        {if is_reply { texts::save_version() } else { app_words::send() }}
                    </button>
                    {back(self.turn)}
                </div>
            </form>
        }
    }
}

/// Renders the attachments of an edit: those of the message with a checkbox each, and a field for new files.
fn attachment_fields(turn: &Turn) -> AnyView {
    let chip = |attachment: Attachment| {
        let key = attachment.dedup_key();
        let chip = match &attachment.content {
            Content::Image { blob, alt, .. } => {
                let address = format!("/api/blobs/{blob}");
                view! { <a class="chip" href=address><Icon name="file"/><bdi class="chip-text">{alt.clone()}</bdi></a> }
            }
            content => reference_chip(content, &attachment.card, None),
        };
        view! {
            <li>
                <input type="checkbox" name="keep" value=key checked aria-label=attachment.card.title/>
                {chip}
            </li>
        }
    };
    let chips: Vec<AnyView> = turn.blocks.iter().filter_map(Attachment::from_block).map(chip).collect();
    let kept = (!chips.is_empty()).then(|| {
        view! {
            <p class="hint">{messages::attachments_included()}</p>
            <ul class="chips">{chips}</ul>
        }
    });
    let files = FileField {
        id: "edit-files",
        name: "files",
        label: of_files::attach(),
        is_multiple: true,
        ..FileField::default()
    };
    view! {
        {kept}
        {files.draw()}
    }
}

/// The form that retries with a selected model.
pub struct RetryView<'a> {
    pub turn: &'a Turn,
    pub models: &'a [Model],
    pub request_id: &'a str,
}

impl RetryView<'_> {
    pub fn draw(&self) -> AnyView {
        let option = |model: &Model| {
            let value = format!("{}/{}", model.lock.provider, model.lock.model);
            view! { <option value=value>{format!("{} · {}", model.provider_name, app_words::model_name(model))}</option> }
        };
        view! {
            <form class="form" method="post" action="/forms/retry">
                <input type="hidden" name="turn_id" value=self.turn.id.to_string()/>
                <input type="hidden" name="client_request_id" value=self.request_id.to_owned()/>
                <p class="hint">{texts::retry_with_hint()}</p>
                <div class="form-field">
                    <label for="again-model">{app_words::model()}</label>
                    <select class="field" id="again-model" name="model">
                        {self.models.iter().map(option).collect_view()}
                    </select>
                </div>
                <div class="deeds">
                    <button type="submit" class="button primary">{app_words::retry()}</button>
                    {back(self.turn)}
                </div>
            </form>
        }
    }
}

/// Renders the confirmation for deleting a turn with its descendants; `all` counts the turn itself.
pub fn delete_page(turn: &Turn, all: u64) -> ServerPage {
    let question = ConfirmationForm {
        title: trash::delete_title(all),
        description: trash::delete_description(all, &first_words(&turn.content_text(), FIRST_WORDS)),
        action: "/forms/delete-turn",
        fields: vec![("turn_id", turn.id.to_string())],
        confirm_label: trash_messages::delete_version(all),
        cancel_path: turn_address(turn),
        cancel_label: trash::keep(),
    };
    ServerPage {
        section: PageSection::Chat,
        title: trash_messages::delete_version_and_below().into(),
        notice: None,
        body: question.draw(),
    }
}

/// Returns the address of the turn in its chat.
pub(super) fn turn_address(turn: &Turn) -> String {
    format!("/c/{}?at={}", turn.chat_id, turn.id)
}

fn back(turn: &Turn) -> AnyView {
    view! { <a class="button" href=turn_address(turn)>{messages::back_to_chat()}</a> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixtures;

    #[test]
    fn attachments_are_shown_with_edit_form() {
        let mut turn = fixtures::user_turn(1, "x");
        let image = Content::Image { blob: "ab".repeat(32), mime: "image/png".into(), alt: "<leaf>".into() };
        turn.blocks.extend(fixtures::blocks(2, [image]));
        let view = EditTurnView { turn: &turn, text: "x", error: None, request_id: "r" };
        let html = Owner::new().with(|| view.draw().to_html());
        assert!(html.contains("&lt;leaf&gt;") && html.contains(messages::attachments_included()), "{html}");
        // An edited reply has only text.
        turn.role = Role::Assistant;
        let view = EditTurnView { turn: &turn, text: "x", error: None, request_id: "r" };
        let html = Owner::new().with(|| view.draw().to_html());
        assert!(!html.contains(messages::attachments_included()), "{html}");
    }

    #[test]
    fn typed_text_is_kept_and_escaped() {
        let turn = fixtures::user_turn(1, "x");
        let hostile = "</textarea><script>alert(1)</script>";
        let view = EditTurnView { turn: &turn, text: hostile, error: Some("the message is empty"), request_id: "r" };
        let html = Owner::new().with(|| view.draw().to_html());
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains("the message is empty") && html.contains("value=\"r\""), "{html}");
    }
}
