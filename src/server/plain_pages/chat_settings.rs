//! The settings of one chat: its prompt, what is asked of its models, and how the branch that is read sends earlier
//! reasoning back.

mod deeds;

use std::collections::BTreeMap;
use std::fmt::Display;

use deeds::{deleting, naming};
use leptos::prelude::*;

pub use deeds::places;

use super::field::{Choice, Kind, TextField};
use super::{Page, Said, Section, words};
use crate::domain::branch::{ContextPolicy, Frozen};
use crate::domain::capabilities::{Capabilities, Takes};
use crate::domain::{Branch, Chat, Invalid, Params, Thinking};
use crate::ui::erased::view;
use crate::ui::locale::said;
use crate::ui::words::{self as app_words, told::told};

/// What the form holds, as it was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatForm {
    pub system_prompt: String,
    /// A level's word, `budget`, or nothing for the usual.
    pub thinking: String,
    pub budget: String,
    pub temperature: String,
    pub top_p: String,
    pub top_k: String,
    pub max_tokens: String,
    /// One a line.
    pub stop_sequences: String,
    /// A policy's word; nothing where there is no branch.
    pub policy: String,
}

/// What is wrong, by field of the form.
pub type Wrong = BTreeMap<String, String>;

/// What the service found wrong, by the field of the form.
pub fn wrong_of(invalid: Invalid) -> Wrong {
    Wrong::from([(invalid.field.trim_start_matches("params.").to_owned(), invalid.reason)])
}

impl ChatForm {
    /// What is stored.
    pub fn of(system_prompt: &str, params: &Params, branch: Option<&Branch>) -> Self {
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

    /// The parameters that it asks for.
    ///
    /// # Errors
    /// Everything that is wrong, field by field.
    pub fn params(&self) -> Result<Params, Wrong> {
        let mut wrong = Wrong::new();
        let thinking = match self.thinking.as_str() {
            "" => None,
            "budget" => number(&mut wrong, "budget", &self.budget).map(Thinking::Budget).or_else(|| {
                wrong.entry("budget".into()).or_insert_with(|| words::budget_missing().into());
                None
            }),
            level => Thinking::parse_level(level),
        };
        let params = Params {
            temperature: number(&mut wrong, "temperature", &self.temperature),
            top_p: number(&mut wrong, "top_p", &self.top_p),
            top_k: number(&mut wrong, "top_k", &self.top_k),
            max_tokens: number(&mut wrong, "max_tokens", &self.max_tokens),
            stop_sequences: self.stop_sequences.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
            thinking,
        };
        if let Err(Invalid { field, reason }) = params.validate() {
            let field = field.trim_start_matches("params.");
            let field = if field == "thinking" { "budget" } else { field };
            wrong.entry(field.to_owned()).or_insert(reason);
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
        ContextPolicy::Exact => words::policy_exact(),
        ContextPolicy::SignaturesOnly => words::policy_signatures(),
        ContextPolicy::OmitCompleted => words::policy_omit(),
    }
}

fn policy_word(policy: ContextPolicy) -> &'static str {
    match policy {
        ContextPolicy::Exact => "exact",
        ContextPolicy::SignaturesOnly => "signatures_only",
        ContextPolicy::OmitCompleted => "omit_completed",
    }
}

fn number<T: std::str::FromStr>(wrong: &mut Wrong, field: &str, text: &str) -> Option<T> {
    // People write decimals with a comma where that is the custom.
    let text = text.trim().replace(',', ".");
    if text.is_empty() {
        return None;
    }
    let number = text.parse().ok();
    if number.is_none() {
        wrong.insert(field.to_owned(), words::not_a_number().into());
    }
    number
}

/// What the page shows beside the form.
pub struct ChatSettingsView<'a> {
    /// None for the chat that its first message makes.
    pub chat: Option<&'a Chat>,
    /// What somebody wants to call it; what it is called.
    pub title: &'a str,
    /// The branch that the chat shows, with what it keeps and the name and abilities of its model.
    pub branch: Option<(&'a Branch, &'a Frozen, &'a str, &'a Capabilities)>,
    pub form: &'a ChatForm,
    pub wrong: &'a Wrong,
}

impl ChatSettingsView<'_> {
    /// The page, for its frame.
    pub fn page(&self, said: Option<Said>) -> Page {
        Page { section: Section::Chat, title: app_words::chat_settings().into(), said, body: self.draw() }
    }

    fn draw(&self) -> AnyView {
        let (back, here) = places(self.chat.map(|chat| chat.id));
        let lines = |name, label, hint, value: &str, kind| {
            let error = self.error(name);
            TextField { label, name, form: FORM, value, hint: Some(hint), error, kind, ..TextField::default() }.draw()
        };
        let form = self.form;
        let prompt_hint = match self.chat {
            Some(_) => words::system_prompt_hint(),
            None => words::instructions_hint(),
        };
        view! {
            <p><a href=back>{words::back_to_chat()}</a></p>
            <p><a href=format!("{here}/tools")>{words::tools::of_chat()}</a></p>
            {self.chat.is_none().then(|| view! { <p class="lead">{words::of_next_chat()}</p> })}
            {self.chat.map(|chat| naming(chat, self.title, self.error("title")))}
            {self.chat.map(super::chats::place)}
            <form class="form" method="post" action=format!("{here}/settings")>
                {self.branch.map(|(branch, ..)| view! {
                    <input type="hidden" name="branch_id" value=branch.id.to_string()/>
                })}
                {lines("system_prompt", words::system_prompt(), prompt_hint, &form.system_prompt, Kind::Lines(6))}
                {self.kept_prompt()}
                <h2>{words::parameters()}</h2>
                <p class="hint">{self.about_model()}</p>
                {self.thinking()}
                {self.number("temperature", words::temperature(), &form.temperature, |model| bounds(model.temperature))}
                {self.number("top_p", words::TOP_P, &form.top_p, |model| bounds(model.top_p))}
                {self.number("top_k", words::TOP_K, &form.top_k, |model| bounds(model.top_k))}
                {self.number("max_tokens", words::max_tokens(), &form.max_tokens, |model| told(&model.max_tokens.to_string()).into_owned())}
                {lines("stop_sequences", words::stops(), words::stops_hint(), &form.stop_sequences, Kind::CodeLines(3))}
                {self.policy()}
                <div class="deeds"><button type="submit" class="button primary">{words::save()}</button></div>
            </form>
            {self.chat.map(deleting)}
        }
    }

    fn error(&self, field: &str) -> Option<&str> {
        self.wrong.get(field).map(String::as_str)
    }

    /// The prompt that the branch began with, where the chat has another one by now.
    fn kept_prompt(&self) -> AnyView {
        let kept = self.branch.filter(|(branch, frozen, ..)| {
            branch.head_turn_id.is_some() && self.chat.is_some_and(|chat| frozen.system_prompt != chat.system_prompt)
        });
        let Some((branch, frozen, ..)) = kept else { return ().into_any() };
        let prompt = if frozen.system_prompt.is_empty() { words::no_prompt() } else { &frozen.system_prompt };
        view! {
            <details class="kept">
                <summary>{words::keeps_prompt(&branch.name)}</summary>
                <pre dir="auto">{prompt.to_owned()}</pre>
            </details>
        }
    }

    fn about_model(&self) -> String {
        match self.branch {
            Some((_, _, model, _)) => words::about_parameters(model),
            None => words::parameters_hint().into(),
        }
    }

    fn thinking(&self) -> AnyView {
        let mut options = vec![("", words::thinking_usual())];
        options.extend(Thinking::LEVELS.map(|level| (level.as_str(), app_words::thinking_level(level))));
        options.push(("budget", words::thinking_budget()));
        let choice = Choice {
            label: app_words::thinking(),
            name: "thinking",
            form: FORM,
            options: &options,
            chosen: &self.form.thinking,
            hint: None,
            error: self.error("thinking"),
        };
        let budget = self.number("budget", words::budget(), &self.form.budget, |model| {
            model
                .thinking_budget
                .map_or_else(|| words::not_taken().to_owned(), |budget| told(&budget.to_string()).into_owned())
        });
        view! { {choice.draw()} {budget} }.into_any()
    }

    fn number(&self, name: &str, label: &str, value: &str, hint: impl Fn(&Capabilities) -> String) -> AnyView {
        let hint = self.branch.map(|(_, _, _, model)| hint(model));
        let (hint, error, kind) = (hint.as_deref(), self.error(name), Kind::Code);
        TextField { label, name, form: FORM, value, hint, error, kind, ..TextField::default() }.draw()
    }

    fn policy(&self) -> AnyView {
        let Some((branch, ..)) = self.branch else { return ().into_any() };
        // The last one is for repair: it is shown where a repair chose it.
        let options: Vec<(&str, &str)> = POLICIES
            .into_iter()
            .filter(|policy| *policy != ContextPolicy::OmitCompleted || *policy == branch.policy)
            .map(|policy| (policy_word(policy), policy_name(policy)))
            .collect();
        let choice = Choice {
            label: words::policy(),
            name: "policy",
            form: FORM,
            options: &options,
            chosen: &self.form.policy,
            hint: Some(words::policy_hint()),
            error: self.error("policy"),
        };
        view! { <h2>{words::of_branch(&branch.name)}</h2> {choice.draw()} }.into_any()
    }
}

const FORM: &str = "chat";

fn bounds<T: Display + PartialEq + Copy>(takes: Takes<T>) -> String {
    match (takes.plain, takes.thinking) {
        (Some(plain), Some(thinking)) if plain == thinking => told(&plain.to_string()).into_owned(),
        (Some(plain), Some(thinking)) => {
            let plain = plain.to_string();
            let (plain, thinking) = (told(&plain), words::while_thinking(&told(&thinking.to_string())));
            said!("{plain}; {thinking}", "{plain}；{thinking}")
        }
        (Some(plain), None) => {
            let plain = plain.to_string();
            let (plain, not) = (told(&plain), words::not_while_thinking());
            said!("{plain}; {not}", "{plain}；{not}")
        }
        (None, Some(thinking)) => words::while_thinking(&told(&thinking.to_string())),
        (None, None) => words::not_taken().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_comes_back_from_the_form() {
        let params = Params {
            temperature: Some(0.7),
            top_p: Some(1.0),
            top_k: Some(40),
            max_tokens: Some(2_000),
            stop_sequences: vec!["END".into(), " two words ".into()],
            thinking: Some(Thinking::Budget(4_096)),
        };
        assert_eq!(ChatForm::of("Be brief.", &params, None).params(), Ok(params));
        assert_eq!(ChatForm::default().params(), Ok(Params::default()));
    }

    #[test]
    fn every_wrong_field_is_named_at_once() {
        let form = ChatForm {
            temperature: "warm".into(),
            top_k: "-1".into(),
            max_tokens: "1,5".into(),
            thinking: "budget".into(),
            ..ChatForm::default()
        };
        let wrong = form.params().unwrap_err();
        assert_eq!(wrong.keys().collect::<Vec<_>>(), ["budget", "max_tokens", "temperature", "top_k"]);
        let wrong = ChatForm { temperature: "2,5".into(), ..ChatForm::default() }.params().unwrap_err();
        assert_eq!(wrong["temperature"], "must be between 0 and 2");
    }
}
