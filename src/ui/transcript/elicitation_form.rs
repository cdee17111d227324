//! The form of a question that a tool server asks during a call: in the transcript, and on the page of the question. All
//! text of the server is shown as text; an address is never opened by itself.

use leptos::prelude::*;

use super::async_form::AsyncForm;
use crate::domain::text::external_links::confirmation_url;
use crate::domain::tools::elicitation::{
    ElicitationField, ElicitationFieldType, ElicitationPage, ElicitationRequest, ElicitationTextFormat,
};
use crate::domain::{BlockId, ElicitationId, TurnId};
use crate::ui::erased::view;
use crate::ui::escape::textarea_content;
use crate::ui::kit::Icon;
use crate::ui::locale::parenthesized;
use crate::ui::markdown::view::draw_static;
use crate::ui::messages::elicitation as words;
use crate::ui::tool_rendering;

/// Texts that may be longer get several lines.
const ONE_LINE_CHARS: f64 = 200.0;

/// The error of one field.
pub struct FieldError {
    /// The index of the field.
    pub at: usize,
    pub sentence: String,
}

/// A question with what was typed.
pub struct ElicitationForm<'a> {
    /// The reply during which it is asked; none for a question outside of replies.
    pub turn: Option<TurnId>,
    /// Unique on the page.
    pub id: &'a str,
    pub request: &'a ElicitationRequest,
    /// The submitted values of each field, after a refusal.
    pub typed: Option<&'a [Vec<String>]>,
    pub error: Option<FieldError>,
}

/// Renders the hidden fields that name a question of a call.
pub fn question_fields(turn: TurnId, block: BlockId, question: ElicitationId) -> AnyView {
    view! {
        <input type="hidden" name="turn" value=turn.to_string()/>
        <input type="hidden" name="block" value=block.to_string()/>
        <input type="hidden" name="question" value=question.to_string()/>
    }
}

/// Returns the name of the input of the field with this index. The names that the server chose are not used in pages.
pub fn field_name(at: usize) -> String {
    format!("field{at}")
}

/// Renders the page that a question leads to: its host, its whole address, and a link through the confirmation page.
pub fn page_to_open(page: &ElicitationPage, turn: Option<TurnId>) -> AnyView {
    let address = confirmation_url(&page.url, turn);
    view! {
        <p class="ask-note" dir="auto">{words::leads_to(&page.host)}</p>
        <p><bdi class="ask-target" dir="ltr">{page.url.clone()}</bdi></p>
        <p class="ask-note">{words::opens_outside()}</p>
        <p class="no-print">
            <a class="button" href=address target="_blank" rel="noopener noreferrer nofollow external">
                <Icon name="external"/>
                {words::open_page()}
            </a>
        </p>
    }
}

impl ElicitationForm<'_> {
    /// Renders the server's words, the warning, and the page that it leads to.
    pub fn question(&self) -> AnyView {
        let request = self.request;
        let server = request.server.as_str();
        // A server page has no reactive owner, and the text never changes.
        let message = draw_static(&[tool_rendering::elicitation_message(&request.message)]);
        let is_kept = self.turn.is_some();
        let warning = (is_kept && request.looks_secret()).then(|| {
            view! {
                <p class="said warn" role="note" dir="auto"><Icon name="alert"/><span>{words::asks_for_secret(server)}</span></p>
            }
        });
        let page = request.page.as_ref().map(|page| page_to_open(page, self.turn));
        let goes_to = (request.page.is_none() && is_kept)
            .then(|| view! { <p class="ask-note" dir="auto">{words::goes_to(server)}</p> });
        view! {
            {message}
            {warning}
            {goes_to}
            {page}
        }
    }

    /// Renders the inputs.
    pub fn fields(&self) -> AnyView {
        let inputs = self.request.fields.iter().enumerate().map(|(at, field)| self.field(at, field));
        inputs.collect_view().into_any()
    }

    /// Renders the buttons. Declining and cancelling need no valid form.
    pub fn buttons(&self, posting: Option<AsyncForm>) -> AnyView {
        let accept = if self.request.page.is_some() { words::finished() } else { words::send() };
        let button = |class: &'static str, action: &'static str, name: &'static str| {
            view! {
                <button
                    type="submit"
                    name="action"
                    value=action
                    class=class
                    formnovalidate=action != "accept"
                    aria-disabled=move || posting.and_then(AsyncForm::aria_disabled)
                >
                    {name}
                </button>
            }
        };
        view! {
            {button("button primary", "accept", accept)}
            {button("button", "decline", words::decline())}
            {button("button bare", "cancel", words::cancel())}
        }
    }

    fn field(&self, at: usize, field: &ElicitationField) -> AnyView {
        let id = format!("question-{}-{at}", self.id);
        let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
        let error = self.error.as_ref().filter(|error| error.at == at).map(|error| error.sentence.clone());
        let hint = hint_of(field);
        let described: Vec<&str> = [hint.as_ref().map(|_| hint_id.as_str()), error.as_ref().map(|_| error_id.as_str())]
            .into_iter()
            .flatten()
            .collect();
        let input = FieldInput {
            id: id.clone(),
            name: field_name(at),
            values: self
                .typed
                .map_or_else(|| field.default_texts(), |typed| typed.get(at).cloned().unwrap_or_default()),
            described: (!described.is_empty()).then(|| described.join(" ")),
            is_wrong: error.is_some(),
            field,
        };
        let hint = hint.map(|hint| view! { <p class="hint" id=hint_id dir="auto">{hint}</p> });
        let error = error.map(|error| view! { <p class="problem" id=error_id dir="auto">{error}</p> });
        let optional =
            (!field.is_required).then(|| view! { <span class="hint">{parenthesized(words::optional())}</span> });
        // A group of tick boxes cannot be marked as required in HTML.
        let required =
            field.is_required.then(|| view! { <span class="hint">{parenthesized(words::required())}</span> });
        let label = field.label().to_owned();
        match field.field_type {
            ElicitationFieldType::Boolean => {
                view! { <div class="form-field">{input.checkbox(label)}{hint}{error}</div> }
            }
            ElicitationFieldType::Choices => view! {
                <fieldset class="form-field ask-choices" aria-describedby=input.described.clone()>
                    <legend dir="auto">{label}{optional}{required}</legend>
                    {hint}
                    {input.choices()}
                    {error}
                </fieldset>
            },
            _ => view! {
                <div class="form-field">
                    <label for=id dir="auto">{label}{optional}</label>
                    {hint}
                    {input.single()}
                    {error}
                </div>
            },
        }
    }
}

/// The input of a field.
struct FieldInput<'a> {
    id: String,
    name: String,
    values: Vec<String>,
    described: Option<String>,
    is_wrong: bool,
    field: &'a ElicitationField,
}

impl FieldInput<'_> {
    fn value(&self) -> String {
        self.values.first().cloned().unwrap_or_default()
    }

    /// Renders a text, a number, or a choice of one option.
    fn single(&self) -> AnyView {
        let Self { id, name, described, field, .. } = self;
        let (id, name, described, required) = (id.clone(), name.clone(), described.clone(), field.is_required);
        let is_wrong = self.is_wrong.then_some("true");
        let is_text = field.field_type == ElicitationFieldType::Text;
        if field.field_type == ElicitationFieldType::Choice {
            let value = self.value();
            let options = field.options.iter().map(|option| {
                let is_chosen = option.value == value;
                view! { <option value=option.value.clone() selected=is_chosen>{option.label().to_owned()}</option> }
            });
            let options = options.collect_view();
            return view! {
                <select class="field" id=id name=name aria-describedby=described aria-invalid=is_wrong required=required>
                    <option value="" selected=value.is_empty()>{words::no_choice()}</option>
                    {options}
                </select>
            };
        }
        // Few servers state a maximum, and most of their texts are names: without one, the text itself decides.
        let is_long = field.most.is_some_and(|most| most > ONE_LINE_CHARS)
            || self.value().chars().count() as f64 > ONE_LINE_CHARS;
        if is_text && field.format.is_none() && (is_long || self.value().contains('\n')) {
            return view! {
                <textarea {..textarea_content(&self.value())} class="field" id=id name=name rows="4" dir="auto"
                    autocomplete="off" aria-describedby=described aria-invalid=is_wrong required=required></textarea>
            };
        }
        let (kind, mode) = match (field.field_type, field.format) {
            (ElicitationFieldType::Integer, _) => ("number", Some("numeric")),
            (ElicitationFieldType::Number, _) => ("number", Some("decimal")),
            (_, Some(ElicitationTextFormat::Email)) => ("email", Some("email")),
            (_, Some(ElicitationTextFormat::Uri)) => ("url", Some("url")),
            (_, Some(ElicitationTextFormat::Date)) => ("date", None),
            _ => ("text", None),
        };
        let step = (field.field_type == ElicitationFieldType::Number).then_some("any");
        let (least, most) = (field.least.map(words::bound), field.most.map(words::bound));
        let ((min, max), (shortest, longest)) =
            if is_text { ((None, None), (least, most)) } else { ((least, most), (None, None)) };
        view! {
            <input class="field" type=kind inputmode=mode id=id name=name value=self.value() autocomplete="off" dir="auto"
                step=step min=min max=max minlength=shortest maxlength=longest aria-describedby=described
                aria-invalid=is_wrong required=required/>
        }
    }

    fn checkbox(&self, label: String) -> AnyView {
        let is_ticked = !self.value().is_empty();
        let (id, name, described) = (self.id.clone(), self.name.clone(), self.described.clone());
        let is_wrong = self.is_wrong.then_some("true");
        view! {
            <label class="tick">
                <input type="checkbox" id=id name=name value="1" checked=is_ticked aria-describedby=described
                    aria-invalid=is_wrong/>
                <span dir="auto">{label}</span>
            </label>
        }
    }

    fn choices(&self) -> AnyView {
        let option = |option: &crate::domain::tools::elicitation::ElicitationOption| {
            let is_ticked = self.values.contains(&option.value);
            view! {
                <label class="tick">
                    <input type="checkbox" name=self.name.clone() value=option.value.clone() checked=is_ticked
                        aria-invalid=self.is_wrong.then_some("true")/>
                    <span dir="auto">{option.label().to_owned()}</span>
                </label>
            }
        };
        self.field.options.iter().map(option).collect_view().into_any()
    }
}

/// Returns the description of a field with its bounds and an example of its format.
fn hint_of(field: &ElicitationField) -> Option<String> {
    let bounds = match field.field_type {
        ElicitationFieldType::Text => words::length(field.least, field.most),
        ElicitationFieldType::Boolean | ElicitationFieldType::Choice => None,
        _ => words::bounds(field.least, field.most),
    };
    // The browser has a picker for dates.
    let format = field.format.filter(|format| *format != ElicitationTextFormat::Date);
    let example = format.map(|format| words::for_example(format.example()));
    let description = Some(field.description.clone()).filter(|text| !text.is_empty());
    let parts: Vec<String> = [description, bounds, example].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}
