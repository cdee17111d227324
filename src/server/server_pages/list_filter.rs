//! The filter above a list, and the list that it filters. Everyone can submit the form; where scripts run, the list
//! follows what is typed (`browser::live_filter`), so there the button is not shown.

use leptos::prelude::*;

use crate::ui::erased::view;
use crate::ui::kit::Icon;

/// The id of the filtered part of a page, which a form names in `data-filters`.
pub const FILTERED: &str = "filtered";

/// The form of one field.
pub struct ListFilter<'a> {
    pub action: &'static str,
    /// The field of the address.
    pub field: &'static str,
    /// The name of the field for people, which also stands in it while it is empty.
    pub label: &'static str,
    pub value: &'a str,
    pub submit: &'static str,
    /// Further fields of the address that stay.
    pub kept: Vec<(&'static str, String)>,
}

impl ListFilter<'_> {
    pub fn draw(&self) -> AnyView {
        let kept = |(name, value): &(&'static str, String)| {
            let (name, value) = (*name, value.clone());
            view! { <input type="hidden" name=name value=value/> }
        };
        view! {
            <form class="list-filter" method="get" action=self.action role="search" data-filters=FILTERED>
                {self.kept.iter().map(kept).collect_view()}
                <label class="filter-field">
                    <Icon name="search"/>
                    <input
                        class="field"
                        type="search"
                        name=self.field
                        value=self.value.to_owned()
                        autocomplete="off"
                        autocapitalize="none"
                        spellcheck="false"
                        maxlength="256"
                        aria-label=self.label
                        placeholder=self.label
                    />
                </label>
                <button type="submit" class="button without-script">{self.submit}</button>
            </form>
        }
    }
}

/// Renders the filtered part of a page: what there is in it, which a screen reader hears when it changes, and the list.
pub fn filtered(status: Option<String>, list: AnyView) -> AnyView {
    view! {
        <div id=FILTERED class="filtered">
            <p class="list-count" role="status" dir="auto">{status}</p>
            {list}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_names_what_it_filters_and_works_without_script() {
        let form = ListFilter {
            action: "/chats",
            field: "q",
            label: "Title contains",
            value: "\"><script>",
            submit: "Show",
            kept: vec![("archived", "true".to_owned())],
        };
        let html = Owner::new().with(|| {
            let list = filtered(Some("2 chats".into()), ().into_any());
            view! { {form.draw()}{list} }.to_html()
        });
        let html = html.replace("<!>", "");
        for part in [
            "method=\"get\" action=\"/chats\" role=\"search\" data-filters=\"filtered\"",
            "<input type=\"hidden\" name=\"archived\" value=\"true\"",
            "aria-label=\"Title contains\"",
            "<button type=\"submit\" class=\"button without-script\">Show</button>",
            "id=\"filtered\"",
            "role=\"status\"",
            ">2 chats</p>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script>"), "{html}");
    }
}
