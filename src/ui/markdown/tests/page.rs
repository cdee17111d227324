//! What the component puts into the server's page.

use leptos::prelude::*;

use crate::ui::erased::view;
use crate::ui::markdown::gradual::GROUP;
use crate::ui::markdown::view::{MarkdownText, drawn};
use crate::ui::markdown::{Part, render};

#[test]
fn the_page_has_one_element_for_each_part_with_its_markup_as_it_is() {
    let mut parts = render("a <b>\n\n- c\n");
    parts.push(Part::received("<p>richer</p>".into()));
    let html = Owner::new().with(|| view! { <MarkdownText parts=Signal::stored(parts) /> }.to_html());
    let bare: String = html.split("<!>").collect();
    assert!(bare.contains("<div class=\"part\"><p dir=\"auto\">a &lt;b&gt;</p></div>"), "{html}");
    assert!(bare.contains("<div class=\"part\"><ul><li dir=\"auto\">c</li></ul></div>"), "{html}");
    assert!(bare.contains("<div class=\"part\"><p>richer</p></div>"), "{html}");
    assert!(bare.starts_with("<div class=\"md\">"), "{html}");
}

#[test]
fn parts_stand_in_groups_and_a_page_that_is_drawn_once_has_the_same_elements() {
    let text = (0..=GROUP).map(|at| format!("p{at}\n\n")).collect::<String>();
    let parts = render(&text);
    assert_eq!(parts.len(), GROUP + 1);
    let elements = |html: String| html.split("<!>").collect::<String>();
    let once = elements(drawn(&parts).to_html());
    let live = elements(Owner::new().with(|| view! { <MarkdownText parts=Signal::stored(parts) /> }.to_html()));
    assert_eq!(once, live);
    let groups = once.split("<div class=\"parts\">").skip(1).map(|group| group.matches("class=\"part\"").count());
    assert_eq!(groups.collect::<Vec<_>>(), [GROUP, 1]);
}
