//! The page of a question that a tool server asks before it gives the text of a prompt. It works without script.

use leptos::prelude::*;

use super::elicitation::described_error;
use super::messages::{self, insert as words};
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::InvalidField;
use crate::domain::tools::elicitation::ElicitationRequest;
use crate::ui::erased::view;
use crate::ui::messages::elicitation;
use crate::ui::transcript::elicitation_form::ElicitationForm;

/// The hidden field with the prompt and the answers so far.
pub const PENDING_FIELD: &str = "pending";

/// The page; after a refusal it keeps what was typed.
pub struct PromptQuestionPage<'a> {
    /// The address of the chat.
    pub back: String,
    /// The number of the question, and how many there are.
    pub place: (usize, usize),
    /// The prompt and the answers so far, as JSON.
    pub pending: String,
    /// `None` where no question is left.
    pub question: Option<&'a ElicitationRequest>,
    /// The submitted values of each field.
    pub typed: Option<&'a [Vec<String>]>,
    pub error: Option<&'a InvalidField>,
}

impl PromptQuestionPage<'_> {
    pub fn draw(self) -> ServerPage {
        let Self { back, place: (at, of), pending, question, typed, error } = self;
        let mut notice = None;
        let form = question.map(|request| {
            let (of_field, sentence) = described_error(request, error);
            notice = sentence.map(ActionNotice::Refused);
            let id = at.to_string();
            let form = ElicitationForm { turn: None, id: &id, request, typed, error: of_field };
            view! {
                {(of > 1).then(|| view! { <p class="hint">{words::question_place(at, of)}</p> })}
                {form.question()}
                <p class="ask-note" dir="auto">{words::answer_goes_to(&request.server)}</p>
                <form class="form" method="post" action="/forms/insert/answer">
                    <input type="hidden" name=PENDING_FIELD value=pending/>
                    {form.fields()}
                    <div class="deeds">{form.buttons(None)}</div>
                </form>
            }
        });
        let title = question.map_or_else(|| words::title().to_owned(), |request| elicitation::title(&request.server));
        let body = view! {
            <p><a href=back>{messages::back_to_chat()}</a></p>
            {form}
        };
        ServerPage { section: PageSection::Chat, title, notice, body }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::MessageCode;
    use crate::domain::tools::elicitation::parse_fields;

    #[test]
    fn question_keeps_its_prompt_and_names_wrong_field() {
        let schema = json!({ "required": ["n"], "properties": { "n": { "type": "integer", "title": "<N>" } } });
        let fields = parse_fields(&schema, &[]).unwrap();
        let request = ElicitationRequest { server: "Forge".into(), message: "How many?".into(), fields, page: None };
        let (typed, error) = (vec![vec!["x".to_owned()]], InvalidField::new("content/n", MessageCode::IsRequired));
        let page = PromptQuestionPage {
            back: "/".into(),
            place: (1, 2),
            pending: "{\"prompt\":\"plan\"}".into(),
            question: Some(&request),
            typed: Some(&typed),
            error: Some(&error),
        };
        let (html, is_refused) = Owner::new().with(|| {
            let page = page.draw();
            (page.body.to_html(), matches!(page.notice, Some(ActionNotice::Refused(_))))
        });
        assert!(is_refused);
        for part in [
            "How many?",
            "&lt;N&gt;",
            "aria-invalid=\"true\"",
            "value=\"{&quot;prompt&quot;:&quot;plan&quot;}\"",
            "Question 1 of 2",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("kept in this chat") && !html.contains("name=\"turn\""), "{html}");
    }
}
