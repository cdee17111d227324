//! The undo of an import on its page: its progress, its result, and what it kept.

use leptos::prelude::*;

use crate::domain::ImportState;
use crate::server::server_pages::ActionNotice;
use crate::server::server_pages::messages::import as words;
use crate::ui::erased::view;
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::transfer::imports::{ImportJob, ImportReversal, ImportReversalKind};

/// Renders the progress of an undo or a restoring while it runs.
pub fn progress(job: &ImportJob) -> Option<AnyView> {
    let running = job.reversal.as_ref().filter(|reversal| !reversal.is_over)?;
    let ImportReversal { done, total, .. } = *running;
    let (name, sentence) = match running.kind {
        ImportReversalKind::Undo => (words::undo_sure(), words::undoing(done, total)),
        ImportReversalKind::Restore => (words::restore(), words::restoring(done, total)),
    };
    // Without a value until the steps are counted.
    let value = (total > 0).then(|| done.to_string());
    Some(view! {
        <p class="import-bar">
            <progress max=total.max(1).to_string() value=value aria-label=name></progress>
        </p>
        <p role="status">{sentence}</p>
    })
}

/// Returns the notice about the undo or restoring that ended last, unless the state of the import is another one since.
pub fn reversal_notice(job: &ImportJob) -> Option<ActionNotice> {
    let ended = job.reversal.as_ref().filter(|reversal| reversal.is_over)?;
    if let Some(failure) = &ended.failure {
        return Some(ActionNotice::Refused(coded_sentence(&failure.message)));
    }
    match ended.kind {
        // Trash may have been emptied since; then nothing can be restored, and the notice would mislead.
        ImportReversalKind::Undo if job.state == ImportState::Undone && (job.in_trash > 0 || job.kept.is_some()) => {
            Some(ActionNotice::Done(words::undone(&job.present)))
        }
        ImportReversalKind::Restore if job.state.can_undo() => Some(ActionNotice::Done(words::restored().to_owned())),
        ImportReversalKind::Undo | ImportReversalKind::Restore => None,
    }
}

/// Renders what an undo kept; `undo_rest` is the form that undoes it, too.
pub fn kept_section(job: &ImportJob, undo_rest: impl FnOnce() -> AnyView) -> Option<AnyView> {
    let kept = job.kept.as_ref()?;
    let shown_title = |title: &str| match title.trim().is_empty() {
        true => words::untitled().to_owned(),
        false => title.to_owned(),
    };
    let chats = kept.chats.iter().map(|chat| {
        view! { <li><a href=format!("/c/{}", chat.id) dir="auto">{shown_title(&chat.title)}</a></li> }
    });
    let documents = kept.documents.iter().map(|document| {
        let use_note = document.is_used.then(|| format!(" · {}", words::kept_in_use()));
        let address = format!("/documents/{}", document.id);
        view! { <li><a href=address dir="auto">{shown_title(&document.title)}</a>{use_note}</li> }
    });
    let shown = (kept.chats.len() + kept.documents.len()) as u64;
    let all = job.present.chats + job.present.extended_chats + job.present.documents;
    let cut = (all > shown).then(|| view! { <p class="hint">{words::list_is_cut(shown, all)}</p> });
    let undo_rest = job.can_undo_rest().then(|| view! { <div class="deeds">{undo_rest()}</div> });
    Some(view! {
        <section class="panel" data-kept="">
            <h2>{words::kept()}</h2>
            <p class="hint">{words::kept_hint()}</p>
            {cut}
            <ul class="plain-list">{chats.collect_view()}{documents.collect_view()}</ul>
            {undo_rest}
        </section>
    })
}
