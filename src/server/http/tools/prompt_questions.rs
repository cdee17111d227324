//! Questions of a tool server before it gives the text of a prompt, one page for each. Nothing is stored: the form carries
//! the prompt and the answers so far, which are the user's own and are checked like any other request.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::tools::elicitation::{ElicitationAction, KeyedAnswer, KeyedQuestion, OpenQuestions};
use crate::domain::{ChatId, InvalidField};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::attachments::forms::chat_page_path;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::response::service_problem::refusal_sentence;
use crate::server::http::turns::elicitations::{submitted_action, submitted_values};
use crate::server::server_pages::ServerPage;
use crate::server::server_pages::insert::InsertPage;
use crate::server::server_pages::prompt_question::{PENDING_FIELD, PromptQuestionPage};
use turnleaf_service::ServiceError;
use turnleaf_service::tools::elicitations::CONTENT_FIELD;
use turnleaf_service::tools::server_content::PromptRequest;

/// A prompt whose server asks the user first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingPrompt {
    chat: Option<ChatId>,
    server: String,
    prompt: String,
    arguments: Map<String, Value>,
    open: OpenQuestions,
    /// The answers to the first questions; the next one is shown.
    given: Vec<KeyedAnswer>,
}

impl PendingPrompt {
    pub fn new(chat: Option<ChatId>, server: String, request: PromptRequest, open: OpenQuestions) -> Self {
        let PromptRequest { name: prompt, arguments, .. } = request;
        Self { chat, server, prompt, arguments, open, given: Vec::new() }
    }

    /// Renders the page of the next question, with what was typed and why it was refused.
    pub fn page(&self, typed: Option<&[Vec<String>]>, error: Option<&InvalidField>) -> ServerPage {
        let question = self.next_question().map(|question| &question.request);
        PromptQuestionPage {
            back: chat_page_path(self.chat),
            place: (self.given.len() + 1, self.open.questions.len()),
            pending: serde_json::to_string(self).unwrap_or_default(),
            question,
            typed,
            error,
        }
        .draw()
    }

    fn next_question(&self) -> Option<&KeyedQuestion> {
        self.open.questions.get(self.given.len())
    }
}

/// `POST /forms/insert/answer`: keeps the answer to one question. After the last one, the prompt is requested again.
pub async fn answer_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let pending: Option<PendingPrompt> = serde_json::from_str(&fields.lines(PENDING_FIELD)).ok();
    let mut pending = pending.ok_or_else(Problem::not_found)?;
    let action = submitted_action(&fields)?;
    let KeyedQuestion { key, request } = pending.next_question().cloned().ok_or_else(Problem::not_found)?;
    let typed = submitted_values(&request, &fields);
    let is_form = action == ElicitationAction::Accept && request.page.is_none();
    let given = request.content_from_form(|at| typed.get(at).cloned().unwrap_or_default());
    let content = match is_form.then(|| request.check_content(&given)).transpose() {
        Ok(content) => content,
        Err(InvalidField { field, reason }) => {
            let error = InvalidField { field: format!("{CONTENT_FIELD}/{field}"), reason };
            let page = pending.page(Some(&typed), Some(&error));
            return Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page));
        }
    };
    pending.given.push(KeyedAnswer { key, action, content });
    if pending.next_question().is_some() {
        return Ok(context.respond(&app, StatusCode::OK, pending.page(None, None)));
    }
    let PendingPrompt { chat, server, prompt, arguments, open, given } = pending;
    let request = PromptRequest { name: prompt, arguments, answers: given, state: open.state };
    match app.service().insert_server_prompt(principal.user, chat, &server, request.clone()).await {
        Ok(None) => Ok(see_other(&chat_page_path(chat))),
        Ok(Some(open)) => {
            let pending = PendingPrompt::new(chat, server, request, open);
            Ok(context.respond(&app, StatusCode::OK, pending.page(None, None)))
        }
        Err(error @ (ServiceError::Invalid(_) | ServiceError::Conflict { .. } | ServiceError::TooLarge { .. })) => {
            let problem = Some(refusal_sentence(&error));
            let (back, servers) = (chat_page_path(chat), app.service().server_catalogs(principal.user).await?);
            let page = InsertPage { chat, back, servers, problem, typed: None };
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
        }
        Err(error) => Err(error.into()),
    }
}
