//! Tests of the component's output in the server's page.

use leptos::prelude::*;

use crate::ui::erased::view;
use crate::ui::markdown::incremental_render::GROUP_SIZE;
use crate::ui::markdown::view::{MarkdownText, draw_static};
use crate::ui::markdown::{MarkupPart, render};

#[test]
fn page_has_one_element_for_each_part_with_unchanged_markup() {
    let mut parts = render("a <b>\n\n- c\n");
    parts.push(MarkupPart::from_server("<p>richer</p>".into()));
    let html = Owner::new().with(|| view! { <MarkdownText parts=Signal::stored(parts) /> }.to_html());
    let bare: String = html.split("<!>").collect();
    assert!(bare.contains("<div class=\"part\"><p dir=\"auto\">a &lt;b&gt;</p></div>"), "{html}");
    assert!(bare.contains("<div class=\"part\"><ul><li dir=\"auto\">c</li></ul></div>"), "{html}");
    assert!(bare.contains("<div class=\"part\"><p>richer</p></div>"), "{html}");
    assert!(bare.starts_with("<div class=\"md\">"), "{html}");
}

#[test]
fn parts_are_grouped_alike_in_static_and_reactive_views() {
    let text = (0..=GROUP_SIZE).map(|at| format!("p{at}\n\n")).collect::<String>();
    let parts = render(&text);
    assert_eq!(parts.len(), GROUP_SIZE + 1);
    let elements = |html: String| html.split("<!>").collect::<String>();
    let once = elements(draw_static(&parts).to_html());
    let live = elements(Owner::new().with(|| view! { <MarkdownText parts=Signal::stored(parts) /> }.to_html()));
    assert_eq!(once, live);
    let groups = once.split("<div class=\"parts\">").skip(1).map(|group| group.matches("class=\"part\"").count());
    assert_eq!(groups.collect::<Vec<_>>(), [GROUP_SIZE, 1]);
}
