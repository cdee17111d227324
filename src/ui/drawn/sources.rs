//! What a reply refers to, as a numbered list under it.

use super::letters;
use super::link::{NEW_TAB, REL};
use crate::domain::TurnId;
use crate::domain::sources::Sources;
use crate::ui::markdown::{Attribute, Element, Html, Part, Target, source_id};
use crate::ui::words::transcript as words;

/// A longer list is closed at first; a mark that leads into it opens it.
const OPEN_UP_TO: usize = 6;

/// The list; nothing where there are no sources. A source that is no address on the web is named and leads nowhere.
pub fn sources(sources: &Sources, turn: TurnId) -> Option<Part> {
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
    html.leaf(Element::Summary, &[(Attribute::Role, "button")], &words::sources(count));
    html.open(Element::Ol, &[]);
    for (number, source) in (1..).zip(&sources.list) {
        let id = source_id(turn, number);
        html.open(Element::Li, &[(Attribute::Id, &id), (Attribute::Dir, "auto")]);
        let target = Target::parse(&source.url).filter(Target::is_web);
        let has_title = !source.title.trim().is_empty();
        let title = if has_title { &source.title } else { &source.url };
        match &target {
            Some(target) => {
                let title_of = (Attribute::Title, target.href());
                html.open(Element::A, &[(Attribute::Href, target.href()), title_of, REL, NEW_TAB]);
                letters::write(&mut html, title);
                html.close();
                if has_title {
                    html.text(" ");
                    let host = [(Attribute::Class, "source-host"), (Attribute::Dir, "ltr")];
                    html.leaf(Element::Span, &host, target.host());
                }
            }
            None => letters::write(&mut html, title),
        }
        if let Some(quote) = source.quote.as_deref().filter(|quote| !quote.trim().is_empty()) {
            html.open(Element::Blockquote, &[(Attribute::Dir, "auto")]);
            letters::write(&mut html, quote);
            html.close();
        }
        html.close();
    }
    html.close();
    Some(Part::new(html.finish()))
}
