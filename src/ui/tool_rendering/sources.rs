//! The sources of a reply, as a numbered list below it.

use super::hidden_characters;
use super::link::{NEW_TAB, REL};
use crate::domain::TurnId;
use crate::domain::blocks::sources::ReplySources;
use crate::ui::markdown::{Attribute, Element, Html, LinkTarget, MarkupPart, source_id};
use crate::ui::messages::transcript as words;

/// Longer lists are collapsed at first; a citation mark that leads into one opens it.
const OPEN_UP_TO: usize = 6;

/// Renders the list; none where there are no sources. A source that is no web address is named without a link.
pub fn sources(sources: &ReplySources, turn: TurnId) -> Option<MarkupPart> {
    if sources.list.is_empty() {
        return None;
    }
    let count = sources.list.len();
    let mut html = Html::default();
    let open: &[_] = if count <= OPEN_UP_TO {
        &[(Attribute::Class, "sources"), (Attribute::Open, "")]
    } else {
        &[(Attribute::Class, "sources")]
    };
    html.open(Element::Details, open);
    html.text_element(Element::Summary, &[(Attribute::Role, "button")], &words::sources(count));
    html.open(Element::Ol, &[]);
    for (number, source) in (1..).zip(&sources.list) {
        let id = source_id(turn, number);
        html.open(Element::Li, &[(Attribute::Id, &id), (Attribute::Dir, "auto")]);
        let target = LinkTarget::parse(&source.url).filter(LinkTarget::is_web);
        let has_title = !source.title.trim().is_empty();
        let title = if has_title { &source.title } else { &source.url };
        match &target {
            Some(target) => {
                let title_of = (Attribute::Title, target.href());
                html.open(Element::A, &[(Attribute::Href, target.href()), title_of, REL, NEW_TAB]);
                hidden_characters::write_revealed(&mut html, title);
                html.close();
                if has_title {
                    html.text(" ");
                    let host = [(Attribute::Class, "source-host"), (Attribute::Dir, "ltr")];
                    html.text_element(Element::Span, &host, target.host());
                }
            }
            None => hidden_characters::write_revealed(&mut html, title),
        }
        if let Some(quote) = source.quote.as_deref().filter(|quote| !quote.trim().is_empty()) {
            html.open(Element::Blockquote, &[(Attribute::Dir, "auto")]);
            hidden_characters::write_revealed(&mut html, quote);
            html.close();
        }
        html.close();
    }
    html.close();
    Some(MarkupPart::new(html.finish()))
}
