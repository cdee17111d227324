//! The page that imports the tool servers of other programs: first a form for the text, then the plan with a choice.
//! Values of headers and variables are never rendered; between both pages they are kept encrypted in a field.

use std::collections::BTreeSet;

use leptos::prelude::*;

use crate::domain::InvalidField;
use crate::server::server_pages::form_fields::{FieldKind, FileField, FormFields, TextField};
use crate::server::server_pages::messages::providers::error_sentence;
use crate::server::server_pages::messages::tool_import as words;
use crate::server::server_pages::messages::tools::{back_to_tools, title};
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::coded_messages::labelled_sentence;
use crate::ui::locale::{colon, join_list};
use turnleaf_service::tools::servers::imports::{NeededValue, PlannedAction, PlannedServer, ServerImportPlan};

/// The most names of unused members that are shown.
const NAMES_SHOWN: usize = 20;

/// The first page: the form of the text.
#[derive(Default)]
pub struct ServerImportForm {
    /// The pasted text, if it could not be read.
    pub text: String,
    pub error: Option<InvalidField>,
    pub notice: Option<ActionNotice>,
}

/// The second page: the plan of the import.
pub struct ServerImportPreview {
    pub plan: ServerImportPlan,
    /// The encrypted text with the values that were supplied.
    pub sealed: String,
    /// The chosen places of the plan; `None` before a choice was made.
    pub chosen: Option<BTreeSet<usize>>,
    pub error: Option<InvalidField>,
    pub notice: Option<ActionNotice>,
}

impl ServerImportForm {
    pub fn draw(self) -> ServerPage {
        let fields = FormFields { form: "import", error: self.error.as_ref() };
        let text = TextField {
            label: words::text(),
            name: "json",
            form: "import",
            value: &self.text,
            error: fields.error("json").as_deref(),
            kind: FieldKind::CodeLines(12),
            placeholder: Some("{ \"mcpServers\": { … } }"),
            ..TextField::default()
        }
        .draw();
        let file = FileField {
            id: "import-servers",
            name: "file",
            label: words::file(),
            accept: Some(".json,.jsonc,.txt,application/json"),
            ..FileField::default()
        };
        let body = view! {
            {back()}
            <p class="lead">{words::lead()}</p>
            <p class="hint">{words::lead_hint()}</p>
            <form class="form" method="post" action="/settings/tools/import" enctype="multipart/form-data">
                {fields.unassigned_error(&["json"])}
                {text}
                {file.draw()}
                <div class="deeds"><button type="submit" class="button primary">{words::preview()}</button></div>
            </form>
        };
        page(self.notice, body)
    }
}

impl ServerImportPreview {
    pub fn draw(self) -> ServerPage {
        let plan = &self.plan;
        let rows = plan.servers.iter().enumerate().map(|(at, server)| self.row(at, server)).collect_view();
        let can_add = plan.servers.iter().any(|server| server.action != PlannedAction::LeaveOut);
        let submit = match can_add {
            true => view! { <button type="submit" class="button primary">{words::add_chosen()}</button> },
            false => view! { <p>{words::none_to_add()}</p> },
        };
        let not_read = (plan.not_read > 0).then(|| view! { <p class="hint">{words::not_read(plan.not_read)}</p> });
        let unused = (!plan.unused_members.is_empty()).then(|| {
            view! { <p class="hint" dir="auto">{words::unused(&names(&plan.unused_members))}</p> }
        });
        let body = view! {
            {back()}
            <h2>{words::preview_title()}</h2>
            <p class="hint">{words::preview_hint()}</p>
            <form class="form" method="post" action="/forms/tools/import">
                <input type="hidden" name="sealed" value=self.sealed.clone()/>
                <ul class="listed-tools">{rows}</ul>
                {not_read}
                {unused}
                {self.values()}
                <div class="deeds">
                    {submit}
                    <a class="button bare" href="/settings/tools/import">{words::start_again()}</a>
                </div>
            </form>
        };
        page(self.notice, body)
    }

    fn row(&self, at: usize, server: &PlannedServer) -> AnyView {
        let hint_id = format!("import-{at}-hint");
        let is_chosen = self.chosen.as_ref().map_or(server.action == PlannedAction::Add, |chosen| chosen.contains(&at));
        let (word, head) = match server.action {
            PlannedAction::LeaveOut => ("left_out", view! { <strong><bdi>{server.name.clone()}</bdi></strong> }),
            action => {
                let word = if action == PlannedAction::Add { "add" } else { "change" };
                let head = view! {
                    <label class="tick">
                        <input type="checkbox" name="on" value=at.to_string() checked=is_chosen aria-describedby=hint_id.clone()/>
                        <span><bdi>{server.name.clone()}</bdi></span>
                    </label>
                };
                (word, head)
            }
        };
        let target =
            (!server.target.is_empty()).then(|| view! { <p><code><bdi>{server.target.clone()}</bdi></code></p> });
        let notes =
            notes(server).into_iter().map(|note| view! { <p class="hint" dir="auto">{note}</p> }).collect_view();
        let table = server.configuration.clone().map(|table| {
            view! {
                <details class="fold">
                    <summary>{words::table()}<span class="quiet">{colon()}<bdi>{server.name.clone()}</bdi></span><Icon name="chevron-down"/></summary>
                    <p class="hint">{words::table_hint()}</p>
                    <pre class="listed-schema" dir="ltr" tabindex="0">{table}</pre>
                </details>
            }
        });
        view! {
            <li data-import=word>
                {head}
                <p class="hint" id=hint_id dir="auto">{outcome(server)}</p>
                {target}
                {notes}
                {table}
            </li>
        }
    }

    /// Renders the values that the servers need. The key of `value.N` is the Nth `key`.
    fn values(&self) -> Option<AnyView> {
        let field = |(at, value): (usize, &NeededValue)| {
            let name = format!("value.{at}");
            let error = self.error.as_ref().filter(|error| error.field == format!("value.{}", value.key));
            let error = error.map(error_sentence);
            let is_secret = value.default.is_none();
            let hint = value.is_set.then_some(words::value_is_set());
            let default = value.default.as_deref().filter(|_| !value.is_set).unwrap_or_default();
            let label = match &value.description {
                Some(description) => format!("{description} ({})", value.key),
                None => value.key.clone(),
            };
            let key = value.key.clone();
            let field = TextField {
                label: &label,
                name: &name,
                form: "import",
                value: default,
                hint,
                error: error.as_deref(),
                kind: if is_secret { FieldKind::Secret } else { FieldKind::Code },
                ..TextField::default()
            }
            .draw();
            view! {
                <input type="hidden" name="key" value=key/>
                {field}
            }
        };
        (!self.plan.values.is_empty()).then(|| {
            view! {
                <fieldset>
                    <legend>{words::values_title()}</legend>
                    <p class="hint">{words::values_hint()}</p>
                    {self.plan.values.iter().enumerate().map(field).collect_view()}
                </fieldset>
            }
        })
    }
}

/// Returns the sentence about the planned action on a server.
fn outcome(server: &PlannedServer) -> String {
    match (server.action, &server.reason) {
        (PlannedAction::Add, _) => words::adds(&server.id),
        (PlannedAction::Change, _) => words::changes(&server.name),
        (PlannedAction::LeaveOut, reason) => {
            let reason = reason.as_ref().map(|reason| labelled_sentence(&reason.field, &reason.reason));
            words::left_out(&reason.unwrap_or_default())
        }
    }
}

fn notes(server: &PlannedServer) -> Vec<String> {
    let is_taken = server.action != PlannedAction::LeaveOut;
    let listed =
        |label: &str, listed: &[String]| (!listed.is_empty()).then(|| format!("{label}{}{}", colon(), names(listed)));
    let secrets = if server.is_program { words::variables() } else { words::headers() };
    let limit = server.total_seconds.filter(|_| is_taken).map(words::limit);
    let flags = [
        (is_taken && server.is_behind_proxy, words::direct()),
        (is_taken && server.local_network, words::local_network()),
        (server.action == PlannedAction::Add && !server.is_enabled, words::disabled()),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, text)| text.to_owned());
    let first = listed(secrets, &server.secrets).into_iter().chain(limit).chain(flags);
    first.chain(listed(words::not_imported(), &server.unused_members)).collect()
}

fn names(all: &[String]) -> String {
    let more = if all.len() > NAMES_SHOWN { "…" } else { "" };
    format!("{}{more}", join_list(&all[..all.len().min(NAMES_SHOWN)]))
}

fn back() -> AnyView {
    view! { <p><a href="/settings/tools">{back_to_tools()}</a></p> }
}

fn page(notice: Option<ActionNotice>, body: AnyView) -> ServerPage {
    let title = format!("{} · {}", words::title(), title());
    ServerPage { section: PageSection::Tools, title, notice, body }
}
