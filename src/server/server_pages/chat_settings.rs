//! The settings of one chat: its prompt, the parameters of its models, and how the present branch sends earlier
//! reasoning back.

mod chat_actions;

use std::collections::BTreeMap;
use std::fmt::Display;

use chat_actions::{delete_form, suggest_title_form};
use leptos::prelude::*;

pub use chat_actions::{chat_paths, rename_form, stop_title_button, suggest_title_button};

use super::form_fields::{FieldKind, SelectField, TextField};
use super::projects::chat_project_form;
use super::{ActionNotice, PageSection, ServerPage, messages};
use crate::domain::branches::branch::{ContextPolicy, PromptPrefix};
use crate::domain::providers::capabilities::{Capabilities, ParamSupport, ValueRange};
use crate::domain::text::hidden_text::visible_text;
use crate::domain::{Branch, Chat, InvalidField, ModelParams, Thinking};
use crate::ui::erased::view;
use crate::ui::locale::coded_messages::{coded_sentence, range_sentence};
use crate::ui::locale::message;
use crate::ui::messages as app_words;
use turnleaf_service::chats::titles::ListedTitleRequest;
use turnleaf_service::projects::ListedProject;

/// The values of the form as they were typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatSettingsForm {
    pub system_prompt: String,
    /// The name of a level, `budget`, or empty for the default.
    pub thinking: String,
    pub budget: String,
    pub temperature: String,
    pub top_p: String,
    pub top_k: String,
    pub max_tokens: String,
    /// One per line.
    pub stop_sequences: String,
    /// The name of a policy; empty without a branch.
    pub policy: String,
}

/// The errors by field of the form.
pub type FieldErrors = BTreeMap<String, String>;

/// Converts an error of the service to the field of the form.
pub fn field_errors(invalid: InvalidField) -> FieldErrors {
    FieldErrors::from([(invalid.field.trim_start_matches("params.").to_owned(), coded_sentence(&invalid.reason))])
}

impl ChatSettingsForm {
    /// Fills the form from the stored settings.
    pub fn from_settings(system_prompt: &str, params: &ModelParams, branch: Option<&Branch>) -> Self {
        let text = |value: Option<String>| value.unwrap_or_default();
        Self {
            system_prompt: system_prompt.to_owned(),
            thinking: params.thinking.map(|thinking| thinking.as_str().to_owned()).unwrap_or_default(),
            budget: match params.thinking {
                Some(Thinking::Budget(tokens)) => tokens.to_string(),
                _ => String::new(),
            },
            temperature: text(params.temperature.map(|value| value.to_string())),
            top_p: text(params.top_p.map(|value| value.to_string())),
            top_k: text(params.top_k.map(|value| value.to_string())),
            max_tokens: text(params.max_tokens.map(|value| value.to_string())),
            stop_sequences: params.stop_sequences.join("\n"),
            policy: branch.map(|branch| policy_word(branch.policy).to_owned()).unwrap_or_default(),
        }
    }

    /// Parses the parameters.
    ///
    /// # Errors
    /// All errors, by field.
    pub fn params(&self) -> Result<ModelParams, FieldErrors> {
        let mut wrong = FieldErrors::new();
        let thinking = match self.thinking.as_str() {
            "" => None,
            "budget" => number(&mut wrong, "budget", &self.budget).map(Thinking::Budget).or_else(|| {
                wrong.entry("budget".into()).or_insert_with(|| messages::budget_missing().into());
                None
            }),
            level => Thinking::parse_level(level),
        };
        let params = ModelParams {
            temperature: number(&mut wrong, "temperature", &self.temperature),
            top_p: number(&mut wrong, "top_p", &self.top_p),
            top_k: number(&mut wrong, "top_k", &self.top_k),
            max_tokens: number(&mut wrong, "max_tokens", &self.max_tokens),
            stop_sequences: self.stop_sequences.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
            thinking,
        };
        if let Err(InvalidField { field, reason }) = params.validate() {
            let field = field.trim_start_matches("params.");
            let field = if field == "thinking" { "budget" } else { field };
            wrong.entry(field.to_owned()).or_insert_with(|| coded_sentence(&reason));
        }
        if wrong.is_empty() { Ok(params) } else { Err(wrong) }
    }

    pub fn policy(&self) -> Option<ContextPolicy> {
        POLICIES.into_iter().find(|policy| policy_word(*policy) == self.policy)
    }
}

const POLICIES: [ContextPolicy; 3] =
    [ContextPolicy::Exact, ContextPolicy::SignaturesOnly, ContextPolicy::OmitCompleted];

fn policy_name(policy: ContextPolicy) -> &'static str {
    match policy {
        ContextPolicy::Exact => messages::policy_exact(),
        ContextPolicy::SignaturesOnly => messages::policy_signatures(),
        ContextPolicy::OmitCompleted => messages::policy_omit(),
    }
}

fn policy_word(policy: ContextPolicy) -> &'static str {
    match policy {
        ContextPolicy::Exact => "exact",
        ContextPolicy::SignaturesOnly => "signatures_only",
        ContextPolicy::OmitCompleted => "omit_completed",
    }
}

fn number<T: std::str::FromStr>(wrong: &mut FieldErrors, field: &str, text: &str) -> Option<T> {
    // Many locales use a decimal comma.
    let text = text.trim().replace(',', ".");
    if text.is_empty() {
        return None;
    }
    let number = text.parse().ok();
    if number.is_none() {
        wrong.insert(field.to_owned(), messages::not_a_number().into());
    }
    number
}

/// The content of the page besides the form.
pub struct ChatSettingsView<'a> {
    /// `None` for a new chat that its first message creates.
    pub chat: Option<&'a Chat>,
    /// The title as it was typed, else the stored one.
    pub title: &'a str,
    /// The branch that the chat shows, with its prompt prefix and the name and capabilities of its model.
    pub branch: Option<(&'a Branch, &'a PromptPrefix, &'a str, &'a Capabilities)>,
    /// The projects into which the chat can be moved.
    pub projects: &'a [ListedProject],
    pub form: &'a ChatSettingsForm,
    pub errors: &'a FieldErrors,
    /// The last requests for a title.
    pub title_requests: &'a [ListedTitleRequest],
}

impl ChatSettingsView<'_> {
    /// Renders the page.
    pub fn page(&self, notice: Option<ActionNotice>) -> ServerPage {
        ServerPage { section: PageSection::Chat, title: app_words::chat_settings().into(), notice, body: self.draw() }
    }

    fn draw(&self) -> AnyView {
        let (back, chat_path) = chat_paths(self.chat.map(|chat| chat.id));
        let lines = |name, label, hint, value: &str, kind| {
            let error = self.error(name);
            TextField { label, name, form: FORM, value, hint: Some(hint), error, kind, ..TextField::default() }.draw()
        };
        let form = self.form;
        let prompt_hint = match self.chat {
            Some(_) => messages::system_prompt_hint(),
            None => messages::instructions_hint(),
        };
        view! {
            <p><a href=back>{messages::back_to_chat()}</a></p>
            <p><a href=format!("{chat_path}/tools")>{messages::tools::of_chat()}</a></p>
            {self.chat.is_none().then(|| view! { <p class="lead">{messages::next_chat_hint()}</p> })}
            {self.chat.map(|chat| rename_form(chat, self.title, self.error("title")))}
            {self.chat.map(|chat| suggest_title_form(chat, self.title_requests))}
            {self.chat.map(crate::server::server_pages::chats::list_position_form)}
            <form class="form" method="post" action=format!("{chat_path}/settings")>
                {self.branch.map(|(branch, ..)| view! {
                    <input type="hidden" name="branch_id" value=branch.id.to_string()/>
                })}
                {lines("system_prompt", messages::system_prompt(), prompt_hint, &form.system_prompt, FieldKind::Lines(6))}
                {self.kept_prompt()}
                {self.kept_instructions()}
                <h2>{messages::parameters()}</h2>
                <p class="hint">{self.about_model()}</p>
                {self.thinking()}
                {self.number("temperature", messages::temperature(), &form.temperature, |model| bounds(model.temperature))}
                {self.number("top_p", messages::TOP_P, &form.top_p, |model| bounds(model.top_p))}
                {self.number("top_k", messages::TOP_K, &form.top_k, |model| bounds(model.top_k))}
                {self.number("max_tokens", messages::max_tokens(), &form.max_tokens, |model| range_words(&model.max_tokens))}
                {lines("stop_sequences", messages::stops(), messages::stops_hint(), &form.stop_sequences, FieldKind::CodeLines(3))}
                {self.policy()}
                <div class="deeds"><button type="submit" class="button primary">{messages::save()}</button></div>
            </form>
            {self.chat.map(|chat| chat_project_form(chat, self.projects))}
            {self.chat.map(delete_form)}
        }
    }

    fn error(&self, field: &str) -> Option<&str> {
        self.errors.get(field).map(String::as_str)
    }

    /// Renders the prompt that the branch froze, if the chat's prompt has changed since.
    fn kept_prompt(&self) -> AnyView {
        let kept = self.branch.filter(|(branch, frozen, ..)| {
            branch.head_turn_id.is_some() && self.chat.is_some_and(|chat| frozen.system_prompt != chat.system_prompt)
        });
        let Some((branch, frozen, ..)) = kept else { return ().into_any() };
        let prompt = if frozen.system_prompt.is_empty() { messages::no_prompt() } else { &frozen.system_prompt };
        view! {
            <details class="kept">
                <summary>{messages::keeps_prompt(&branch.name)}</summary>
                <pre dir="auto">{prompt.to_owned()}</pre>
            </details>
        }
    }

    /// Renders the instructions of tool servers that the branch sends after its prompt.
    fn kept_instructions(&self) -> Option<AnyView> {
        let (branch, frozen, ..) = self.branch.filter(|(_, frozen, ..)| !frozen.instructions.is_empty())?;
        let texts = frozen.instructions.iter().map(|one| {
            view! {
                <h3><bdi>{visible_text(&one.name)}</bdi></h3>
                <pre dir="auto">{visible_text(&one.text)}</pre>
            }
        });
        let texts = texts.collect_view();
        Some(view! {
            <details class="kept">
                <summary>{messages::keeps_instructions(&branch.name)}</summary>
                {texts}
            </details>
        })
    }

    fn about_model(&self) -> String {
        match self.branch {
            Some((_, _, model, _)) => messages::about_parameters(model),
            None => messages::parameters_hint().into(),
        }
    }

    fn thinking(&self) -> AnyView {
        let mut options = vec![("", messages::thinking_usual())];
        options.extend(Thinking::LEVELS.map(|level| (level.as_str(), app_words::thinking_level(level))));
        options.push(("budget", messages::thinking_budget()));
        let choice = SelectField {
            label: app_words::thinking(),
            name: "thinking",
            form: FORM,
            options: &options,
            chosen: &self.form.thinking,
            hint: None,
            error: self.error("thinking"),
        };
        let budget = self.number("budget", messages::budget(), &self.form.budget, |model| {
            model.thinking_budget.map_or_else(|| messages::not_taken().to_owned(), |budget| range_words(&budget))
        });
        view! { {choice.draw()} {budget} }.into_any()
    }

    fn number(&self, name: &str, label: &str, value: &str, hint: impl Fn(&Capabilities) -> String) -> AnyView {
        let hint = self.branch.map(|(_, _, _, model)| hint(model));
        let (hint, error, kind) = (hint.as_deref(), self.error(name), FieldKind::Code);
        TextField { label, name, form: FORM, value, hint, error, kind, ..TextField::default() }.draw()
    }

    fn policy(&self) -> AnyView {
        let Some((branch, ..)) = self.branch else { return ().into_any() };
        // The last policy is set by repairs, and shown only where a repair has set it.
        let options: Vec<(&str, &str)> = POLICIES
            .into_iter()
            .filter(|policy| *policy != ContextPolicy::OmitCompleted || *policy == branch.policy)
            .map(|policy| (policy_word(policy), policy_name(policy)))
            .collect();
        let choice = SelectField {
            label: messages::policy(),
            name: "policy",
            form: FORM,
            options: &options,
            chosen: &self.form.policy,
            hint: Some(messages::policy_hint()),
            error: self.error("policy"),
        };
        view! { <h2>{messages::branch_settings_title(&branch.name)}</h2> {choice.draw()} }.into_any()
    }
}

const FORM: &str = "chat";

fn range_words<T: Display>(range: &ValueRange<T>) -> String {
    range_sentence(&range.message_args()).unwrap_or_default()
}

fn bounds<T: Display + PartialEq + Copy>(support: ParamSupport<ValueRange<T>>) -> String {
    match (support.plain, support.thinking) {
        (Some(plain), Some(thinking)) if plain == thinking => range_words(&plain),
        (Some(plain), Some(thinking)) => {
            let (plain, thinking) = (range_words(&plain), messages::bounds_while_thinking(&range_words(&thinking)));
            message!("{plain}; {thinking}", "{plain}；{thinking}")
        }
        (Some(plain), None) => {
            let (plain, not) = (range_words(&plain), messages::not_while_thinking());
            message!("{plain}; {not}", "{plain}；{not}")
        }
        (None, Some(thinking)) => messages::bounds_while_thinking(&range_words(&thinking)),
        (None, None) => messages::not_taken().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_settings_round_trip_through_form() {
        let params = ModelParams {
            temperature: Some(0.7),
            top_p: Some(1.0),
            top_k: Some(40),
            max_tokens: Some(2_000),
            stop_sequences: vec!["END".into(), " two words ".into()],
            thinking: Some(Thinking::Budget(4_096)),
        };
        assert_eq!(ChatSettingsForm::from_settings("Be brief.", &params, None).params(), Ok(params));
        assert_eq!(ChatSettingsForm::default().params(), Ok(ModelParams::default()));
    }

    #[test]
    fn every_invalid_field_is_reported_at_once() {
        let form = ChatSettingsForm {
            temperature: "warm".into(),
            top_k: "-1".into(),
            max_tokens: "1,5".into(),
            thinking: "budget".into(),
            ..ChatSettingsForm::default()
        };
        let wrong = form.params().unwrap_err();
        assert_eq!(wrong.keys().collect::<Vec<_>>(), ["budget", "max_tokens", "temperature", "top_k"]);
        let wrong = ChatSettingsForm { temperature: "2,5".into(), ..ChatSettingsForm::default() }.params().unwrap_err();
        assert_eq!(wrong["temperature"], "must be between 0 and 2");
    }
}
