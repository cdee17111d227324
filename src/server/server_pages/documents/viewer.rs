//! One document: its numbered lines, each a link target (`#L10`), its versions, and its actions. The numbers are list
//! markers, so that copying takes only the text.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::{age, facts, upload_form};
use crate::domain::documents::document_prompt;
use crate::domain::{ChatId, limits};
use crate::server::server_pages::form_fields::{FieldKind, SelectField, TextField};
use crate::server::server_pages::messages::conversion_notes::conversion_note;
use crate::server::server_pages::messages::documents as words;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::parenthesized;
use crate::ui::messages::untitled;
use turnleaf_service::documents::{Document, StoredDocumentVersion};

/// The marked lines, with the error of a submitted form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkedLines {
    pub first: Option<u64>,
    pub last: Option<u64>,
    pub error: Option<String>,
}

/// The content of the page.
pub struct DocumentPage<'a> {
    pub document: &'a Document,
    /// The shown version.
    pub version: &'a StoredDocumentVersion,
    pub text: &'a str,
    /// Newest first.
    pub versions: &'a [StoredDocumentVersion],
    /// The chats that reference the document.
    pub used_in: &'a [(ChatId, String)],
    /// The chats in which lines can be quoted.
    pub chats: &'a [(ChatId, String)],
    /// The first line of the shown part.
    pub first_line: u64,
    pub marked_lines: MarkedLines,
    pub now: DateTime<Utc>,
}

impl DocumentPage<'_> {
    pub fn draw(&self, notice: Option<ActionNotice>) -> ServerPage {
        let body = view! {
            <p class="hint">{facts(self.document)}" · "{age(self.document, self.now)}</p>
            {self.document_actions()}
            {self.notes()}
            {self.older_version_notice()}
            {self.content()}
            {self.quote()}
            {self.menu()}
            {self.uses()}
            {upload_form(Some(self.document.id))}
        };
        ServerPage { section: PageSection::Documents, title: self.document.title.clone(), notice, body }
    }

    fn document_actions(&self) -> AnyView {
        let id = self.document.id;
        let original = self.version.origin.as_ref().map(|origin| {
            let address = format!("/api/blobs/{origin}");
            view! { <a class="button" href=address download="">{words::download()}</a> }
        });
        view! {
            <div class="deeds">
                <a class="button" href=format!("/documents/{id}/edit")>{words::edit()}</a>
                {original}
                <form method="post" action="/forms/documents/delete">
                    <input type="hidden" name="document_id" value=id.to_string()/>
                    <button type="submit" class="button danger">{words::delete()}</button>
                </form>
                <a class="button bare" href="/documents">{words::back_to_list()}</a>
            </div>
        }
    }

    fn notes(&self) -> Option<AnyView> {
        let notes = &self.version.notes;
        let note = |note: &String| view! { <li dir="auto">{conversion_note(note).into_owned()}</li> };
        (!notes.is_empty()).then(|| {
            view! {
                <section class="panel" aria-label=words::notes()>
                    <h2>{words::notes()}</h2>
                    <ul>{notes.iter().map(note).collect_view()}</ul>
                </section>
            }
        })
    }

    /// Renders the notice of a version that is not the newest, with a form that restores it.
    fn older_version_notice(&self) -> Option<AnyView> {
        let at = self.version.version_timestamp;
        (at != self.document.version.version_timestamp).then(|| {
            view! {
                <form class="deeds" method="post" action="/forms/documents/restore">
                    <p class="said warn"><span>{words::old_version()}" "{version_time(at)}</span></p>
                    <input type="hidden" name="document_id" value=self.document.id.to_string()/>
                    <input type="hidden" name="version" value=document_prompt::format_version(at)/>
                    <button type="submit" class="button">{words::make_newest()}</button>
                    <a class="button" href=format!("/documents/{}", self.document.id)>{words::newest()}</a>
                </form>
            }
        })
    }

    fn content(&self) -> AnyView {
        if self.text.is_empty() {
            return view! { <p class="hint">{words::empty()}</p> };
        }
        let from = self.first_line.max(1);
        let before = usize::try_from(from - 1).unwrap_or(usize::MAX);
        let chars_before: usize = self.text.split_inclusive('\n').take(before).map(|line| line.chars().count()).sum();
        let (mut shown, mut bytes, mut is_cut) = (Vec::new(), 0, false);
        for (number, line) in (from..).zip(self.text.split_inclusive('\n').skip(before)) {
            if number - from >= limits::DOCUMENT_LINES_SHOWN || bytes > limits::DOCUMENT_BYTES_SHOWN {
                is_cut = true;
                break;
            }
            bytes += line.len();
            shown.push(self.line(number, line.trim_end_matches('\n')));
        }
        let next = from + shown.len() as u64;
        let earlier = (from > 1).then(|| {
            let start = from.saturating_sub(limits::DOCUMENT_LINES_SHOWN).max(1);
            view! { <a class="button" href=self.part(start)>{words::earlier_lines()}</a> }
        });
        let later = is_cut.then(|| view! { <a class="button" href=self.part(next)>{words::later_lines()}</a> });
        view! {
            <div class="deeds">{earlier}</div>
            <div class="document" role="region" aria-label=words::content() tabindex="0" data-document=self.document.id.to_string()
                data-version=document_prompt::format_version(self.version.version_timestamp) data-before=chars_before.to_string()>
                <ol class="document-lines" start=from.to_string()>{shown}</ol>
            </div>
            {self.quote_bar()}
            <div class="deeds">{later}</div>
        }
    }

    fn line(&self, number: u64, line: &str) -> AnyView {
        let MarkedLines { first, last, .. } = self.marked_lines;
        let is_marked = first.is_some_and(|first| (first..=last.unwrap_or(first)).contains(&number));
        // The target of an address that names the whole selection, placed at its first line.
        let target = first.zip(last).filter(|(first, last)| *first == number && last > first);
        let target = target.map(|(first, last)| view! { <span id=format!("L{first}-L{last}")></span> });
        // The framework renders an empty text as a space, which would be counted and quoted.
        let text = (!line.is_empty()).then(|| line.to_owned());
        view! {
            <li id=format!("L{number}") class:marked=is_marked>{target}<code dir="auto">{text}</code></li>
        }
    }

    fn part(&self, from: u64) -> String {
        let version = document_prompt::format_version(self.version.version_timestamp);
        format!("/documents/{}?version={version}&from={from}#L{from}", self.document.id)
    }

    /// Renders the actions on a selection; script shows them when something is selected.
    fn quote_bar(&self) -> AnyView {
        let option = |(at, (id, title)): (usize, &(ChatId, String))| {
            view! { <option value=id.to_string() selected=at == 0>{page_title(title)}</option> }
        };
        let first = self.chats.first().map_or_else(|| words::new_chat().to_owned(), |(_, title)| page_title(title));
        view! {
            <div class="quote-bar no-print" id="quote-bar" role="group" aria-label=words::selected() hidden=true>
                <p class="hint" id="quote-bar-lines"></p>
                <button type="button" class="button primary" id="quote-bar-quote" aria-describedby="quote-bar-to">
                    {words::do_quote()}
                </button>
                <select class="field" id="quote-bar-chat" aria-label=words::chat()>
                    {self.chats.iter().enumerate().map(option).collect_view()}
                    <option value="">{words::new_chat()}</option>
                </select>
                <button type="button" class="button" id="quote-bar-copy"><Icon name="copy"/>{words::copy_link()}</button>
                <p class="problem" id="quote-bar-problem" role="alert" dir="auto"></p>
            </div>
            <p class="quiet" id="quote-bar-to">{first}</p>
            <p class="quiet quote-said" id="quote-bar-said" role="status"></p>
        }
    }

    fn quote(&self) -> AnyView {
        let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let (first, last) = (number(self.marked_lines.first), number(self.marked_lines.last));
        let field = |label, name, value, error| {
            TextField {
                label,
                name,
                form: "quote",
                value,
                error,
                kind: FieldKind::Code,
                is_required: true,
                ..TextField::default()
            }
            .draw()
        };
        let chats: Vec<(String, String)> =
            self.chats.iter().map(|(id, title)| (id.to_string(), page_title(title))).collect();
        let mut options = vec![("", words::new_chat())];
        options.extend(chats.iter().map(|(id, title)| (id.as_str(), title.as_str())));
        let chat = SelectField {
            label: words::chat(),
            name: "chat_id",
            form: "quote",
            options: &options,
            chosen: "",
            hint: None,
            error: None,
        };
        view! {
            <form class="panel" id="quote" method="post" action="/forms/documents/quote">
                <h2>{words::quote()}</h2>
                <p class="hint">{words::quote_hint()}</p>
                <input type="hidden" name="document_id" value=self.document.id.to_string()/>
                <input type="hidden" name="version" value=document_prompt::format_version(self.version.version_timestamp)/>
                {field(words::first_line(), "first", &first, self.marked_lines.error.as_deref())}
                {field(words::last_line(), "last", &last, None)}
                {chat.draw()}
                <div class="deeds"><button type="submit" class="button">{words::do_quote()}</button></div>
            </form>
        }
    }

    fn menu(&self) -> AnyView {
        let shown = document_prompt::format_version(self.version.version_timestamp);
        let names: Vec<(String, String)> = self
            .versions
            .iter()
            .enumerate()
            .map(|(at, version)| {
                let newest = if at == 0 { parenthesized(words::newest()) } else { String::new() };
                // Two versions of the same second would look alike.
                let number = words::version(self.versions.len() - at);
                let moment = version_name(version.version_timestamp);
                let name = format!("{number}{newest} · {moment} · {}", words::size(version.byte_count));
                (document_prompt::format_version(version.version_timestamp), name)
            })
            .collect();
        let options: Vec<(&str, &str)> = names.iter().map(|(value, name)| (value.as_str(), name.as_str())).collect();
        let choice = |label, name, form, chosen| {
            SelectField { label, name, form, options: &options, chosen, hint: None, error: None }.draw()
        };
        let path = format!("/documents/{}", self.document.id);
        let compare = (names.len() > 1).then(|| {
            let older = names.get(1).map_or("", |(value, _)| value);
            let left = if shown == names[0].0 { older } else { &shown };
            view! {
                <form class="compare-choose" method="get" action=format!("{path}/compare")>
                    {choice(words::older_one(), "left", "compare", left)}
                    {choice(words::newer_one(), "right", "compare", &names[0].0)}
                    <div class="deeds"><button type="submit" class="button">{words::compare()}</button></div>
                </form>
            }
        });
        view! {
            <section class="panel" aria-label=words::versions()>
                <h2>{words::versions()}</h2>
                <form class="form" method="get" action=path>
                    {choice(words::version_label(), "version", "version", &shown)}
                    <div class="deeds"><button type="submit" class="button">{words::show()}</button></div>
                </form>
                {compare}
            </section>
        }
    }

    fn uses(&self) -> Option<AnyView> {
        let link = |(id, title): &(ChatId, String)| {
            view! { <li><a href=format!("/c/{id}") dir="auto"><bdi>{page_title(title)}</bdi></a></li> }
        };
        (!self.used_in.is_empty()).then(|| {
            view! {
                <section class="panel" aria-label=words::used()>
                    <h2>{words::used()}</h2>
                    <ul>{self.used_in.iter().map(link).collect_view()}</ul>
                </section>
            }
        })
    }
}

/// Returns the display name of a version.
pub(super) fn version_name(version: DateTime<Utc>) -> String {
    version.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Renders the time of a version, which script converts to the reader's time zone.
pub(super) fn version_time(version: DateTime<Utc>) -> AnyView {
    view! { <time datetime=version.to_rfc3339()>{version_name(version)}</time> }
}

fn page_title(title: &str) -> String {
    if title.trim().is_empty() { untitled().to_owned() } else { title.to_owned() }
}
