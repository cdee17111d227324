//! Page data: the service's results with the server's rendering, in the types of `api::view`. Server functions and
//! forms both use it.

mod budget_notes;
mod chat_glance;
mod chat_list;
mod connection_choices;
pub mod demo;
mod message_queue;
mod messages;
mod path_window;
mod running_chats;
mod shared_path;
mod trash;
mod tree;
mod turn_rendering;

use crate::api::error::ApiError;
use crate::api::view::{ChatPage, ComposerNotice, CopySource, NewerTurnsView, PathDirection, StartedReply, TurnView};
use crate::domain::text::excerpt::first_words;
use crate::domain::{
    Branch, BudgetState, ChatId, Failure, InvalidField, MessageCode, ModelLock, ModelParams, Thinking, Turn, TurnId,
    TurnStatus, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_service::paths::{ChatPath, window::WindowDirection};
use turnleaf_service::turns::AcceptedExchange as ServiceStarted;
use turnleaf_service::turns::generations::GenerationStatus;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::{Service, ServiceError, StoreError, chats::ChatChange};

use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::locale::failure_sentences::failure_sentence;
use crate::ui::locale::{Locale, locale, with_locale};
pub use path_window::WholePath;
pub use shared_path::SharedPath;

/// The number of characters of a parent branch's name.
const PARENT_CHARS: usize = 24;

/// The pages' view of the service, with the locale of the request, because page data is loaded in separate tasks,
/// which do not inherit the locale.
#[derive(Clone)]
pub struct PageService(Service, Locale);

impl PageService {
    pub fn new(service: Service) -> Self {
        Self(service, locale())
    }

    /// Returns a function that converts errors of the service, with sentences in the language of the request.
    fn api_error(&self) -> impl Fn(ServiceError) -> ApiError + use<> {
        let locale = self.1;
        move |error| with_locale(locale, || api_error(error))
    }

    /// Returns a chat as it is read at a turn. When that turn is deleted, returns it at the nearest remaining turn.
    pub async fn chat(
        &self,
        viewer: UserId,
        id: Option<ChatId>,
        at: Option<TurnId>,
        from: Option<TurnId>,
        side: Option<PathDirection>,
    ) -> Result<ChatPage, ApiError> {
        match (self.chat_at(viewer, id, at, from, side).await, id, from.or(at)) {
            (Err(ApiError::NotFound), Some(chat), Some(turn)) => {
                let near = self.0.nearest_remaining_turn(viewer, chat, turn).await.map_err(self.api_error())?;
                let page = self.chat_at(viewer, id, near, None, None).await?;
                Ok(ChatPage { is_turn_gone: true, ..page })
            }
            (page, ..) => page,
        }
    }

    async fn chat_at(
        &self,
        viewer: UserId,
        id: Option<ChatId>,
        at: Option<TurnId>,
        from: Option<TurnId>,
        side: Option<PathDirection>,
    ) -> Result<ChatPage, ApiError> {
        let mut page = self.empty_page(viewer, id).await?;
        let Some(id) = id else { return self.new_chat_page(viewer, page).await };
        let (path, end) = match from {
            Some(from) => {
                let up_to = self.0.path_up_to(viewer, id, from, limits::PAGE_MORE);
                let (path, hidden) = up_to.await.map_err(self.api_error())?;
                page.hides_below = Some(hidden);
                (path, None)
            }
            None => {
                let side = side.map(direction);
                self.0.path_around(viewer, id, at, side, limits::PAGE_MORE).await.map_err(self.api_error())?
            }
        };
        let leaf = end.as_ref().map(|end| &end.turn).or(path.turns.last());
        page.running = self.also_running(viewer, id, leaf.map(|leaf| leaf.id)).await;
        if let Some(leaf) = leaf.filter(|_| page.hides_below.is_none()) {
            page.queue = self.queue_view(viewer, leaf.id).await?;
        }
        self.add_path_details(viewer, &path, leaf, &mut page).await.map_err(self.api_error())?;
        if let Some(branch) = &path.branch {
            page.branch_from = self.branch_from(viewer, branch).await?;
            page.tools_on = self.branch_tool_count(viewer, branch).await?;
            self.add_model_notice(viewer, branch, &mut page);
        }
        page.has_more_before = path.has_more_before;
        page.leaves = self.0.leaf_count(viewer, id).await.map_err(self.api_error())?;
        page.end = self.render_turns(viewer, end.into_iter().collect()).await?.pop();
        page.draft.thinking = page.draft.thinking.or(path.chat.settings.params.thinking.map(Thinking::level));
        page.chat = Some(path.chat.clone());
        page.branch = path.branch.clone();
        page.turns = self.path_turn_views(viewer, path).await?;
        Ok(page)
    }

    /// Returns a page without a chat: the models, and the draft of the chat that it will show.
    async fn empty_page(&self, viewer: UserId, id: Option<ChatId>) -> Result<ChatPage, ApiError> {
        let models = self.0.models(viewer).await.map_err(self.api_error())?;
        let models = with_locale(self.1, || demo::localize_models(models));
        let draft = self.draft_view(viewer, self.0.draft(viewer, id).await.map_err(self.api_error())?).await?;
        let mut page = ChatPage {
            draft,
            budget_notes: self.budget_notes(viewer).await?,
            form_request_id: ids::mint::<uuid::Uuid>().to_string(),
            models_rev: self.models_rev(viewer),
            models,
            ..ChatPage::default()
        };
        if page.models.iter().all(|model| model.is_demo) {
            page.notices.push(ComposerNotice::NothingConfigured { ways: connection_choices::connection_choices() });
        }
        Ok(page)
    }

    /// Completes the page of a new chat.
    async fn new_chat_page(&self, viewer: UserId, mut page: ChatPage) -> Result<ChatPage, ApiError> {
        let default = self.0.default_model(viewer).await.map_err(self.api_error())?;
        for model in &mut page.models {
            model.is_default = model.lock == default;
        }
        page.tools_on = self.new_chat_tool_count(viewer).await?;
        let thinking = self.0.next_chat(viewer).await.map_err(self.api_error())?.params.thinking;
        page.draft.thinking = page.draft.thinking.or(thinking.map(Thinking::level));
        page.notices.extend(self.found_server_notices(viewer).await?);
        Ok(page)
    }

    /// Adds a notice when the branch's model is not available. A hidden model stays selectable on its own branches.
    fn add_model_notice(&self, viewer: UserId, branch: &Branch, page: &mut ChatPage) {
        let registry = self.0.supervisor().registry();
        if !registry.offers(viewer, &branch.lock) {
            page.notices.push(ComposerNotice::ModelUnavailable { lock: branch.lock.clone() });
        }
        if page.models.iter().all(|model| model.lock != branch.lock) {
            let mut all = registry.models_with_hidden(viewer).into_iter();
            page.models.extend(all.find(|model| model.lock == branch.lock));
        }
    }

    pub async fn rename_chat(&self, viewer: UserId, id: ChatId, title: String) -> Result<(), ApiError> {
        let change = ChatChange { title: Some(title), ..ChatChange::default() };
        self.0.change_chat(viewer, id, change).await.map(drop).map_err(self.api_error())
    }

    /// Asks the model of a chat for a title; returns none if the request was stopped. A failed request is a conflict with
    /// the code of its failure.
    pub async fn suggest_title(&self, viewer: UserId, id: ChatId) -> Result<Option<String>, ApiError> {
        let suggestion = self.0.suggest_title(viewer, id, None).await.map_err(self.api_error())?.value;
        let failed = |failure: Failure| ApiError::Conflict {
            code: failure.kind.as_str().to_owned(),
            message: with_locale(self.1, || failure_sentence(&failure)),
        };
        match (suggestion.title, suggestion.error) {
            (Some(title), _) => Ok(Some(title)),
            (None, Some(failure)) => Err(failed(failure)),
            (None, None) if suggestion.status == GenerationStatus::Cancelled => Ok(None),
            (None, None) => Err(ApiError::NotFound),
        }
    }

    pub async fn stop_title(&self, viewer: UserId, id: ChatId) -> Result<(), ApiError> {
        self.0.stop_title_suggestion(viewer, id).await.map(drop).map_err(self.api_error())
    }

    pub async fn delete_chat(&self, viewer: UserId, id: ChatId) -> Result<(), ApiError> {
        self.0.delete_chat(viewer, id).await.map(drop).map_err(self.api_error())
    }

    pub async fn restore_chat(&self, viewer: UserId, id: ChatId) -> Result<(), ApiError> {
        self.0.restore_chat(viewer, id).await.map(drop).map_err(self.api_error())
    }

    /// Returns the status of the last reply of a chat.
    pub async fn last_status(&self, viewer: UserId, id: ChatId) -> Result<Option<TurnStatus>, ApiError> {
        let (_, leaf) = self.0.chat_with_leaf(viewer, id, None).await.map_err(self.api_error())?;
        let Some(leaf) = leaf else { return Ok(None) };
        Ok(Some(self.0.turn(viewer, leaf).await.map_err(self.api_error())?.status))
    }

    pub async fn stop_reply(&self, viewer: UserId, id: TurnId) -> Result<TurnView, ApiError> {
        self.0.stop_turn(viewer, id).await.map_err(self.api_error())?;
        self.turn(viewer, id).await
    }

    pub async fn retry_reply(
        &self,
        viewer: UserId,
        id: TurnId,
        lock: Option<ModelLock>,
        request_id: String,
    ) -> Result<StartedReply, ApiError> {
        let request_id = Some(request_id).filter(|id| !id.is_empty());
        let (provider, model) = lock.map(|lock| (lock.provider, lock.model)).unzip();
        let place = PlacementRequest { provider, model, ..PlacementRequest::default() };
        let started = self.0.retry_turn(viewer, id, place, ModelParams::default(), request_id).await;
        self.started_view(viewer, started.map_err(self.api_error())?).await
    }

    pub async fn continue_reply(
        &self,
        viewer: UserId,
        id: TurnId,
        message: String,
        request_id: String,
    ) -> Result<StartedReply, ApiError> {
        let request_id = Some(request_id).filter(|id| !id.is_empty());
        let started = self.0.continue_turn(viewer, id, message, request_id).await;
        self.started_view(viewer, started.map_err(self.api_error())?).await
    }

    pub async fn turn(&self, viewer: UserId, id: TurnId) -> Result<TurnView, ApiError> {
        let details = self.0.turn_details(viewer, id).await.map_err(self.api_error())?;
        self.render_turns(viewer, vec![details]).await?.pop().ok_or(ApiError::NotFound)
    }

    /// Stores the path of a page as the reader's position, unless it is cut off.
    pub async fn record_visit(&self, viewer: UserId, page: &ChatPage) {
        let leaf = page.end.as_ref().or(page.turns.last()).filter(|_| page.hides_below.is_none());
        if let (Some(chat), Some(leaf)) = (&page.chat, leaf)
            && chat.last_viewed_turn_id != Some(leaf.turn.id)
        {
            self.0.remember_shown_path(viewer, chat.id, leaf.turn.id).await;
        }
    }

    /// Adds the details around the path.
    async fn add_path_details(
        &self,
        viewer: UserId,
        path: &ChatPath,
        leaf: Option<&Turn>,
        page: &mut ChatPage,
    ) -> Result<(), ServiceError> {
        let origin = self.0.copy_origin(viewer, &path.chat).await?;
        page.copied_from = origin.map(|(chat, turn_id)| CopySource { chat_id: chat.id, turn_id, title: chat.title });
        let Some(leaf) = leaf.filter(|_| page.hides_below.is_none()) else { return Ok(()) };
        let newer_turns = self.0.newer_turns(viewer, leaf).await?;
        page.elsewhere = newer_turns.map(|found| NewerTurnsView { newest: found.newest, turns: found.turns });
        self.0.mark_chat_read(viewer, path.chat.id).await;
        Ok(())
    }

    async fn started_view(&self, viewer: UserId, started: ServiceStarted) -> Result<StartedReply, ApiError> {
        let details = self.0.accepted_details(viewer, &started).await.map_err(self.api_error())?;
        let mut turns = self.render_turns(viewer, details.into()).await?.into_iter();
        let (Some(user_turn), Some(assistant_turn)) = (turns.next(), turns.next()) else {
            return Err(ApiError::NotFound);
        };
        let branch_from = self.branch_from(viewer, &started.branch).await?;
        Ok(StartedReply { chat_id: started.chat.id, branch: started.branch, branch_from, user_turn, assistant_turn })
    }

    /// Returns the shortened name of the parent branch.
    async fn branch_from(&self, viewer: UserId, branch: &Branch) -> Result<Option<String>, ApiError> {
        let name = self.0.parent_branch_name(viewer, branch).await.map_err(self.api_error())?;
        Ok(name.map(|name| first_words(&name, PARENT_CHARS)))
    }
}

fn direction(side: PathDirection) -> WindowDirection {
    match side {
        PathDirection::Older => WindowDirection::Before,
        PathDirection::Newer => WindowDirection::After,
    }
}

/// Converts an error of the service. The sentences are in the current language.
fn api_error(error: ServiceError) -> ApiError {
    match error {
        ServiceError::NotFound => ApiError::NotFound,
        ServiceError::Invalid(InvalidField { field, reason }) => {
            ApiError::Invalid { field, reason: coded_sentence(&reason) }
        }
        ServiceError::Conflict { code, message, .. }
        | ServiceError::Forbidden { code, message, .. }
        | ServiceError::Unfit { code, message, .. } => {
            ApiError::Conflict { code: code.into(), message: coded_sentence(&message) }
        }
        // Nothing was stored, so the page keeps the message in the composer.
        ServiceError::Storage(refusal) => {
            ApiError::Conflict { code: refusal.code().into(), message: coded_sentence(&refusal.into()) }
        }
        ServiceError::BudgetExhausted(budget) => {
            ApiError::Conflict { code: BudgetState::EXHAUSTED.into(), message: coded_sentence(&budget.refusal()) }
        }
        ServiceError::TooLarge { .. } => ApiError::TooLarge,
        ServiceError::TooManyRunning => ApiError::TooMany { retry_after_s: 5 },
        ServiceError::Store(StoreError::Full) => {
            ApiError::Unavailable { message: coded_sentence(&MessageCode::DiskFull.into()) }
        }
        ServiceError::Store(StoreError::Deleted(_)) => ApiError::NotFound,
        ServiceError::Store(error) if error.is_busy() || matches!(error, StoreError::InUse) => {
            ApiError::Unavailable { message: coded_sentence(&MessageCode::DatabaseBusy.into()) }
        }
        ServiceError::Store(error) => internal(&error),
    }
}

/// Logs the cause once, under a reference that the page shows.
fn internal(error: &dyn std::fmt::Display) -> ApiError {
    let reference = ids::mint::<uuid::Uuid>().to_string();
    tracing::error!(%error, reference, "a page could not be made");
    ApiError::Internal { reference }
}
