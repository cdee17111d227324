//! What the component puts into the server's page.

use leptos::prelude::*;

use crate::ui::erased::view;
use crate::ui::markdown::view::MarkdownText;
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
