//! The pages of documents: here the list with the upload form; [`viewer`] shows one document with its lines,
//! [`editor`] writes one, [`version_comparison`] compares two versions.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::form_fields::FileField;
use super::list_filter::{ListFilter, filtered};
use super::messages::documents as words;
use super::messages::providers::time_ago;
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::DocumentId;
use crate::domain::encoding::url_encoding;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::colon;
use crate::ui::messages as app_words;
use turnleaf_service::documents::Document;

pub mod editor;
pub mod version_comparison;
pub mod viewer;

/// The selectable encodings, by their WHATWG names.
const ENCODINGS: [&str; 9] =
    ["utf-8", "utf-16le", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1251", "windows-1252"];

/// The result of one uploaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileUploadResult {
    Created {
        id: DocumentId,
        title: String,
    },
    /// It waits for a choice, because the document `of` is called like the file.
    SameTitle {
        of: DocumentId,
        title: String,
        sha256: String,
        encoding: Option<String>,
    },
    Refused {
        name: String,
        reason: String,
    },
}

/// The list of documents.
#[derive(Debug, Clone, Default)]
pub struct DocumentsPage {
    /// Last changed first.
    pub documents: Vec<Document>,
    pub has_older: bool,
    /// True when this is not the beginning of the list.
    pub has_newer: bool,
    /// The text that the listed titles contain; empty for all.
    pub title_part: String,
    pub now: DateTime<Utc>,
    /// The results of an upload, per file.
    pub files: Vec<FileUploadResult>,
    /// The document that was just deleted, for which an undo is offered.
    pub deleted: Option<Document>,
}

impl DocumentsPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let rows = self.documents.iter().map(|document| row(document, self.now)).collect_view();
        let list = (!self.documents.is_empty()).then(|| view! { <ul class="rows">{rows}</ul> });
        let list = view! { {list}{self.pages()} };
        let filter = ListFilter {
            action: PageSection::Documents.path(),
            field: "q",
            label: words::filter(),
            value: &self.title_part,
            submit: words::do_filter(),
            kept: Vec::new(),
        };
        // Without documents there is nothing to filter.
        let is_any = !self.documents.is_empty() || !self.title_part.is_empty();
        let filter = is_any.then(|| filter.draw());
        let files = (!self.files.is_empty()).then(|| upload_results(&self.files));
        let deleted = self.deleted.as_ref().map(deleted);
        let body = view! {
            {deleted}
            <p class="lead">{words::lead()}</p>
            {files}
            <div class="deeds">
                <a class="button primary" href="/documents/new"><Icon name="plus"/>{words::new()}</a>
            </div>
            {upload_form(None)}
            {filter}
            {filtered(Some(self.status()), list)}
        };
        ServerPage { section: PageSection::Documents, title: words::documents().into(), notice, body }
    }

    /// Returns what the list holds.
    fn status(&self) -> String {
        match (self.documents.len(), self.title_part.as_str()) {
            (0, "") => words::nothing().to_owned(),
            (0, part) => words::no_titles(part),
            (count, _) if self.has_older || self.has_newer => words::shown(count),
            (count, _) => words::count(count),
        }
    }

    fn pages(&self) -> AnyView {
        let path = PageSection::Documents.path();
        let part = url_encoding::encode(&self.title_part);
        let newest = self.has_newer.then(|| {
            let address = if part.is_empty() { path.to_owned() } else { format!("{path}?q={part}") };
            view! { <a class="button" href=address>{words::first_page()}</a> }
        });
        let older = self.documents.last().filter(|_| self.has_older).map(|last| {
            let kept = if part.is_empty() { String::new() } else { format!("&q={part}") };
            let address = format!("{path}?before={}{kept}", last.id);
            view! { <a class="button" href=address>{words::older()}</a> }
        });
        view! { <div class="deeds">{newest}{older}</div> }
    }
}

fn row(document: &Document, now: DateTime<Utc>) -> AnyView {
    let address = format!("/documents/{}", document.id);
    view! {
        <li class="plain-row" data-document=document.id.to_string()>
            <a class="row-name" href=address><bdi>{document.title.clone()}</bdi></a>
            <span class="row-end">{age(document, now)}</span>
            <span class="row-more hint">{facts(document)}</span>
        </li>
    }
}

/// Renders the time since the last change of a document.
fn age(document: &Document, now: DateTime<Utc>) -> AnyView {
    let exact = document.updated_at.format("%Y-%m-%d %H:%M UTC").to_string();
    let ago = time_ago((now - document.updated_at).num_seconds());
    view! { <time datetime=document.updated_at.to_rfc3339() title=exact>{ago}</time> }
}

/// Renders size and use of a document.
fn facts(document: &Document) -> AnyView {
    view! {
        {words::size(document.version.byte_count)} " · " {words::lines(document.version.line_count)} " · "
        {words::used_in_chats(document.used_in)}
    }
}

/// Renders the notice of a deletion with its undo.
fn deleted(document: &Document) -> AnyView {
    view! {
        <form class="deeds said ok" method="post" action="/forms/documents/restore" aria-label=app_words::deleted(&document.title)>
            <input type="hidden" name="document_id" value=document.id.to_string()/>
            <Icon name="check"/>
            <span dir="auto">{app_words::deleted(&document.title)}</span>
            <button type="submit" class="button">{app_words::undo()}</button>
            <a class="button bare" href="/trash">{app_words::trash()}</a>
        </form>
    }
}

fn upload_results(files: &[FileUploadResult]) -> AnyView {
    let line = |file: &FileUploadResult| match file {
        FileUploadResult::Created { id, title } => {
            let address = format!("/documents/{id}");
            view! {
                <li class="said ok"><Icon name="check"/><span>{words::uploaded()} {colon()} <a href=address><bdi>{title.clone()}</bdi></a></span></li>
            }
        }
        FileUploadResult::SameTitle { of, title, sha256, encoding } => {
            let (offer, label) = (words::same_title(title), words::same_title(title));
            view! {
                <li>
                    <form class="deeds said warn" method="post" action="/forms/documents/from-upload" aria-label=label>
                        <input type="hidden" name="document_id" value=of.to_string()/>
                        <input type="hidden" name="title" value=title.clone()/>
                        <input type="hidden" name="blob" value=sha256.clone()/>
                        <input type="hidden" name="encoding" value=encoding.clone().unwrap_or_default()/>
                        <Icon name="alert"/>
                        <span dir="auto">{offer}</span>
                        <button type="submit" class="button" name="do" value="version">{words::as_version()}</button>
                        <button type="submit" class="button bare" name="do" value="create">{words::as_document()}</button>
                    </form>
                </li>
            }
        }
        FileUploadResult::Refused { name, reason } => {
            view! { <li class="said danger"><Icon name="alert"/><span dir="auto">{words::file_failed(name, reason)}</span></li> }
        }
    };
    view! {
        <section role="status" aria-label=words::upload_results()>
            <ul class="documents">{files.iter().map(line).collect_view()}</ul>
        </section>
    }
}

/// Renders the upload form: files for new documents, or one for a new version of this document.
pub(super) fn upload_form(of: Option<DocumentId>) -> AnyView {
    let (name, label, is_one) = match of {
        Some(_) => (words::upload_version(), words::file(), true),
        None => (words::upload(), words::files(), false),
    };
    let document = of.map(|id| view! { <input type="hidden" name="document_id" value=id.to_string()/> });
    let options = ENCODINGS.map(|name| view! { <option value=name>{name}</option> });
    let hint = words::files_hint();
    let files = FileField {
        id: "upload-files",
        name: "files",
        label,
        hint: Some(&hint),
        is_multiple: !is_one,
        is_required: true,
        ..FileField::default()
    };
    // The encoding must come before the files in the form data, because files are processed as they arrive.
    view! {
        <form class="panel" method="post" action="/forms/documents/upload" enctype="multipart/form-data">
            <h2>{name}</h2>
            {document}
            <details class="fold">
                <summary><Icon name="chevron-down"/>{words::encoding()}</summary>
                <select class="field" name="encoding" aria-label=words::encoding()>
                    <option value="">{words::encoding_auto()}</option>
                    {options.into_iter().collect_view()}
                </select>
            </details>
            {files.draw()}
            <div class="deeds"><button type="submit" class="button" data-busy=super::messages::import::sending()>{name}</button></div>
        </form>
    }
}
