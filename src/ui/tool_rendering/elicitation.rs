//! Questions that a tool server asked during a call, with their outcome and the user's answers.

use super::hidden_characters;
use crate::domain::blocks::block::Block;
use crate::domain::tools::elicitation::Elicitation;
use crate::ui::locale::colon;
use crate::ui::markdown::{Attribute, Element, Html, MarkupPart};
use crate::ui::messages::elicitation as words;

/// Renders the words of a question, with hidden characters made visible.
pub fn elicitation_message(message: &str) -> MarkupPart {
    let mut html = Html::default();
    write_message(&mut html, message);
    MarkupPart::new(html.finish())
}

fn write_message(html: &mut Html, message: &str) {
    html.open(Element::Div, &[(Attribute::Class, "asked-message"), (Attribute::Dir, "auto")]);
    hidden_characters::write_revealed(html, message);
    html.close();
}

/// Renders the questions of a call for its card; none where there are none.
pub fn elicitations(call: &Block) -> Option<MarkupPart> {
    let asked = Elicitation::list(call);
    if asked.is_empty() {
        return None;
    }
    let is_open = Elicitation::can_be_open(call);
    let mut html = Html::default();
    hidden_characters::write_line(&mut html, words::asked());
    for question in &asked {
        write_message(&mut html, &question.request.message);
        if let Some(page) = &question.request.page {
            hidden_characters::write_text_box(&mut html, words::open_page(), true, &page.url);
        }
        hidden_characters::write_line(&mut html, words::outcome(question.outcome, is_open));
        let answers = question.answers();
        if answers.is_empty() {
            continue;
        }
        html.open(Element::Ul, &[(Attribute::Class, "asked-answers")]);
        for (label, value) in answers {
            html.open(Element::Li, &[(Attribute::Dir, "auto")]);
            html.text_element(Element::Strong, &[], label);
            html.text(colon());
            hidden_characters::write_revealed(&mut html, &value);
            html.close();
        }
        html.close();
    }
    Some(MarkupPart::new(html.finish()))
}
