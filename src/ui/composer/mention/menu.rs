//! The menu behind `@`, fetched with the first one: documents by their titles, those that changed last first, and with
//! `:12-30` behind a title these lines of one.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{LIST, text_before, word_at_end};
use crate::browser::{api_request, textarea};
use crate::domain::attachment::Attachment;
use crate::domain::{Content, Needle, limits, percent};
use crate::ui::composer::attaching::{document_in, lines_in};
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::{effect, live, on_change, view};
use crate::ui::kit::Icon;
use crate::ui::words::attaching as words;
use crate::ui::words::told::told_of_field;

/// Options that are shown: who sees more types on.
const SHOWN: usize = 8;

/// The first and the last line, from 1.
type Lines = (u64, u64);

/// What there is to choose from, and which lines of it are meant.
#[derive(Debug, Clone, Default, PartialEq)]
struct Options {
    documents: Vec<Attachment>,
    lines: Option<Lines>,
}

/// What the menu knows.
#[derive(Clone, Copy)]
struct Menu {
    state: ComposerState,
    /// Nothing until they came.
    documents: RwSignal<Option<Vec<Attachment>>>,
    /// The title that the server is asked for; blank for those that changed last.
    asked: RwSignal<Option<String>>,
    /// Whether there are more documents than were loaded, so that titles are asked for.
    has_more: StoredValue<bool>,
    /// What is said below the options, where it is not the usual.
    note: RwSignal<Option<String>>,
}

/// Draws the menu while the box has a word for it.
pub fn draw(state: ComposerState) -> AnyView {
    let menu = Menu {
        state,
        documents: RwSignal::new(None),
        asked: RwSignal::new(None),
        has_more: StoredValue::new(false),
        note: RwSignal::new(None),
    };
    let mention = state.mention;
    let options = Memo::new(move |_| menu.options());
    if mention.word.with_untracked(Option::is_some) {
        menu.ask(String::new());
    }
    on_change(
        move || mention.word.get(),
        move |before, now| {
            menu.note.set(None);
            match now {
                // Others may have come since the menu was closed.
                Some(_) if before.is_none() => menu.ask(String::new()),
                Some(_) => menu.ask_further(None),
                None => {}
            }
        },
    );
    effect(move || {
        let count = options.with(|options| options.as_ref().map(|options| options.documents.len()));
        if mention.word.with(Option::is_none) {
            return;
        }
        mention.count.set(count);
        if let Some(count) = count {
            state.announcer.say(words::offered(count));
        }
    });
    on_change(
        move || mention.chosen.get(),
        move |_, chosen| {
            // It is the other menu's.
            if mention.word.with_untracked(Option::is_none) {
                return;
            }
            mention.chosen.set(None);
            if let (Some(at), Some(options)) = (chosen, options.get_untracked()) {
                menu.take(options, at);
            }
        },
    );
    live(move || mention.word.with(Option::is_some).then(|| menu.drawn(options.get()))).into_any()
}

impl Menu {
    /// What fits the word; nothing while that is not known.
    fn options(self) -> Option<Options> {
        let word = self.state.mention.word.get()?;
        let is_asked = self.asked.with(|asked| asked.as_ref().is_some_and(|title| !title.is_empty()));
        let found = self.documents.with(|documents| Some(fitting(documents.as_ref()?, &word)))?;
        // Of what was looked for there may be more.
        (!is_asked || (!found.documents.is_empty() && found.lines.is_none())).then_some(found)
    }

    /// Asks for the documents that changed last, or for those with this in their titles. One question at a time: what is
    /// typed meanwhile is asked for after its answer.
    fn ask(self, title: String) {
        if self.asked.with_untracked(Option::is_some) {
            return;
        }
        let mut path = format!("/api/documents?limit={}", limits::MENTION_DOCUMENTS);
        if !title.is_empty() {
            path += &format!("&title={}", percent::encoded(&title));
        }
        self.asked.set(Some(title.clone()));
        spawn_local(async move {
            let answer = api_request::get(&path).await;
            let found = answer.ok().map(|answer| {
                let found = answer.as_array().into_iter().flatten().filter_map(document_in);
                found.collect::<Vec<_>>()
            });
            match found {
                Some(found) if title.is_empty() => {
                    let _ = self.has_more.try_set_value(found.len() >= limits::MENTION_DOCUMENTS as usize);
                    let _ = self.documents.try_set(Some(found));
                }
                Some(found) => {
                    let _ =
                        self.documents.try_update(|documents| newest_first(documents.get_or_insert_default(), found));
                }
                // What was known stays.
                None => {
                    let _ = self.note.try_set(Some(words::not_looked().to_owned()));
                    let _ = self.asked.try_set(None);
                    return;
                }
            }
            if self.asked.try_set(None).is_none() {
                self.ask_further(Some(&title));
            }
        });
    }

    /// Asks for what the word is about, where the documents that changed last are not all.
    fn ask_further(self, answered: Option<&str>) {
        let word = self.state.mention.word.get_untracked().unwrap_or_default();
        let title = with_lines(&word).map_or(word.as_str(), |(title, _)| title).trim();
        if self.has_more.get_value() && !title.is_empty() && answered != Some(title) {
            self.ask(title.to_owned());
        }
    }

    fn take(self, options: Options, at: usize) {
        match (options.documents.into_iter().nth(at), options.lines) {
            (Some(document), None) => self.attach(document),
            (Some(document), Some(lines)) => self.quote(document, lines),
            (None, _) => {}
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
        self.note.set(Some(words::reading().to_owned()));
        spawn_local(async move {
            let answer = api_request::get(&format!("/api/documents/{ref_id}")).await;
            // Who typed on meanwhile means something else.
            if self.state.mention.word.try_get_untracked() != Some(word) {
                return;
            }
            let said = match answer.map(|answer| lines_in(&answer, lines)) {
                Ok(Ok(quoted)) => return self.attach(quoted),
                Ok(Err(count)) => words::no_such_lines(count),
                Err(why) => why.map_or_else(|| words::not_read().to_owned(), |why| told_of_field(&why)),
            };
            self.state.announcer.say(said.clone());
            let _ = self.note.try_set(Some(said));
        });
    }

    fn drawn(self, options: Option<Options>) -> AnyView {
        let mention = self.state.mention;
        let usual = match &options {
            None => words::looking(),
            Some(options) if options.documents.is_empty() => words::no_documents(),
            Some(_) => words::how_lines(),
        };
        let list = options.map(|Options { documents, lines }| {
            let row = move |(at, option): (usize, Attachment)| {
                view! {
                    <li
                        id=format!("{LIST}-{at}")
                        class="menu-row"
                        role="option"
                        aria-selected=move || (mention.active.get() == at).to_string()
                        on:click=move |_| mention.chosen.set(Some(at))
                    >
                        <Icon name="file"/>
                        <bdi class="chip-text">{option.card.title}</bdi>
                        {lines.map(|lines| view! { <span>"· "{words::lines(lines)}</span> })}
                    </li>
                }
            };
            view! {
                <ul id=LIST role="listbox" aria-label=words::documents()>
                    {documents.into_iter().enumerate().map(row).collect_view()}
                </ul>
            }
        });
        view! {
            {list}
            <p id="mention-hint" class="hint">{move || self.note.get().unwrap_or_else(|| usual.to_owned())}</p>
        }
        .into_any()
    }
}

/// Those of the documents that a word means.
fn fitting(documents: &[Attachment], word: &str) -> Options {
    let having = |words: &str| -> Vec<Attachment> {
        // Blank is in every title; longer than any is in none.
        let needle = Needle::new(words).ok();
        let fits = |one: &&Attachment| match &needle {
            Some(needle) => needle.is_in(&one.card.title),
            None => words.trim().is_empty(),
        };
        documents.iter().filter(fits).take(SHOWN).cloned().collect()
    };
    let whole = having(word);
    match with_lines(word) {
        // A title may look as if it had lines.
        Some((title, lines)) if whole.is_empty() => Options { documents: having(title), lines },
        _ => Options { documents: whole, lines: None },
    }
}

/// Puts what was found where it belongs: what is known already is as it is now, and those that changed last come first.
fn newest_first(documents: &mut Vec<Attachment>, found: Vec<Attachment>) {
    documents.retain(|known| found.iter().all(|one| one.key() != known.key()));
    documents.extend(found);
    let version = |one: &Attachment| match &one.content {
        Content::Reference { version_timestamp, .. } => *version_timestamp,
        _ => None,
    };
    documents.sort_by_key(|one| std::cmp::Reverse(version(one)));
}

/// A word's title and the lines behind it: `spec:12` or `spec:12-30`, with the signs of a Chinese keyboard too. No lines
/// while none are written behind the colon.
fn with_lines(word: &str) -> Option<(&str, Option<Lines>)> {
    let (title, lines) = word.rsplit_once([':', '：'])?;
    if lines.is_empty() {
        return Some((title, None));
    }
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    let (first, last) = lines.split_once(['-', '–', '－']).unwrap_or((lines, ""));
    let first = number(first).filter(|first| *first > 0)?;
    let last = if last.is_empty() { first } else { number(last).filter(|last| *last >= first)? };
    Some((title, Some((first, last))))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn document(id: &str, title: &str, second: i64) -> Attachment {
        let version = DateTime::from_timestamp(second, 0).unwrap();
        Attachment::document(id.to_owned(), title.to_owned(), version, 1)
    }

    fn titles(options: &Options) -> Vec<&str> {
        options.documents.iter().map(|one| one.card.title.as_str()).collect()
    }

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
            ("spec:-3", None),
            ("spec:+3", None),
            ("spec:0", None),
            ("spec:12-3", None),
            ("spec:99999999999999999999", None),
        ] {
            assert_eq!(with_lines(word), read, "{word}");
        }
    }

    #[test]
    fn a_title_that_has_the_word_comes_before_lines_of_another() {
        let known = [document("a", "Ratio 3:2", 2), document("b", "ΟΔΟΣ 3", 1)];
        assert_eq!(titles(&fitting(&known, "3:2")), ["Ratio 3:2"]);
        assert_eq!(fitting(&known, "3:2").lines, None);
        let quoted = fitting(&known, "3:2:7");
        assert_eq!((titles(&quoted), quoted.lines), (vec!["Ratio 3:2"], Some((7, 7))));
        assert_eq!(titles(&fitting(&known, "οδος")), ["ΟΔΟΣ 3"], "the rule of finding in a chat");
        assert_eq!(titles(&fitting(&known, "")), ["Ratio 3:2", "ΟΔΟΣ 3"]);
        assert_eq!(titles(&fitting(&known, &"x".repeat(300))), [""; 0]);
    }

    #[test]
    fn what_is_found_is_known_once_and_the_newest_is_first() {
        let mut known = vec![document("a", "A", 3), document("b", "B", 2)];
        newest_first(&mut known, vec![document("b", "B now", 5), document("c", "C", 1)]);
        let titles: Vec<&str> = known.iter().map(|one| one.card.title.as_str()).collect();
        assert_eq!(titles, ["B now", "A", "C"]);
    }
}
