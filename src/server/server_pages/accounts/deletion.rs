//! The page on which people delete their own account: what goes with it, an export to do first, and a form that requires
//! typing a word, as the page that deletes everything has it.

use leptos::prelude::*;

use crate::server::server_pages::form_fields::{FieldKind, TextField};
use crate::server::server_pages::messages::{accounts as words, delete_all, transfer};
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::messages as app_words;
use turnleaf_service::transfer::delete_all::InventoryCounts;

/// The content of the page.
pub struct DeleteAccountPage {
    pub counts: InventoryCounts,
    /// The wrong word that was typed; `typed_error` is its message.
    pub typed: String,
    pub typed_error: Option<String>,
}

impl DeleteAccountPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let InventoryCounts { chats, documents, files } = self.counts;
        let hint = delete_all::typing_instruction();
        let field = TextField {
            label: delete_all::label(),
            name: "word",
            form: "account",
            value: &self.typed,
            hint: Some(&hint),
            error: self.typed_error.as_deref(),
            kind: FieldKind::Code,
            is_required: true,
            ..TextField::default()
        };
        let nothing =
            self.typed_error.as_ref().map(|_| ActionNotice::Refused(delete_all::nothing_deleted().to_owned()));
        let body = view! {
            <p><a href=PageSection::Profile.path()>{words::profile()}</a></p>
            <section class="panel" aria-labelledby="goes-title">
                <h2 id="goes-title">{delete_all::deleted_items()}</h2>
                <ul>
                    <li>{delete_all::chats(chats)}</li>
                    <li>{delete_all::documents(documents)}</li>
                    <li>{delete_all::files(files)}</li>
                    <li>{delete_all::projects()}</li>
                    <li>{delete_all::usage()}</li>
                    <li>{words::deleted_connections()}</li>
                </ul>
                <p>{words::account_permanence()}</p>
            </section>
            <section class="panel" aria-labelledby="before-title">
                <h2 id="before-title">{delete_all::export_first()}</h2>
                <p class="hint">{transfer::export_all_hint()}</p>
                <p><a class="button" href="/settings/data/export">{words::export_my_data()}</a></p>
            </section>
            <section class="panel" aria-labelledby="delete-title">
                <h2 id="delete-title">{words::delete_account()}</h2>
                <form class="form" method="post" action="/forms/profile/delete">
                    {field.draw()}
                    <div class="deeds">
                        <a class="button" href=PageSection::Profile.path()>{app_words::cancel()}</a>
                        <button type="submit" class="button danger" data-busy=delete_all::deleting()>
                            {words::delete_my_account()}
                        </button>
                    </div>
                </form>
            </section>
        };
        let (section, title) = (PageSection::Profile, words::delete_account().to_owned());
        ServerPage { section, title, notice: nothing.or(notice), body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_word_stays_in_form_with_its_error() {
        let counts = InventoryCounts { chats: 2, documents: 1, files: 0 };
        let page = DeleteAccountPage { counts, typed: "<delte>".into(), typed_error: Some("not that".into()) };
        let (html, notice) = Owner::new().with(|| {
            let page = page.draw(None);
            (page.body.to_html().replace("<!>", ""), page.notice)
        });
        for part in ["2 chats", "1 document", "value=\"&lt;delte&gt;\"", "not that", "href=\"/settings/data/export\""] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(matches!(notice, Some(ActionNotice::Refused(_))), "{notice:?}");
    }
}
