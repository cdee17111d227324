//! The form that writes a document or a new version of one, with a preview of its Markdown.

use leptos::prelude::*;

use crate::domain::DocumentId;
use crate::server::server_pages::form_fields::{FieldKind, TextField};
use crate::server::server_pages::messages::documents as words;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::markdown::render;
use crate::ui::markdown::view::draw_static;

/// The form as it was opened or submitted.
#[derive(Debug, Clone, Default)]
pub struct DocumentEditorPage {
    /// The document with its revision; `None` for a new one.
    pub document: Option<(DocumentId, i64)>,
    pub title: String,
    pub text: String,
    /// A field with its error.
    pub error: Option<(String, String)>,
    pub shows_preview: bool,
    pub request_id: String,
}

impl DocumentEditorPage {
    pub fn draw(&self, notice: Option<ActionNotice>) -> ServerPage {
        let error =
            |name: &str| self.error.as_ref().filter(|(field, _)| field == name).map(|(_, reason)| reason.as_str());
        let title = TextField {
            label: words::title(),
            name: "title",
            form: "document",
            value: &self.title,
            error: error("title"),
            is_required: true,
            ..TextField::default()
        };
        let text = TextField {
            label: words::text(),
            name: "content",
            form: "document",
            value: &self.text,
            hint: Some(words::text_hint()),
            error: error("content"),
            kind: FieldKind::CodeLines(20),
            ..TextField::default()
        };
        let of = self.document.map(|(id, rev)| {
            view! {
                <input type="hidden" name="document_id" value=id.to_string()/>
                <input type="hidden" name="rev" value=rev.to_string()/>
            }
        });
        let back = match self.document {
            Some((id, _)) => view! { <a class="button bare" href=format!("/documents/{id}")>{words::back()}</a> },
            None => view! { <a class="button bare" href="/documents">{words::back_to_list()}</a> },
        };
        let body = view! {
            <form class="form" method="post" action="/forms/documents/save">
                {of}
                <input type="hidden" name="client_request_id" value=self.request_id.clone()/>
                {title.draw()}
                {text.draw()}
                <div class="deeds">
                    <button type="submit" class="button primary" name="do" value="save">{words::save()}</button>
                    <button type="submit" class="button" name="do" value="preview" formnovalidate>{words::preview()}</button>
                    {back}
                </div>
            </form>
            {self.shows_preview.then(|| preview(&self.text))}
        };
        let heading = match self.document {
            Some(_) => words::edit_title(&self.title),
            None => words::new_title().to_owned(),
        };
        ServerPage { section: PageSection::Documents, title: heading, notice, body }
    }
}

fn preview(text: &str) -> AnyView {
    view! {
        <section class="panel" id="preview" aria-label=words::preview()>
            <h2>{words::preview()}</h2>
            {draw_static(&render(text))}
        </section>
    }
}
