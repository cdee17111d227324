//! The page of a question that a tool server asks during a call. It works without script.

use leptos::prelude::*;

use super::messages;
use super::turns::turn_address;
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::InvalidField;
use crate::domain::tools::elicitation::ElicitationRequest;
use crate::ui::erased::view;
use crate::ui::locale::coded_messages::{coded_sentence, field_error_sentence};
use crate::ui::messages::elicitation as words;
use crate::ui::transcript::elicitation_form::{ElicitationForm, FieldError, question_fields};
use turnleaf_service::tools::elicitations::{CONTENT_FIELD, OpenElicitation};

/// The page; after a refusal it keeps what was typed.
pub struct ElicitationQuestionPage {
    pub question: OpenElicitation,
    /// The submitted values of each field.
    pub typed: Option<Vec<Vec<String>>>,
    pub error: Option<InvalidField>,
}

impl ElicitationQuestionPage {
    pub fn draw(self) -> ServerPage {
        let Self { question: OpenElicitation { turn, block, asked }, typed, error } = self;
        let (of_field, notice) = described_error(&asked.request, error.as_ref());
        let back = format!("{}#ask-{block}", turn_address(&turn));
        let id = asked.id.to_string();
        let (request, typed) = (&asked.request, typed.as_deref());
        let form = ElicitationForm { turn: Some(turn.id), id: &id, request, typed, error: of_field };
        let body = view! {
            <p><a href=back>{messages::back_to_chat()}</a></p>
            {form.question()}
            <form class="form" method="post" action="/forms/elicitation">
                {question_fields(turn.id, block, asked.id)}
                {form.fields()}
                <div class="deeds">{form.buttons(None)}</div>
            </form>
        };
        let title = words::title(&asked.request.server);
        ServerPage { section: PageSection::Chat, title, notice: notice.map(ActionNotice::Refused), body }
    }
}

/// Returns where an error belongs in the form of a question, and the sentence above the form.
pub fn described_error(
    request: &ElicitationRequest,
    error: Option<&InvalidField>,
) -> (Option<FieldError>, Option<String>) {
    let of_field = error.and_then(|error| {
        let name = error.field.strip_prefix(CONTENT_FIELD)?.strip_prefix('/')?;
        let at = request.fields.iter().position(|field| field.name == name)?;
        Some(FieldError { at, sentence: coded_sentence(&error.reason) })
    });
    let notice = error.map(|error| match &of_field {
        Some(_) => words::check_answers().to_owned(),
        None => field_error_sentence(error),
    });
    (of_field, notice)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::json;

    use super::*;
    use crate::domain::tools::elicitation::{Elicitation, parse_fields};
    use crate::domain::{MessageCode, fixtures};

    #[test]
    fn refused_answer_keeps_values_and_names_field() {
        let schema = json!({ "required": ["mail"], "properties": {
            "mail": { "type": "string", "format": "email", "title": "<Mail>" },
            "size": { "type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"] },
        } });
        let fields = parse_fields(&schema, &[]).unwrap();
        let request = ElicitationRequest { server: "Forge".into(), message: "Who?".into(), fields, page: None };
        let asked = Elicitation {
            id: uuid::Uuid::from_u128(7).into(),
            request,
            asked_at: DateTime::default(),
            outcome: None,
            content: None,
            ended_at: None,
        };
        let turn = fixtures::user_turn(1, "x");
        let question = OpenElicitation { turn, block: fixtures::block_id(2), asked };
        let page = ElicitationQuestionPage {
            question,
            typed: Some(vec![vec!["no\"mail".into()], vec!["l".into()]]),
            error: Some(InvalidField::new("content/mail", MessageCode::NotAnEmailAddress)),
        };
        let (html, is_refused) = Owner::new().with(|| {
            let page = page.draw();
            (page.body.to_html(), matches!(page.notice, Some(ActionNotice::Refused(_))))
        });
        assert!(is_refused);
        for part in ["&lt;Mail&gt;", "no&quot;mail", "aria-invalid=\"true\"", "must be an email address", "Large"] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
