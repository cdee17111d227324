//! The form that writes a document or another version of one, with a look at what its Markdown becomes.

use leptos::prelude::*;

use crate::domain::DocumentId;
use crate::server::plain_pages::field::{Kind, TextField};
use crate::server::plain_pages::words::documents as words;
use crate::server::plain_pages::{Page, Said, Section};
use crate::ui::erased::view;
use crate::ui::markdown::render;
use crate::ui::markdown::view::drawn;

/// The form as it was opened or sent.
#[derive(Debug, Clone, Default)]
pub struct EditorPage {
    /// The document that is changed; none for a new one.
    pub of: Option<(DocumentId, i64)>,
    pub title: String,
    pub text: String,
    /// What is wrong with which field.
    pub wrong: Option<(String, String)>,
    pub shows_preview: bool,
    pub request_id: String,
}

impl EditorPage {
    pub fn draw(&self, said: Option<Said>) -> Page {
        let error = |name: &str| self.wrong.as_ref().filter(|(field, _)| field == name).map(|(_, why)| why.as_str());
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
            kind: Kind::CodeLines(20),
            ..TextField::default()
        };
        let of = self.of.map(|(id, rev)| {
            view! {
                <input type="hidden" name="document_id" value=id.to_string()/>
                <input type="hidden" name="rev" value=rev.to_string()/>
            }
        });
        let back = match self.of {
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
        let heading = match self.of {
            Some(_) => words::edit_title(&self.title),
            None => words::new_title().to_owned(),
        };
        Page { section: Section::Documents, title: heading, said, body }
    }
}

fn preview(text: &str) -> AnyView {
    view! {
        <section class="panel" id="preview" aria-label=words::preview()>
            <h2>{words::preview()}</h2>
            {drawn(&render(text))}
        </section>
    }
}
