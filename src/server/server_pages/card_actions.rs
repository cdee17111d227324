//! Parts of a settings card: its facts, and its actions (test, edit, enable or disable, and remove), each as a form of
//! its own with a label that names the item.

use leptos::prelude::*;

use super::messages::providers as words;
use crate::ui::erased::view;
use crate::ui::kit::Icon;

/// An item that its owner added.
pub struct CardActions<'a> {
    pub id: &'a str,
    pub name: &'a str,
    /// The page of the card; its form is there under `?edit=`.
    pub page: &'static str,
    /// The prefix of `change` and `remove` in the addresses of its forms.
    pub form_path: &'static str,
    pub card: String,
    pub is_enabled: bool,
    /// True when it is configured elsewhere and cannot be changed here.
    pub is_locked: bool,
    pub remove_description: String,
}

impl CardActions<'_> {
    /// Renders a button with a form of its own.
    pub fn button(&self, action: &str, field: &'static str, value: &'static str, word: &'static str) -> AnyView {
        view! {
            <form method="post" action=action.to_owned()>
                <input type="hidden" name="id" value=self.id.to_owned()/>
                <button type="submit" class="button" name=field value=value>{word}{self.named()}</button>
            </form>
        }
    }

    /// Renders all actions; `first` are those specific to this kind of item.
    pub fn draw(&self, first: Vec<AnyView>) -> AnyView {
        let change = format!("{}/change", self.form_path);
        let own = (!self.is_locked).then(|| {
            let edit = format!("{}?edit={}#{}", self.page, self.id, self.card);
            let (to, word) = if self.is_enabled { ("off", words::switch_off()) } else { ("on", words::switch_on()) };
            let switch = self.button(&change, "switch", to, word);
            view! { <a class="button" href=edit>{words::edit()}{self.named()}</a>{switch} }
        });
        let remove = (!self.is_locked).then(|| {
            view! {
                <details class="fold">
                    <summary>{words::remove()}{self.named()}<Icon name="chevron-down"/></summary>
                    <form class="form" method="post" action=format!("{}/remove", self.form_path)>
                        <input type="hidden" name="id" value=self.id.to_owned()/>
                        <p dir="auto">{self.remove_description.clone()}</p>
                        <div class="deeds"><button type="submit" class="button danger">{words::remove_button(self.name)}</button></div>
                    </form>
                </details>
            }
        });
        view! { <div class="deeds">{first}{own}</div>{remove} }
    }

    /// Returns the name of the item for the accessible name of a button.
    fn named(&self) -> AnyView {
        view! { <span class="quiet">" "{self.name.to_owned()}</span> }
    }
}

/// Renders one row of a card's list of facts.
pub fn fact(name: &'static str, value: String) -> AnyView {
    view! { <div><dt>{name}</dt><dd><bdi>{value}</bdi></dd></div> }
}
