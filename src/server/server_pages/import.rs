//! The pages of imports: the form for files and the past imports on the page "Data", and the page of one import, which
//! is first its preview, then its progress, then its report.

use leptos::prelude::*;

use super::confirmation::ConfirmationForm;
use super::form_fields::{FieldKind, FileField, SelectField, TextField};
use super::messages::{import as words, transfer};
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::{ImportDifferenceKind, ImportId, ImportState};
use crate::ui::erased::view;
use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::messages as app_words;
use turnleaf_service::transfer::imports::{ImportJob, ImportReversalKind, ImportSummary, formats};

pub use self::reversal::reversal_notice;

mod report;
mod reversal;

/// Renders the form that uploads files to import. The row of the file field takes dropped files, also without script.
pub fn upload_section() -> AnyView {
    let auto = ("auto", words::detect_format());
    let options: Vec<_> = [auto].into_iter().chain(formats().map(|name| (name, words::format_name(name)))).collect();
    let from = SelectField {
        label: words::import_format(),
        name: "from",
        form: "import",
        options: &options,
        chosen: auto.0,
        hint: None,
        error: None,
    };
    let mapping = TextField {
        label: words::key_mapping(),
        name: "map",
        form: "import",
        hint: Some(words::key_mapping_hint()),
        kind: FieldKind::Code,
        ..TextField::default()
    };
    let file = FileField {
        id: "import-file",
        name: "file",
        label: words::files(),
        hint: Some(words::drop_hint()),
        accept: Some(".json,.jsonl,.html,.zip,.gz,application/json,application/zip"),
        is_multiple: true,
        is_required: true,
    };
    view! {
        <section class="panel">
            <h2>{words::import_section()}</h2>
            <p class="hint">{words::import_hint()}</p>
            <form class="form" method="post" action="/forms/import" enctype="multipart/form-data" data-upload="">
                <div class="import-drop">{file.draw()}</div>
                <details>
                    <summary>{words::advanced()}</summary>
                    {from.draw()}
                    {mapping.draw()}
                </details>
                <div class="deeds"><button type="submit" class="button primary">{words::preview()}</button></div>
                <div class="upload-bar" hidden=true>
                    <progress aria-label=words::sending()></progress>
                    <span class="hint"></span>
                    <button type="button" class="button">{app_words::cancel()}</button>
                </div>
            </form>
        </section>
    }
}

/// Renders the imports, previews and dry runs, newest first.
pub fn history(imports: &[ImportSummary]) -> Option<AnyView> {
    (!imports.is_empty()).then(|| {
        view! {
            <section class="panel">
                <h2>{words::history()}</h2>
                <ul class="plain-list import-list">{imports.iter().map(history_row).collect_view()}</ul>
            </section>
        }
    })
}

fn history_row(import: &ImportSummary) -> AnyView {
    let state = if import.dry_run { words::state_preview() } else { words::state_name(import.state) };
    let counts = match import.is_over {
        true if !import.has_begun() => words::failed().to_owned(),
        true if !import.has_counts() => words::presence(&import.present, import.in_trash),
        true => sums(import),
        false => words::import_progress(import.conversations, import.expected_conversations),
    };
    view! {
        <li data-import=import.id.to_string() data-state=state_word(import, None)>
            <p>
                <a href=page_path(import.id) dir="auto">{import.name.clone()}</a>
                " · "{state}" · "
                <time datetime=import.started_at.to_rfc3339()>{import.started_at.format("%Y-%m-%d %H:%M UTC").to_string()}</time>
                " · "{counts}
            </p>
            {partly_in_trash(import)}
            {actions(import, Some(&import.name))}
        </li>
    }
}

/// Renders the notice that an undo or a restoring is to be continued.
fn partly_in_trash(import: &ImportSummary) -> Option<AnyView> {
    import.is_partly_in_trash().then(|| {
        let sentence = words::partly_in_trash(import.in_trash, import.can_undo());
        view! { <p class="problem" data-partly="">{sentence}</p> }
    })
}

/// Renders the imports whose undo can be reverted, for Trash.
pub fn undone_section(imports: &[ImportSummary]) -> Option<AnyView> {
    let row = |import: &ImportSummary| {
        let name = import.name.clone();
        let restore = import
            .can_restore()
            .then(|| one_button_form("/forms/import/restore", import.id, words::restore(), Some(&name)));
        view! {
            <li class="panel" data-import=import.id.to_string()>
                <h3 dir="auto"><a href=page_path(import.id)>{name.clone()}</a></h3>
                <p class="hint">{words::items_in_trash(import.in_trash)}</p>
                <div class="deeds">{restore}</div>
            </li>
        }
    };
    (!imports.is_empty()).then(|| {
        view! {
            <h2>{words::undone_imports()}</h2>
            <ul class="trash">{imports.iter().map(row).collect_view()}</ul>
        }
    })
}

fn page_path(id: ImportId) -> String {
    format!("/settings/data/imports/{id}")
}

/// Returns the state for tests and styles.
fn state_word(import: &ImportSummary, reversal: Option<ImportReversalKind>) -> &'static str {
    match reversal.filter(|_| import.is_reversing) {
        Some(ImportReversalKind::Undo) => return "undoing",
        Some(ImportReversalKind::Restore) => return "restoring",
        None => {}
    }
    match (import.dry_run, import.state) {
        (true, ImportState::Running) => "previewing",
        (true, _) => "preview",
        (false, ImportState::Running) => "running",
        (false, ImportState::Finished) => "finished",
        (false, ImportState::Stopped) => "stopped",
        (false, ImportState::Interrupted) => "interrupted",
        (false, ImportState::Undone) => "undone",
    }
}

fn sums(import: &ImportSummary) -> String {
    let ImportSummary { imported, known, left_out, .. } = *import;
    match import.dry_run {
        true => words::preview_sums(imported, known, left_out),
        false => words::import_sums(imported, known, left_out),
    }
}

/// Renders the actions of an import. `subject` completes the accessible names where several imports are listed.
fn actions(import: &ImportSummary, subject: Option<&str>) -> Option<AnyView> {
    let (id, mut buttons) = (import.id, Vec::new());
    if !import.is_over {
        buttons.push(one_button_form("/forms/import/stop", id, words::stop(), subject));
    } else if import.importable_until.is_some() && subject.is_none() {
        buttons.push(one_button_form("/forms/import/start", id, words::start_import(), subject));
        buttons.push(one_button_form("/forms/import/stop", id, words::cancel_preview(), subject));
    }
    if import.can_undo() {
        buttons.push(one_button_form("/forms/import/undo", id, words::undo(), subject));
    }
    if import.can_restore() {
        buttons.push(one_button_form("/forms/import/restore", id, words::restore(), subject));
    }
    (!buttons.is_empty()).then(|| view! { <div class="deeds">{buttons}</div> })
}

fn one_button_form(action: &'static str, id: ImportId, word: &'static str, subject: Option<&str>) -> AnyView {
    let class = if action.ends_with("/start") { "button primary" } else { "button" };
    let subject = subject.map(|subject| view! { <span class="quiet">" "{subject.to_owned()}</span> });
    view! {
        <form method="post" action=action>
            <input type="hidden" name="id" value=id.to_string()/>
            <button type="submit" class=class>{word}{subject}</button>
        </form>
    }
}

/// Renders the button that undoes the items that an undo kept.
fn undo_rest_form(id: ImportId) -> AnyView {
    view! {
        <form method="post" action="/forms/import/undo">
            <input type="hidden" name="id" value=id.to_string()/>
            <input type="hidden" name="changed" value="1"/>
            <button type="submit" class="button">{words::undo_rest()}</button>
        </form>
    }
}

/// The content above the report on the page of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportPageStep {
    Report,
    /// The question whether to undo it.
    ConfirmUndo,
    /// The question whether to undo the items that an undo kept.
    ConfirmUndoRest,
}

/// The page of one import.
pub struct ImportPage {
    pub job: ImportJob,
    /// Shows only the differences of this kind.
    pub shown_kind: Option<ImportDifferenceKind>,
    pub step: ImportPageStep,
    pub notice: Option<ActionNotice>,
}

impl ImportPage {
    pub fn draw(self) -> ServerPage {
        let Self { job, shown_kind, step, notice } = self;
        let (report, summary, is_over) = (&job.report, job.summary(), job.is_over);
        let format = match report.format {
            None if is_over => None,
            format => Some(words::detected_format(format.map_or(words::unknown(), words::format_name))),
        };
        let has_begun = summary.has_begun();
        let stopped = report.stop_reason().map(|reason| {
            let reason = coded_sentence(&reason);
            let reason = reason.trim_end_matches(['.', '。']);
            let sentence = match report.dry_run && has_begun {
                true => words::preview_stopped(reason, job.importable_until.is_some()),
                false => words::import_stopped(reason, has_begun),
            };
            view! { <p class="problem" role="alert">{sentence}</p> }
        });
        let is_resting = is_over && !job.is_reversing();
        let refresh =
            (!is_resting).then(|| view! { <p><a class="button" href=page_path(job.id)>{words::refresh()}</a></p> });
        let bar = report.read_bytes.zip(report.total_bytes).filter(|_| !is_over).map(|(read, total)| {
            view! {
                <p class="import-bar">
                    <progress max=total.to_string() value=read.to_string() aria-label=words::import()></progress>
                    <span class="hint">{app_words::attachments::sent_of(read, total)}</span>
                </p>
            }
        });
        let question = match step {
            ImportPageStep::ConfirmUndo if summary.can_undo() => Some(undo_question(&job)),
            ImportPageStep::ConfirmUndoRest if job.can_undo_rest() => Some(undo_rest_question(&job)),
            ImportPageStep::Report | ImportPageStep::ConfirmUndo | ImportPageStep::ConfirmUndoRest => None,
        };
        let has_question = question.is_some();
        let reversal_kind = job.reversal.as_ref().map(|reversal| reversal.kind);
        let body = view! {
            {question}
            <p><a href="/settings/data">{transfer::title()}</a></p>
            <p dir="auto" data-import=job.id.to_string() data-state=state_word(&summary, reversal_kind)>
                {report.name.clone()}{format.map(|format| format!(" · {format}"))}
            </p>
            {bar}
            {stopped}
            {if has_begun { counts(&job, &summary) } else { view! { <p role="status">{words::failed()}</p> } }}
            {reversal::progress(&job)}
            {refresh}
            {partly_in_trash(&summary)}
            {(!has_question).then(|| actions(&summary, None))}
            {reversal::kept_section(&job, || undo_rest_form(job.id))}
            {report::chats_section(report)}
            {report::findings_section(report, shown_kind, &page_path(job.id))}
            {(is_resting && job.importable_until.is_none()).then(|| forget_section(job.id))}
        };
        let title = if report.dry_run { words::preview_title() } else { words::import() };
        ServerPage { section: PageSection::Data, title: title.to_owned(), notice, body }
    }
}

/// Renders the state of the import with its counts.
fn counts(job: &ImportJob, summary: &ImportSummary) -> AnyView {
    let report = &job.report;
    let is_importable = job.importable_until.is_some();
    if job.is_over && !summary.has_counts() {
        return view! { <p role="status">{words::presence(&job.present, job.in_trash)}</p> };
    }
    let state = match (job.is_over, report.dry_run) {
        (false, false) => words::refreshes(),
        (false, true) => words::preview_refreshes(),
        (true, false) => words::finished(),
        (true, true) if is_importable => words::preview_ready(),
        (true, true) => words::dry_run_finished(),
    };
    let progress = (!job.is_over || !report.dry_run)
        .then(|| format!("{} ", words::import_progress(report.conversations, report.expected_conversations)));
    let nothing_new = (is_importable && report.is_all_known()).then(|| view! { <p>{words::nothing_new()}</p> });
    let kept = job.importable_until.map(|until| {
        let until = until.format("%Y-%m-%d %H:%M UTC").to_string();
        view! { <p class="hint">{words::preview_is_kept(&until)}</p> }
    });
    let next = job.import_id.map(|id| {
        view! { <p><a href=format!("/settings/data/imports/{id}")>{words::see_import()}</a></p> }
    });
    let expired = (report.dry_run && job.is_over && !is_importable && job.import_id.is_none())
        .then(|| view! { <p class="hint">{words::preview_expired()}</p> });
    view! {
        <p role="status">{state}" "{progress}{sums(summary)}</p>
        {nothing_new}
        {(report.in_trash > 0).then(|| view! { <p>{words::known_in_trash(report.in_trash)}</p> })}
        {(report.did_not_fit > 0).then(|| view! { <p class="problem">{words::skipped_for_space(report.did_not_fit)}</p> })}
        <p class="hint">{words::imported_counts(report.turns, report.branches, report.files, report.documents)}</p>
        {kept}
        {next}
        {expired}
    }
}

fn forget_section(id: ImportId) -> AnyView {
    view! {
        <section class="panel">
            <p class="hint">{words::forget_hint()}</p>
            <div class="deeds">{one_button_form("/forms/import/forget", id, words::forget(), None)}</div>
        </section>
    }
}

fn undo_question(job: &ImportJob) -> AnyView {
    let question = ConfirmationForm {
        title: words::undo_title().to_owned(),
        description: words::undo_description(&job.present),
        action: "/forms/import/undo",
        fields: vec![("id", job.id.to_string()), ("sure", "1".to_owned())],
        confirm_label: words::undo_sure().to_owned(),
        cancel_path: page_path(job.id),
        cancel_label: words::keep(),
    };
    question.draw()
}

fn undo_rest_question(job: &ImportJob) -> AnyView {
    let question = ConfirmationForm {
        title: words::undo_rest_title().to_owned(),
        description: words::undo_rest_description(),
        action: "/forms/import/undo",
        fields: vec![("id", job.id.to_string()), ("changed", "1".to_owned()), ("sure", "1".to_owned())],
        confirm_label: words::undo_rest_sure().to_owned(),
        cancel_path: page_path(job.id),
        cancel_label: words::keep(),
    };
    question.draw()
}
