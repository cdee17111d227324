//! The question before something goes: what, how much, and two ways on.

use leptos::prelude::*;

use crate::ui::erased::view;

/// Asked at the top of a page.
pub struct Question {
    pub title: String,
    /// What goes, and whether it can come back.
    pub what: String,
    /// The form that does it.
    pub action: &'static str,
    pub fields: Vec<(&'static str, String)>,
    pub yes: String,
    /// Where it leads to leave it.
    pub back: String,
    pub no: &'static str,
}

impl Question {
    pub fn draw(self) -> AnyView {
        let fields =
            self.fields.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
        view! {
            <section class="panel" role="alertdialog" aria-labelledby="sure-title" aria-describedby="sure-what">
                <h2 id="sure-title" dir="auto">{self.title}</h2>
                <p id="sure-what">{self.what}</p>
                <div class="deeds">
                    <a class="button" href=self.back autofocus="">{self.no}</a>
                    <form method="post" action=self.action>
                        {fields.collect_view()}
                        <button type="submit" class="button danger">{self.yes}</button>
                    </form>
                </div>
            </section>
        }
    }
}
