//! The menu behind `@`, a code part that is loaded at the first use: documents by title, most recently changed first;
//! with `:12-30` behind a title, these lines of it; then the turns of the path, which are quoted.

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::json;

use super::commands::open_server_page;
use super::list::{self, MentionOption, OptionDetail};
use super::mention_matches::{
    EarlierTurn, LineRange, MentionMatches, ServerResource, matching_documents, matching_resources, merge_newest_first,
    parse_line_range, resources_from_response, turn_summary,
};
use super::turns::EarlierTurns;
use super::{LIST, text_before, word_at_end};
use crate::browser::{api_request, textarea};
use crate::domain::documents::attachment::Attachment;
use crate::domain::encoding::url_encoding;
use crate::domain::{Content, limits};
use crate::ui::composer::attachments::{document_from_response, lines_from_response};
use crate::ui::composer::quote::quote_after;
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::{effect, live_view, on_change};
use crate::ui::messages::amounts;
use crate::ui::messages::attachments as words;
use crate::ui::messages::turn_actions;

/// The search state of the menu.
#[derive(Clone, Copy)]
struct MentionSearch {
    state: ComposerState,
    turns: EarlierTurns,
    /// None until the documents are loaded.
    documents: RwSignal<Option<Vec<Attachment>>>,
    /// The resources of tool servers; they arrive behind the documents.
    resources: RwSignal<Vec<ServerResource>>,
    /// The title of the pending search; empty for the most recently changed.
    pending_title: RwSignal<Option<String>>,
    /// True if the server has more documents than were loaded, so that titles are searched there.
    has_more: StoredValue<bool>,
    /// The note below the options, where it is not the default.
    note: RwSignal<Option<String>>,
}

/// Renders the menu while the box has a word for it.
pub fn draw(state: ComposerState) -> AnyView {
    let menu = MentionSearch {
        state,
        turns: EarlierTurns::from_page(),
        documents: RwSignal::new(None),
        resources: RwSignal::new(Vec::new()),
        pending_title: RwSignal::new(None),
        has_more: StoredValue::new(false),
        note: RwSignal::new(None),
    };
    let mention = state.mention;
    let options = Memo::new(move |_| menu.options());
    let word = move || mention.word.try_get_untracked().flatten();
    if mention.word.with_untracked(Option::is_some) {
        menu.ask(String::new());
        menu.load_resources();
        // The whole word may have been typed before this code was loaded.
        menu.turns.search_server(word);
    }
    on_change(
        move || mention.word.get(),
        move |before, now| {
            menu.note.set(None);
            menu.turns.search_server(word);
            match now {
                // New documents may have arrived since the menu was closed.
                Some(_) if before.is_none() => {
                    menu.ask(String::new());
                    menu.load_resources();
                }
                Some(_) => menu.ask_further(None),
                None => {}
            }
        },
    );
    effect(move || {
        let count = options.with(|options| {
            options.as_ref().map(|options| (options.documents.len() + options.resources.len(), options.count()))
        });
        if mention.word.with(Option::is_none) {
            return;
        }
        mention.set_count(count.map(|(_, all)| all));
        if let Some((documents, all)) = count {
            state.announcer.announce(words::offered_with_turns(documents, all - documents));
        }
    });
    on_change(
        move || mention.chosen.get(),
        move |_, chosen| {
            // The choice belongs to the other menu.
            if mention.word.with_untracked(Option::is_none) {
                return;
            }
            mention.chosen.set(None);
            if let (Some(at), Some(options)) = (chosen, options.get_untracked()) {
                menu.choose_match(options, at);
            }
        },
    );
    live_view(move || mention.word.with(Option::is_some).then(|| menu.draw_matches(options.get()))).into_any()
}

impl MentionSearch {
    /// Returns the matches of the word; none while they are unknown.
    fn options(self) -> Option<MentionMatches> {
        let word = self.state.mention.word.get()?;
        let has_pending_title = self.pending_title.with(|title| title.as_ref().is_some_and(|title| !title.is_empty()));
        let mut found = self.documents.with(|documents| Some(matching_documents(documents.as_ref()?, &word)))?;
        found.resources = self.resources.with(|resources| matching_resources(resources, &word));
        found.turns = self.turns.find_by_word(&word);
        // A server search that is pending may yield more.
        let is_enough = (!found.documents.is_empty() && found.lines.is_none()) || !found.resources.is_empty();
        (!has_pending_title || is_enough).then_some(found)
    }

    /// Loads the most recently changed documents, or those with this title. One request at a time: text typed
    /// meanwhile is searched after the response.
    fn ask(self, title: String) {
        if self.pending_title.with_untracked(Option::is_some) {
            return;
        }
        let mut path = format!("/api/documents?limit={}", limits::MENTION_DOCUMENTS);
        if !title.is_empty() {
            path += &format!("&title={}", url_encoding::encode(&title));
        }
        self.pending_title.set(Some(title.clone()));
        spawn_local(async move {
            let answer = api_request::get(&path).await;
            let found = answer.ok().map(|answer| {
                let found = answer.as_array().into_iter().flatten().filter_map(document_from_response);
                found.collect::<Vec<_>>()
            });
            match found {
                Some(found) if title.is_empty() => {
                    let _ = self.has_more.try_set_value(found.len() >= limits::MENTION_DOCUMENTS as usize);
                    let _ = self.documents.try_set(Some(found));
                }
                Some(found) => {
                    let _ = self
                        .documents
                        .try_update(|documents| merge_newest_first(documents.get_or_insert_default(), found));
                }
                // Known documents stay.
                None => {
                    let _ = self.note.try_set(Some(words::document_search_failed().to_owned()));
                    let _ = self.pending_title.try_set(None);
                    return;
                }
            }
            if self.pending_title.try_set(None).is_none() {
                self.ask_further(Some(&title));
            }
        });
    }

    /// Loads the resources of tool servers. A failure leaves those that are known.
    fn load_resources(self) {
        spawn_local(async move {
            if let Ok(answer) = api_request::get("/api/tool-catalogs").await {
                let _ = self.resources.try_set(resources_from_response(&answer));
            }
        });
    }

    /// Searches the server for the word where not all documents are loaded.
    fn ask_further(self, answered: Option<&str>) {
        let word = self.state.mention.word.get_untracked().unwrap_or_default();
        let title = parse_line_range(&word).map_or(word.as_str(), |(title, _)| title).trim();
        if self.has_more.get_value() && !title.is_empty() && answered != Some(title) {
            self.ask(title.to_owned());
        }
    }

    fn choose_match(self, options: MentionMatches, at: usize) {
        let MentionMatches { documents, lines, resources, turns } = options;
        let behind = at.checked_sub(documents.len());
        match (documents.into_iter().nth(at), lines) {
            (Some(document), None) => self.attach(document),
            (Some(document), Some(lines)) => self.quote(document, lines),
            (None, _) => {
                let behind = behind.unwrap_or_default();
                match (resources.get(behind), behind.checked_sub(resources.len())) {
                    (Some(resource), _) if resource.is_template => self.fill_in_template(),
                    (Some(resource), _) => self.attach_resource(resource),
                    (None, Some(at)) => turns.get(at).into_iter().for_each(|turn| self.quote_turn(turn)),
                    (None, None) => {}
                }
            }
        }
    }

    /// Lets the server read a resource, and attaches it; the menu stays open until then.
    fn attach_resource(self, resource: &ServerResource) {
        let path = format!("/api/tool-servers/{}/resources", url_encoding::encode(&resource.server));
        let body = json!({ "uri": resource.uri });
        let word = self.state.mention.word.get_untracked();
        self.note.set(Some(words::reading().to_owned()));
        spawn_local(async move {
            let answer = api_request::post(&path, &body).await;
            // The word has changed meanwhile, so the choice is obsolete.
            if self.state.mention.word.try_get_untracked() != Some(word) {
                return;
            }
            let read = answer.map(|answer| serde_json::from_value::<Attachment>(answer).ok());
            let note = match read {
                Ok(Some(attachment)) => return self.attach(attachment),
                Ok(None) => words::resource_not_read().to_owned(),
                Err(why) => why.unwrap_or_else(|| words::resource_not_read().to_owned()),
            };
            self.state.announcer.announce(note.clone());
            let _ = self.note.try_set(Some(note));
        });
    }

    /// Removes the word, and opens the page on which the address of a resource is filled in.
    fn fill_in_template(self) {
        self.remove_word();
        open_server_page();
    }

    /// Replaces the word by a quote of a turn.
    fn quote_turn(self, turn: &EarlierTurn) {
        let Some(area) = self.state.area.get_untracked() else { return };
        let before = text_before(self.state.area);
        let Some(word) = word_at_end(&before).map(|word| format!("@{word}")) else { return };
        let before = &before[..before.len() - word.len()];
        self.state.mention.close();
        textarea::replace_text(&area, before, &word, &quote_after(before, &turn.text));
        self.state.announcer.announce(turn_actions::quoted());
    }

    /// Attaches the document and removes the word from the text.
    fn attach(self, chosen: Attachment) {
        self.state.attaching.attach(chosen);
        self.remove_word();
    }

    /// Closes the menu and removes the word from the text.
    fn remove_word(self) {
        let Some(area) = self.state.area.get_untracked() else { return };
        let before = text_before(self.state.area);
        let word = word_at_end(&before).map(|word| format!("@{word}"));
        self.state.mention.close();
        if let Some(word) = word {
            textarea::remove_text(&area, &word, before.len());
        }
    }

    /// Loads the document to resolve the lines, and attaches them; the menu stays open until then.
    fn quote(self, document: Attachment, lines: LineRange) {
        let Content::Reference { ref_id, .. } = document.content else { return };
        let word = self.state.mention.word.get_untracked();
        self.note.set(Some(words::reading().to_owned()));
        spawn_local(async move {
            let answer = api_request::get(&format!("/api/documents/{ref_id}")).await;
            // The word has changed meanwhile, so the choice is obsolete.
            if self.state.mention.word.try_get_untracked() != Some(word) {
                return;
            }
            let note = match answer.map(|answer| lines_from_response(&answer, lines)) {
                Ok(Ok(quoted)) => return self.attach(quoted),
                Ok(Err(count)) => words::no_such_lines(count),
                Err(why) => why.unwrap_or_else(|| words::not_read().to_owned()),
            };
            self.state.announcer.announce(note.clone());
            let _ = self.note.try_set(Some(note));
        });
    }

    fn draw_matches(self, options: Option<MentionMatches>) -> AnyView {
        let mention = self.state.mention;
        let usual = match &options {
            None => words::searching_documents(),
            Some(options) if options.count() == 0 => words::nothing_to_mention(),
            Some(options) if options.documents.is_empty() => words::turn_is_quoted(),
            Some(_) => words::line_range_hint(),
        };
        let rows = options.map(|options| match_options(options));
        let choose = Callback::new(move |at| mention.chosen.set(Some(at)));
        let hint = Signal::derive(move || self.note.get().unwrap_or_else(|| usual.to_owned()));
        list::draw_options(LIST, words::to_mention(), rows, mention.active, choose, hint)
    }
}

/// Returns the options for documents, or these lines of one, and the resources and turns behind them.
pub fn match_options(matches: MentionMatches) -> Vec<MentionOption> {
    let MentionMatches { documents, lines, resources, turns } = matches;
    let document = |of: Attachment| MentionOption {
        icon: "file",
        name: of.card.title,
        detail: lines.map(|lines| OptionDetail::Text(amounts::line_range(lines))),
    };
    let turn = |turn: EarlierTurn| MentionOption { icon: "chat", name: turn_summary(&turn), detail: None };
    let resource = |of: ServerResource| MentionOption {
        icon: "tool",
        name: of.title,
        detail: Some(OptionDetail::Text(of.server_name)),
    };
    let documents = documents.into_iter().map(document);
    documents.chain(resources.into_iter().map(resource)).chain(turns.into_iter().map(turn)).collect()
}
