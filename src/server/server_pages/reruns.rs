//! A rerun: its progress, the reason of a pause, and links to its result. The page refreshes itself while the rerun
//! runs.

use leptos::prelude::*;

use super::messages::{self, compare as texts};
use crate::domain::branches::rerun::{RerunPauseReason, RerunStatus};
use crate::ui::erased::view;
use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::messages::stored_codes::failure_sentence;
use crate::ui::messages::transcript::ending;
use turnleaf_service::turns::reruns::RerunState;

/// The page of a rerun.
pub struct RerunPage<'a> {
    pub grafted: &'a RerunState,
    /// The display name of the model.
    pub model: &'a str,
}

impl RerunPage<'_> {
    pub fn draw(&self) -> AnyView {
        let graft = &self.grafted.graft;
        let chat = graft.chat_id;
        let progress = texts::rerun_progress(graft.status, graft.asked, graft.messages.len());
        let is_complete = self.grafted.reply.as_ref().is_none_or(|reply| ending(reply.status).is_none());
        let answered = (graft.asked as usize).saturating_sub(usize::from(!is_complete));
        let reason = graft.reason.map(|reason| view! { <p>{texts::pause_reason(reason)}</p> });
        // The code of a failure is that of the reply.
        let failure = self.grafted.reply.as_ref().and_then(|reply| reply.error.as_ref());
        let is_of_reply = |reason| matches!(reason, RerunPauseReason::ReplyFailed | RerunPauseReason::ServerRestarted);
        let detail = match failure.filter(|_| graft.reason.is_some_and(is_of_reply)) {
            Some(failure) => Some(failure_sentence(failure)),
            None => graft.detail_message().map(|detail| coded_sentence(&detail)),
        };
        let detail = detail.map(|detail| view! { <p class="hint" dir="auto">{detail}</p> });
        let next_step_text = match graft.status {
            RerunStatus::Running => Some(texts::refreshes()),
            RerunStatus::Paused => Some(texts::ask_again_hint()),
            RerunStatus::Cancelled => Some(texts::rerun_finished()),
            RerunStatus::Done => None,
        };
        let next_step_text = next_step_text.map(|words| view! { <p class="hint">{words}</p> });
        view! {
            <div class="compare">
                <p><a href=format!("/c/{chat}")>{messages::back_to_chat()}</a></p>
                <p><a href=format!("/c/{chat}/compare")>{texts::to_comparison()}</a></p>
                <section class="panel" aria-labelledby="progress">
                    <h2 id="progress">{progress.clone()}</h2>
                    <p>
                        <span dir="auto">{texts::rerun_of_branch(&self.grafted.branch.name)}</span>
                        " · "
                        <bdi>{self.model.to_owned()}</bdi>
                    </p>
                    <progress aria-label=progress max=graft.messages.len().to_string() value=answered.to_string()></progress>
                    {reason}
                    {detail}
                    {next_step_text}
                    {self.rerun_links()}
                    {self.rerun_actions()}
                </section>
            </div>
        }
    }

    /// Renders the links to the result.
    fn rerun_links(&self) -> AnyView {
        let graft = &self.grafted.graft;
        let chat = graft.chat_id;
        let new = self.grafted.reply.as_ref().map(|reply| reply.id);
        let old = graft.leaf_turn_id;
        let both = new.zip(old).map(|(new, old)| {
            let class = if graft.status == RerunStatus::Done { "button primary" } else { "button" };
            let address = format!("/c/{chat}/compare?left={old}&right={new}");
            view! { <a class=class href=address>{texts::compare_both()}</a> }
        });
        let new = new.map(|new| {
            view! { <a class="button" href=format!("/c/{chat}?at={new}#latest")>{texts::open_new()}</a> }
        });
        let old = old.map(|old| {
            view! { <a class="button bare" href=format!("/c/{chat}?at={old}#latest")>{texts::open_old()}</a> }
        });
        view! { <div class="deeds">{both}{new}{old}</div> }.into_any()
    }

    fn rerun_actions(&self) -> AnyView {
        let graft = &self.grafted.graft;
        if graft.is_over() {
            return ().into_any();
        }
        let id = graft.id.to_string();
        let button = |action: &'static str, class: &'static str, words: &'static str| {
            view! {
                <form method="post" action=action>
                    <input type="hidden" name="graft_id" value=id.clone()/>
                    <button type="submit" class=class>{words}</button>
                </form>
            }
        };
        let resume = (graft.status == RerunStatus::Paused)
            .then(|| button("/forms/graft/resume", "button strong", texts::resume()));
        view! {
            <div class="deeds">{resume}{button("/forms/graft/cancel", "button danger", texts::cancel())}</div>
            <p class="hint">{texts::cancel_hint()}</p>
        }
        .into_any()
    }
}

/// Returns the title of the page and of the browser's tab.
pub fn rerun_page_title() -> String {
    texts::rerun_title().to_owned()
}
