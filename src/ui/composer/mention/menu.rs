//! The menu behind `@`, fetched with the first one: documents by their titles, those that changed last first, and with
//! `:12-30` behind a title these lines of one.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::Value;

use super::{LIST, text_before, word_at_end};
use crate::browser::{api_request, textarea};
use crate::domain::attachment::Attachment;
use crate::domain::{Content, limits, percent};
use crate::ui::composer::attaching::{document_in, text_of};
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::{effect, live, on_change, view};
use crate::ui::kit::Icon;
use crate::ui::words::attaching as words;

/// Options that are shown: who sees more types on.
const SHOWN: usize = 8;

/// The first and the last line, from 1.
type Lines = (u64, u64);

/// What is chosen from.
#[derive(Clone, Copy)]
struct Menu {
    state: ComposerState,
    /// None until they are loaded.
    documents: RwSignal<Option<Vec<Attachment>>>,
    /// Whether there are more than were loaded: then a word is asked for by itself.
    has_more: StoredValue<bool>,
    /// What is said below the options, where it is not the usual.
    note: RwSignal<Option<String>>,
}

/// Draws the menu while the box has a word for it.
pub fn draw(state: ComposerState) -> AnyView {
    let menu =
        Menu { state, documents: RwSignal::new(None), has_more: StoredValue::new(false), note: RwSignal::new(None) };
    let mention = state.mention;
    let options = Memo::new(move |_| menu.options());
    menu.load(None);
    on_change(
        move || mention.word.get(),
        move |before, now| {
            menu.note.set(None);
            match now {
                // Others may have come since the menu was closed.
                Some(_) if before.is_none() => menu.load(None),
                Some(word) if menu.has_more.get_value() => menu.load(Some(word)),
                _ => {}
            }
        },
    );
    effect(move || {
        mention.count.set(options.with(|(options, _)| options.len()));
        if mention.is_open() && menu.documents.with(Option::is_some) {
            state.announcer.say(words::offered(options.with(|(options, _)| options.len())));
        }
    });
    effect(move || {
        if let Some(at) = mention.chosen.get() {
            mention.chosen.set(None);
            menu.take(
                options.with_untracked(|(options, lines)| options.get(at).cloned().map(|chosen| (chosen, *lines))),
            );
        }
    });
    let list = live(move || mention.is_open().then(|| menu.drawn(options.get())));
    view! { {list} }.into_any()
}

impl Menu {
    /// What there is to choose from, and which lines of it are meant.
    fn options(self) -> (Vec<Attachment>, Option<Lines>) {
        let Some(word) = self.state.mention.word.get() else { return Default::default() };
        let having = |words: &str| {
            let words = words.to_lowercase();
            self.documents.with(|documents| {
                let all = documents.iter().flatten();
                let fitting = all.filter(|one| one.card.title.to_lowercase().contains(&words));
                fitting.take(SHOWN).cloned().collect::<Vec<_>>()
            })
        };
        let whole = having(&word);
        match with_lines(&word) {
            // A title may look as if it had lines.
            Some((title, lines)) if whole.is_empty() => (having(title), lines),
            _ => (whole, None),
        }
    }

    /// Those that changed last, or those with this word in their titles.
    fn load(self, word: Option<String>) {
        let mut path = format!("/api/documents?limit={}", limits::MENTION_DOCUMENTS);
        let title = word.as_deref().map(|word| with_lines(word).map_or(word, |(title, _)| title));
        if let Some(title) = title {
            path += &format!("&title={}", percent::encoded(title));
        }
        let is_all = title.is_none();
        spawn_local(async move {
            // What was known stays where there is no answer.
            let Ok(answer) = api_request::get(&path).await else { return };
            let found: Vec<Attachment> = answer.as_array().into_iter().flatten().filter_map(document_in).collect();
            if is_all {
                let _ = self.has_more.try_set_value(found.len() >= limits::MENTION_DOCUMENTS as usize);
                let _ = self.documents.try_set(Some(found));
            } else {
                let _ = self.documents.try_update(|documents| add(documents.get_or_insert_default(), found));
            }
        });
    }

    fn take(self, chosen: Option<(Attachment, Option<Lines>)>) {
        match chosen {
            Some((document, None)) => self.attach(document),
            Some((document, Some(lines))) => self.quote(document, lines),
            None => {}
        }
    }

    /// Attaches it and takes the word out of the text.
    fn attach(self, chosen: Attachment) {
        let Some(area) = self.state.area.get_untracked() else { return };
        let before = text_before(self.state);
        let word = word_at_end(&before).map(|word| format!("@{word}"));
        self.state.mention.close();
        self.state.attaching.attach(chosen);
        if let Some(word) = word {
            textarea::take_out(&area, &word, before.len());
        }
    }

    /// Reads the document, for where its lines begin and end, and attaches them; the menu stays until then.
    fn quote(self, document: Attachment, lines: Lines) {
        let Content::Reference { ref_id, .. } = document.content else { return };
        let word = self.state.mention.word.get_untracked();
        self.note.set(Some(words::READING.to_owned()));
        spawn_local(async move {
            let answer = api_request::get(&format!("/api/documents/{ref_id}")).await;
            // Who typed on meanwhile means something else.
            if self.state.mention.word.try_get_untracked() != Some(word) {
                return;
            }
            let found = answer.map(|answer| lines_in(&answer, lines).ok_or_else(|| count_in(&answer)));
            let said = match found {
                Ok(Ok(quoted)) => return self.attach(quoted),
                Ok(Err(count)) => words::no_such_lines(count),
                Err(why) => why.unwrap_or_else(|| words::NOT_READ.to_owned()),
            };
            self.state.announcer.say(said.clone());
            let _ = self.note.try_set(Some(said));
        });
    }

    fn drawn(self, (options, lines): (Vec<Attachment>, Option<Lines>)) -> AnyView {
        let mention = self.state.mention;
        let usual = match (options.is_empty(), self.documents.with(Option::is_some)) {
            (true, true) => words::NO_DOCUMENTS,
            (true, false) => words::LOOKING,
            (false, _) => words::HOW_LINES,
        };
        let row = move |(at, option): (usize, Attachment)| {
            // The focus stays in the box.
            let hold = |event: leptos::ev::MouseEvent| event.prevent_default();
            view! {
                <li
                    id=format!("{LIST}-{at}")
                    class="menu-row"
                    role="option"
                    aria-selected=move || (mention.active.get() == at).to_string()
                    on:mousedown=hold
                    on:click=move |_| mention.chosen.set(Some(at))
                >
                    <Icon name="file"/>
                    <bdi class="chip-text">{option.card.title}</bdi>
                    {lines.map(|lines| view! { <span>"· "{words::lines(lines)}</span> })}
                </li>
            }
        };
        view! {
            <div class="mention-menu">
                <ul id=LIST role="listbox" aria-label=words::DOCUMENTS>
                    {options.into_iter().enumerate().map(row).collect_view()}
                </ul>
                <p class="hint">{move || self.note.get().unwrap_or_else(|| usual.to_owned())}</p>
            </div>
        }
        .into_any()
    }
}

/// Adds what is not there yet.
fn add(documents: &mut Vec<Attachment>, found: Vec<Attachment>) {
    for document in found {
        if documents.iter().all(|known| known.key() != document.key()) {
            documents.push(document);
        }
    }
}

/// These lines of the document that an answer of the server's shows.
fn lines_in(answer: &Value, lines: Lines) -> Option<Attachment> {
    let version = text_of(answer, "version_timestamp")?.parse().ok()?;
    let text = answer.get("content")?.as_str()?;
    Attachment::of_lines(text_of(answer, "id")?, text_of(answer, "title")?, version, text, lines)
}

fn count_in(answer: &Value) -> u64 {
    answer.get("lines").and_then(Value::as_u64).unwrap_or(0)
}

/// A word's title and the lines behind it: `spec:12` or `spec:12-30`, with the signs of a Chinese keyboard too. No lines
/// while none are written behind the colon.
fn with_lines(word: &str) -> Option<(&str, Option<Lines>)> {
    let (title, lines) = word.rsplit_once([':', '：'])?;
    let (first, last) = lines.split_once(['-', '–', '－']).unwrap_or((lines, ""));
    let number = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    let (first, last): (Option<u64>, Option<u64>) = (number(first)?, number(last)?);
    Some((title, first.map(|first| (first, last.unwrap_or(first)))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_stand_behind_a_colon() {
        for (word, read) in [
            ("spec", None),
            ("spec:", Some(("spec", None))),
            ("spec:3", Some(("spec", Some((3, 3))))),
            ("spec:3-", Some(("spec", Some((3, 3))))),
            ("spec:3-12", Some(("spec", Some((3, 12))))),
            ("规格：3－4", Some(("规格", Some((3, 4))))),
            ("a:b:7", Some(("a:b", Some((7, 7))))),
            ("spec:x", None),
            ("spec:3-x", None),
            ("spec:-3", Some(("spec", None))),
        ] {
            assert_eq!(with_lines(word), read, "{word}");
        }
    }

    #[test]
    fn lines_are_those_of_the_version_that_was_read() {
        let answer = json!({ "id": "d1", "title": "Spec", "version_timestamp": "2026-11-22T07:00:00Z", "lines": 3,
            "content": "one\n两\nthree\n" });
        let quoted = lines_in(&answer, (2, 3)).unwrap();
        let Content::PartialReference { selection_start, selection_end, .. } = quoted.content else { panic!() };
        assert_eq!((selection_start, selection_end), (4, 11));
        assert_eq!((quoted.card.lines, quoted.card.quote.as_deref()), (Some((2, 3)), Some("两\nthree")));
        assert_eq!(lines_in(&answer, (9, 9)), None);
        assert_eq!(count_in(&answer), 3);
    }

    #[test]
    fn what_is_known_is_not_offered_twice() {
        let document = |id: &str| Attachment::document(id.to_owned(), "T".to_owned(), Default::default(), 1);
        let mut known = vec![document("a")];
        add(&mut known, vec![document("a"), document("b")]);
        assert_eq!(known.len(), 2);
    }
}
