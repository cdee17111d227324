//! The pages of import and export: "Data" in the settings, one import, the export of a chat.

use leptos::prelude::*;

use super::form_fields::{FileField, SelectField};
use super::messages::{delete_all, transfer as words};
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::{Chat, ImportOrigin};
use crate::ui::erased::view;
use crate::ui::locale::locale;
use crate::ui::messages as app_words;
use crate::ui::messages::amounts::{number, size};
use crate::ui::standalone::import_note;
use turnleaf_service::transfer::imports::{ImportJob, ImportReport, formats};
use turnleaf_service::usage::storage::StorageUse;

/// The number of chats and findings on a page; the API returns all that are kept.
const SHOWN: usize = 500;

/// The page "Data".
pub struct TransferPage {
    /// Newest first.
    pub jobs: Vec<ImportJob>,
    pub database: &'static str,
    pub storage: StorageUse,
    pub notice: Option<ActionNotice>,
}

impl TransferPage {
    pub fn draw(self) -> ServerPage {
        let is_sqlite = self.database == "SQLite";
        let (description, commands) = if is_sqlite {
            (words::back_up_sqlite(), "turnleaf backup FILE\nturnleaf restore FILE")
        } else {
            (
                words::back_up_postgres(),
                "pg_dump --format=custom --file=FILE DATABASE\npg_restore --dbname=DATABASE FILE",
            )
        };
        let rows = self.jobs.iter().map(job_row).collect_view();
        let jobs = (!self.jobs.is_empty()).then(|| {
            view! {
                <section class="panel">
                    <h2>{words::imports()}</h2>
                    <ul class="plain-list">{rows}</ul>
                </section>
            }
        });
        let body = view! {
            <section class="panel">
                <h2>{words::export_section()}</h2>
                <p class="hint">{words::export_all_hint()}</p>
                <p><a class="button" href="/api/export" download="">{words::export_all()}</a></p>
            </section>
            <section class="panel">
                <h2>{words::import_section()}</h2>
                <p class="hint">{words::import_hint()}</p>
                {upload_form()}
            </section>
            {jobs}
            {storage_used(&self.storage)}
            <section class="panel">
                <h2>{words::back_up()}</h2>
                <p class="hint">{description}</p>
                <pre class="commands" tabindex="0"><code>{commands}</code></pre>
            </section>
            <section class="panel">
                <h2>{delete_all::title()}</h2>
                <p class="hint">{delete_all::description()}</p>
                <p><a class="button danger" href="/settings/data/delete">{delete_all::open()}</a></p>
            </section>
        };
        ServerPage { section: PageSection::Data, title: words::title().to_owned(), notice: self.notice, body }
    }
}

/// Renders the form that uploads a file to import.
fn upload_form() -> AnyView {
    let auto = ("auto", words::detect_format());
    let options: Vec<_> = [auto].into_iter().chain(formats().map(|name| (name, words::format_name(name)))).collect();
    let from = choice("import", "from", words::import_format(), &options);
    let file = FileField {
        id: "import-file",
        name: "file",
        label: words::file(),
        accept: Some(".json,.jsonl,.zip,.gz,application/json,application/zip"),
        is_required: true,
        ..FileField::default()
    };
    view! {
        <form class="form" method="post" action="/forms/import" enctype="multipart/form-data" data-upload="">
            {from.draw()}
            <label class="tick"><input type="checkbox" name="dry_run" value="1"/>{words::dry_run()}</label>
            {file.draw()}
            <div class="deeds"><button type="submit" class="button primary">{words::start_import()}</button></div>
            <div class="upload-bar" hidden=true>
                <progress aria-label=words::sending()></progress>
                <span class="hint"></span>
                <button type="button" class="button">{app_words::cancel()}</button>
            </div>
        </form>
    }
}

/// Renders the used storage and the quota.
fn storage_used(storage: &StorageUse) -> AnyView {
    let of_quota = match storage.quota_bytes {
        Some(quota) => words::storage_of_quota(&size(storage.used_bytes), &size(quota)),
        None => size(storage.used_bytes),
    };
    let parts = words::storage_parts(
        &size(storage.chats_bytes),
        &size(storage.files_bytes),
        &size(storage.documents_bytes),
        &size(storage.waiting_bytes),
    );
    view! {
        <section class="panel" id="storage">
            <h2>{words::storage()}</h2>
            <p>{of_quota}</p>
            <p class="hint">{parts}" "{words::storage_hint()}</p>
        </section>
    }
}

/// Returns a select field whose first option is the default.
fn choice<'a>(form: &'a str, name: &'a str, label: &'a str, options: &'a [(&'a str, &'a str)]) -> SelectField<'a> {
    let chosen = options.first().map_or("", |(value, _)| value);
    SelectField { label, name, form, options, chosen, hint: None, error: None }
}

fn job_row(job: &ImportJob) -> AnyView {
    let report = &job.report;
    let state = match (job.is_over, &report.stopped) {
        (true, Some(_)) if report.conversations == 0 => words::failed().to_owned(),
        (true, _) => sums(report),
        (false, _) => words::import_progress(report.conversations),
    };
    let href = format!("/settings/data/imports/{}", job.id);
    view! { <li><a href=href dir="auto">{report.name.clone()}</a>" · "{state}</li> }
}

fn sums(report: &ImportReport) -> String {
    words::import_sums(report.imported, report.known, report.left_out)
}

/// The page of one import.
pub struct ImportPage {
    pub job: ImportJob,
}

impl ImportPage {
    pub fn draw(self) -> ServerPage {
        let ImportJob { id, is_over, report, .. } = self.job;
        let format = match report.format {
            None if is_over => None,
            format => Some(words::detected_format(format.map_or(words::unknown(), words::format_name))),
        };
        // A file that could not be read at all has no counts.
        let has_begun = report.conversations > 0 || report.stopped.is_none();
        let state = match (is_over, report.dry_run) {
            (false, _) => words::refreshes(),
            (true, false) if has_begun => words::finished(),
            (true, false) => words::failed(),
            (true, true) => words::dry_run_finished(),
        };
        let stopped = report.stopped.as_deref().map(|reason| {
            view! {
                <p class="problem" role="alert">{words::import_stopped(reason, has_begun)}</p>
            }
        });
        let counts = has_begun.then(|| {
            view! {
                <p role="status">{state}" "{words::import_progress(report.conversations)}" "{sums(&report)}</p>
                {(report.in_trash > 0).then(|| view! { <p>{words::known_in_trash(report.in_trash)}</p> })}
                {(report.did_not_fit > 0).then(|| view! { <p class="problem">{words::skipped_for_space(report.did_not_fit)}</p> })}
                <p class="hint">{words::imported_counts(report.turns, report.branches, report.files, report.documents)}</p>
            }
        });
        let failed = (!has_begun).then(|| view! { <p role="status">{state}</p> });
        let (chats, findings) = (chats_section(&report), findings_section(&report));
        let stop = (!is_over).then(|| {
            view! {
                <form method="post" action="/forms/import/stop">
                    <input type="hidden" name="id" value=id.to_string()/>
                    <button type="submit" class="button">{words::stop()}</button>
                </form>
            }
        });
        let bar = report.read_bytes.zip(report.total_bytes).filter(|_| !is_over).map(|(read, total)| {
            view! {
                <p class="import-bar">
                    <progress max=total.to_string() value=read.to_string() aria-label=words::import()></progress>
                    <span class="hint">{app_words::attachments::sent_of(read, total)}</span>
                </p>
            }
        });
        let body = view! {
            <p><a href="/settings/data">{words::title()}</a></p>
            <p dir="auto">{report.name.clone()}{format.map(|format| format!(" · {format}"))}</p>
            {bar}
            {stopped}
            {counts}
            {failed}
            {stop}
            {chats}
            {findings}
        };
        ServerPage { section: PageSection::Data, title: words::import().to_owned(), notice: None, body }
    }
}

/// Renders the outcome of each chat of a file.
fn chats_section(report: &ImportReport) -> Option<AnyView> {
    let chats = report.chats.iter().take(SHOWN).map(|chat| {
        let title = if chat.title.trim().is_empty() { words::untitled().to_owned() } else { chat.title.clone() };
        let title = match chat.id {
            Some(id) => view! { <a href=format!("/c/{id}") dir="auto">{title}</a> },
            None => view! { <span dir="auto">{title}</span> },
        };
        let turns = (chat.turns > 0).then(|| number(chat.turns));
        view! { <tr><td>{title}</td><td>{words::outcome_name(chat.outcome)}</td><td>{turns}</td></tr> }
    });
    let shown = report.chats.len().min(SHOWN) as u64;
    (!report.chats.is_empty()).then(|| {
        view! {
            <section class="panel">
                <h2>{words::chats()}</h2>
                {(report.chats_total > shown).then(|| list_is_cut(shown, report.chats_total))}
                <table class="shortcut-table transfer-table">
                    <tbody>{chats.collect_view()}</tbody>
                </table>
            </section>
        }
    })
}

/// Renders the findings about a file and its chats.
fn findings_section(report: &ImportReport) -> Option<AnyView> {
    // Findings are in English, so a screen reader needs the language.
    let english = (locale().as_str() != "en").then_some("en");
    let findings = report.findings.iter().take(SHOWN).map(|finding| {
        view! {
            <li lang=english>
                <strong>{words::difference_kind(finding.kind)}</strong>" "<span dir="auto">{finding.place.clone()}</span>": "
                <span dir="auto">{finding.text.clone()}</span>
            </li>
        }
    });
    let shown = report.findings.len().min(SHOWN) as u64;
    (!report.findings.is_empty()).then(|| {
        view! {
            <section class="panel">
                <h2>{words::findings()}</h2>
                {(report.findings_total > shown).then(|| list_is_cut(shown, report.findings_total))}
                {english.map(|_| view! { <p class="hint">{words::messages_are_english()}</p> })}
                <ul class="plain-list">{findings.collect_view()}</ul>
            </section>
        }
    })
}

/// Says that a list is cut.
fn list_is_cut(shown: u64, total: u64) -> AnyView {
    view! { <p class="hint">{words::list_is_cut(shown, total)}</p> }
}

/// The page with the export formats of a chat.
pub struct ExportPage {
    pub chat: Chat,
    pub imported_from: Option<ImportOrigin>,
    /// True when rows of the chat's tree cannot be read.
    pub is_damaged: bool,
}

impl ExportPage {
    pub fn draw(self) -> ServerPage {
        let id = self.chat.id;
        let title = if self.chat.title.is_empty() { words::untitled().to_owned() } else { self.chat.title };
        let action = format!("/api/chats/{id}/export");
        let options = [("folded", words::folded()), ("full", words::full()), ("left_out", words::omitted())];
        let of_path = |format: &'static str, name: &'static str, description: &'static str| {
            view! {
                <section class="panel">
                    <h2>{name}</h2>
                    <p class="hint">{description}</p>
                    <form class="form" method="get" action=action.clone()>
                        <input type="hidden" name="format" value=format/>
                        {choice(format, "reasoning", words::reasoning(), &options).draw()}
                        {choice(format, "tools", words::tools(), &options).draw()}
                        <div class="deeds"><button type="submit" class="button">{words::download()}</button></div>
                    </form>
                </section>
            }
        };
        let body = view! {
            <p><a href=format!("/c/{id}") dir="auto">{title}</a></p>
            {self.is_damaged.then(|| view! { <p role="status">{words::damaged()}</p> })}
            <section class="panel">
                <h2>{words::archive()}</h2>
                <p class="hint">{words::archive_hint()}</p>
                <p><a class="button" href=action.clone() download="">{words::download()}</a></p>
            </section>
            {of_path("html", words::page(), words::page_hint())}
            {of_path("markdown", words::markdown(), words::markdown_hint())}
            {of_path("markdown_zip", words::markdown_zip(), words::markdown_zip_hint())}
            <section class="panel">
                <h2>{words::git()}</h2>
                <p class="hint">{words::git_hint()}</p>
                <p><a class="button" href=format!("{action}?format=git") download="">{words::download()}</a></p>
            </section>
            {self.imported_from.as_ref().map(import_note)}
        };
        ServerPage { section: PageSection::Chat, title: words::export_chat().to_owned(), notice: None, body }
    }
}
