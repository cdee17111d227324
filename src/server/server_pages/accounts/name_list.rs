//! Parts of the administrators' lists by name: the field that finds entries, the links between pages, and the position
//! that links and forms of an entry keep.

use leptos::prelude::*;

use crate::domain::encoding::url_encoding::encode;
use crate::server::server_pages::list_filter::{ListFilter, filtered};
use crate::server::server_pages::messages::accounts as words;
use crate::ui::erased::view;
use turnleaf_service::accounts::list_pages::ListPosition;

/// A list by name, at its position.
pub struct NameList<'a> {
    pub path: &'static str,
    pub position: &'a ListPosition,
    /// The name behind which the next page begins.
    pub next: Option<&'a str>,
    /// Further fields of the address that stay, whose values need no escaping.
    pub kept: Vec<(&'static str, String)>,
}

impl NameList<'_> {
    /// Renders the list with its links, below the field if there is more than one page.
    pub fn draw(&self, list: Option<AnyView>) -> AnyView {
        let is_part = self.next.is_some() || *self.position != ListPosition::default();
        let filter = ListFilter {
            action: self.path,
            field: "find",
            label: words::name_contains(),
            value: &self.position.find,
            submit: words::find(),
            kept: self.kept.clone(),
        };
        let filter = is_part.then(|| filter.draw());
        let nothing = (list.is_none() && !self.position.find.is_empty()).then(|| words::no_names(&self.position.find));
        let list = view! { {list}{self.links()} };
        view! { {filter}{filtered(nothing, list)} }
    }

    fn links(&self) -> Option<AnyView> {
        let first = (!self.position.after.is_empty()).then(|| self.link("", words::first_page()));
        let next = self.next.map(|after| self.link(after, words::next_page()));
        (first.is_some() || next.is_some()).then(|| view! { <div class="deeds">{first}{next}</div> })
    }

    fn link(&self, after: &str, label: &'static str) -> AnyView {
        let kept = self.kept.iter().map(|(name, value)| format!("{name}={value}"));
        let position = ListPosition { find: self.position.find.clone(), after: after.to_owned() };
        let fields: Vec<String> = kept.chain(filled(&position).map(|(name, value)| field(name, value))).collect();
        let query = if fields.is_empty() { String::new() } else { format!("?{}", fields.join("&")) };
        view! { <a class="button" href=format!("{}{query}", self.path)>{label}</a> }
    }
}

/// Returns the fields of a position that are not empty.
fn filled(position: &ListPosition) -> impl Iterator<Item = (&'static str, &str)> {
    let fields = [("find", position.find.as_str()), ("after", position.after.as_str())];
    fields.into_iter().filter(|(_, value)| !value.is_empty())
}

fn field(name: &str, value: &str) -> String {
    format!("{name}={}", encode(value))
}

/// Returns what keeps the position in an address that has other fields before.
pub fn position_query(position: &ListPosition) -> String {
    filled(position).map(|(name, value)| format!("&{}", field(name, value))).collect()
}

/// Renders the fields with which a form keeps the position.
pub fn position_fields(position: &ListPosition) -> AnyView {
    let fields = filled(position).map(|(name, value)| {
        view! { <input type="hidden" name=name value=value.to_owned()/> }
    });
    fields.collect_view().into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(position: &ListPosition, next: Option<&str>, is_empty: bool) -> String {
        let list = NameList { path: "/settings/users", position, next, kept: vec![("by", "group".to_owned())] };
        let rows = || view! { <p>"Ann"</p> };
        Owner::new().with(|| list.draw((!is_empty).then(rows)).to_html()).replace("<!>", "")
    }

    #[test]
    fn links_keep_filter_and_only_long_list_has_field() {
        let whole = html(&ListPosition::default(), None, false);
        assert!(whole.contains("<p>Ann</p>") && !whole.contains("<form") && !whole.contains("href="), "{whole}");
        let first = html(&ListPosition::default(), Some("Zoë"), false);
        assert!(first.contains("name=\"find\"") && first.contains("?by=group&amp;after=Zo%C3%AB\""), "{first}");
        let middle = html(&ListPosition::new("a&b", "Bob"), Some("Cy"), false);
        for part in [
            "name=\"find\" value=\"a&amp;b\"",
            "name=\"by\" value=\"group\"",
            "?by=group&amp;find=a%26b\"",
            "?by=group&amp;find=a%26b&amp;after=Cy\"",
        ] {
            assert!(middle.contains(part), "{part}: {middle}");
        }
        let nothing = html(&ListPosition::new("zz", ""), None, true);
        assert!(nothing.contains("No name contains “zz”."), "{nothing}");
        assert_eq!(position_query(&ListPosition::new("a b", "Bob")), "&find=a%20b&after=Bob");
    }
}
