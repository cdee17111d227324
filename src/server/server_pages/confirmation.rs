//! The confirmation of a deletion: what is deleted, how much, and two actions.

use leptos::prelude::*;

use crate::ui::erased::view;

/// A confirmation at the top of a page.
pub struct ConfirmationForm {
    pub title: String,
    /// Describes the deletion and whether it can be undone.
    pub description: String,
    /// The address of the form.
    pub action: &'static str,
    pub fields: Vec<(&'static str, String)>,
    pub confirm_label: String,
    /// The address of the cancel link.
    pub cancel_path: String,
    pub cancel_label: &'static str,
}

impl ConfirmationForm {
    pub fn draw(self) -> AnyView {
        let fields =
            self.fields.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
        view! {
            <section class="panel" role="alertdialog" aria-labelledby="sure-title" aria-describedby="sure-what">
                <h2 id="sure-title" dir="auto">{self.title}</h2>
                <p id="sure-what">{self.description}</p>
                <div class="deeds">
                    <a class="button" href=self.cancel_path autofocus="">{self.cancel_label}</a>
                    <form method="post" action=self.action>
                        {fields.collect_view()}
                        <button type="submit" class="button danger">{self.confirm_label}</button>
                    </form>
                </div>
            </section>
        }
    }
}
