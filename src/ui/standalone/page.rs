//! The document of a standalone page: its heading, the transcript, and notes below it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::{StandaloneContext, damage_note, import_note};
use crate::api::view::TurnView;
use crate::domain::transfer::export::{ExportDetail, ExportOptions};
use crate::domain::{ImportDifference, ImportOrigin};
use crate::ui::erased::view;
use crate::ui::escape::icon_sprite;
use crate::ui::locale::locale;
use crate::ui::messages as app_words;
use crate::ui::messages::standalone as words;
use crate::ui::preferences::{PreferenceSetting, Preferences};
use crate::ui::state::ChatState;
use crate::ui::transcript::Transcript;

/// The content security policy: the page may render itself, and load nothing whatever it contains, unless its images are
/// files of their own.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
const POLICY_WITH_FILES: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'";
/// The style that only this page needs.
const STYLE: &str = include_str!("../../../style/standalone.css");

/// A chat's path with everything that the page shows of it.
pub struct StandalonePage {
    pub title: String,
    pub created_at: DateTime<Utc>,
    pub exported_at: DateTime<Utc>,
    /// Empty where there is none.
    pub system_prompt: String,
    pub turns: Vec<TurnView>,
    /// Pictures by the hashes of their blobs: data URLs, or addresses of files on the server of the page.
    pub pictures: HashMap<String, String>,
    pub has_picture_files: bool,
    /// The number of pictures that were left out.
    pub pictures_left_out: usize,
    /// True if a reply of the path was still being written.
    pub is_cut: bool,
    pub imported_from: Option<ImportOrigin>,
    /// The parts that could not be read.
    pub damaged: Vec<ImportDifference>,
    pub parts: ExportOptions,
    /// The application's style sheet.
    pub style: String,
}

impl StandalonePage {
    /// Renders the whole document as HTML.
    pub fn draw(mut self) -> String {
        let pictures = std::mem::take(&mut self.pictures);
        let html = Owner::new().with(|| {
            provide_context(StandaloneContext::new(pictures, self.parts));
            let opened = if self.parts.reasoning == ExportDetail::Full { "open" } else { "closed" };
            provide_context(RwSignal::new(Preferences::default().with_choice(PreferenceSetting::Reasoning, opened)));
            self.document().to_html()
        });
        // Removes hydration markers, which this page does not need. No text can contain one: its `<` is written as a
        // reference.
        html.replace("<!>", "")
    }

    fn document(self) -> AnyView {
        let title = if self.title.trim().is_empty() { words::untitled().to_owned() } else { self.title.clone() };
        let day = |at: DateTime<Utc>| at.format("%Y-%m-%d").to_string();
        let facts = format!("{} · {}", words::began(&day(self.created_at)), words::turns(self.turns.len()));
        let prompt = (!self.system_prompt.trim().is_empty()).then(|| {
            view! {
                <details class="standalone-prompt">
                    <summary>{words::system_prompt()}</summary>
                    <div class="said" dir="auto">{self.system_prompt.clone()}</div>
                </details>
            }
        });
        let notes = self.notes().into_iter().map(|note| view! { <p>{note}</p> }).collect_view();
        let exported = words::exported(&day(self.exported_at));
        let origin = self.imported_from.as_ref().map(import_note);
        let damaged = (!self.damaged.is_empty()).then(|| damage_note(&self.damaged));
        let nothing = Callback::new(|_| {});
        let state = ChatState::new(self.turns, nothing);
        let policy = if self.has_picture_files { POLICY_WITH_FILES } else { POLICY };
        view! {
            <!DOCTYPE html>
            <html lang=locale().as_str()>
                <head>
                    <meta charset="utf-8"/>
                    <meta http-equiv="Content-Security-Policy" content=policy/>
                    <meta name="viewport" content="width=device-width, initial-scale=1"/>
                    <meta name="color-scheme" content="light dark"/>
                    <meta name="referrer" content="no-referrer"/>
                    <meta name="robots" content="noindex"/>
                    <meta name="generator" content=app_words::PRODUCT/>
                    <title>{title.clone()}</title>
                    <style>{self.style}</style>
                    <style>{STYLE}</style>
                </head>
                <body class="standalone">
                    <header class="standalone-head">
                        <h1 dir="auto">{title}</h1>
                        <p class="standalone-facts">{facts}</p>
                        {prompt}
                    </header>
                    <main>
                        <Transcript state on_stop=nothing on_retry=nothing at=None/>
                    </main>
                    <footer class="standalone-foot">
                        <p>{exported}</p>
                        {notes}
                        {origin}
                        {damaged}
                    </footer>
                    {icon_sprite()}
                </body>
            </html>
        }
    }

    /// Returns sentences about the parts that the page omits.
    fn notes(&self) -> Vec<String> {
        let others: usize = self.turns.iter().map(|view| view.siblings.len().saturating_sub(1)).sum();
        [
            self.is_cut.then(|| words::cut().to_owned()),
            (self.parts.reasoning == ExportDetail::LeftOut).then(|| words::without_reasoning().to_owned()),
            (self.parts.tools == ExportDetail::LeftOut).then(|| words::without_tools().to_owned()),
            (others > 0).then(|| words::other_versions(others)),
            (self.pictures_left_out > 0).then(|| words::pictures_left_out(self.pictures_left_out)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
