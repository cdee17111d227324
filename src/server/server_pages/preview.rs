//! The preview of a code block: its result, its source, and its differences from the version before. Script shows the
//! element `.preview` of this page over the chat (`http::site::preview_panel`).

use leptos::prelude::*;
use serde::Deserialize;

use super::compare::{DiffSide, marked_words};
use super::messages;
use super::messages::compare as compare_texts;
use super::messages::preview as texts;
use super::turns::turn_address;
use super::{PageSection, ServerPage};
use crate::domain::Turn;
use crate::domain::blocks::preview::{CodePreview, PreviewKind};
use crate::domain::text::hidden_text::visible_text;
use crate::ui::erased::view;
use crate::ui::markdown::view::draw_static;
use crate::ui::markdown::{self, MarkupPart};
use crate::ui::messages as app_words;
use crate::ui::messages::transcript as transcript_words;
use crate::ui::sandboxed_frame::SandboxedFrame;
use turnleaf_service::branches::compare::text_diff::TextDiff;

/// The tab of a preview.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewTab {
    #[default]
    Preview,
    Source,
    /// The differences from the version before.
    Changes,
}

impl PreviewTab {
    /// Returns the end of the address of this tab.
    fn query(self) -> &'static str {
        match self {
            Self::Preview => "",
            Self::Source => "&show=source",
            Self::Changes => "&show=changes",
        }
    }
}

/// The content of a preview's tab, with the data that it needs.
#[derive(Debug)]
pub enum PreviewContent {
    /// The address of the document in a sandboxed frame.
    Frame(String),
    /// The markup of the server for a Markdown text, if it is richer than the plain one.
    Markdown(Option<Vec<String>>),
    Source,
    Changes(TextDiff),
    /// A diagram that cannot be drawn.
    Unavailable,
}

/// The page.
pub struct PreviewPage<'a> {
    pub turn: &'a Turn,
    pub shown: &'a CodePreview,
    /// The versions of the document, oldest first; `shown` is one of them.
    pub versions: &'a [CodePreview],
    pub content: PreviewContent,
}

impl PreviewPage<'_> {
    pub fn draw(&self) -> ServerPage {
        let title = texts::title(self.shown);
        let body = view! {
            <p class="no-print"><a href=turn_address(self.turn)>{messages::back_to_chat()}</a></p>
            <div class="preview" data-title=title.clone() data-close=app_words::close()>
                <link rel="stylesheet" href="/preview.css"/>
                <div class="preview-bar no-print">{self.tabs()} {self.version_links()} {self.deeds()}</div>
                {self.content(&title)}
            </div>
        };
        ServerPage { section: PageSection::Chat, title, notice: None, body }
    }

    /// Returns the number of the shown version, from 1.
    fn number(&self) -> usize {
        1 + self.versions.iter().position(|version| version == self.shown).unwrap_or_default()
    }

    fn tab(&self) -> PreviewTab {
        match self.content {
            PreviewContent::Source => PreviewTab::Source,
            PreviewContent::Changes(_) => PreviewTab::Changes,
            PreviewContent::Frame(_) | PreviewContent::Markdown(_) | PreviewContent::Unavailable => PreviewTab::Preview,
        }
    }

    fn tabs(&self) -> AnyView {
        let link = |tab: PreviewTab, name: &'static str| {
            let address = format!("{}{}", self.shown.address(), tab.query());
            let is_here = (tab == self.tab()).then_some("page");
            view! { <li><a class="button bare" href=address aria-current=is_here>{name}</a></li> }
        };
        let changes = (self.number() > 1).then(|| link(PreviewTab::Changes, texts::changes()));
        view! {
            <nav aria-label=texts::views()>
                <ul>{link(PreviewTab::Preview, texts::preview())}{link(PreviewTab::Source, texts::source())}{changes}</ul>
            </nav>
        }
    }

    fn version_links(&self) -> Option<AnyView> {
        let tab = self.tab();
        let link = |(number, version): (usize, &CodePreview)| {
            // The first version has no differences.
            let query = if number == 1 && tab == PreviewTab::Changes { "" } else { tab.query() };
            let address = format!("{}{query}", version.address());
            let is_here = (number == self.number()).then_some("page");
            view! {
                <li>
                    <a class="button bare" href=address aria-current=is_here aria-label=texts::version(number)>{number.to_string()}</a>
                </li>
            }
        };
        let links = || (1..).zip(self.versions).map(link).collect_view();
        (self.versions.len() > 1).then(|| {
            view! {
                <nav aria-label=texts::versions()>
                    <span class="hint" aria-hidden="true">{texts::versions()}</span>
                    <ul>{links()}</ul>
                </nav>
            }
        })
    }

    fn deeds(&self) -> AnyView {
        let has_stage = matches!(self.content, PreviewContent::Frame(_) | PreviewContent::Markdown(_));
        let full_screen = has_stage.then(|| {
            view! { <button type="button" class="button bare" popovertarget="preview-stage">{texts::full_screen()}</button> }
        });
        let own_page = format!("{}{}", self.shown.address(), self.tab().query());
        view! {
            <div class="preview-deeds">
                {full_screen}
                <a class="button bare" href=self.shown.address_of("file") download="">{texts::download()}</a>
                <a class="button bare preview-own" href=own_page target="_blank" rel="external">{transcript_words::open_view()}</a>
            </div>
        }
    }

    fn content(&self, title: &str) -> AnyView {
        match &self.content {
            PreviewContent::Frame(address) => {
                let needs_script = (self.shown.kind == PreviewKind::Mermaid)
                    .then(|| view! { <p class="hint preview-scripting">{texts::needs_script()}</p> });
                let frame = view! { <SandboxedFrame address=address.clone() title=title.to_owned() call=None/> };
                view! {
                    {stage(frame)}
                    <div>{needs_script}<p class="hint">{texts::about()}</p></div>
                }
            }
            PreviewContent::Markdown(markup) => stage(self.markdown(markup.as_deref(), title)),
            PreviewContent::Source => view! {
                <pre class="preview-source" dir="ltr" tabindex="0" role="group" aria-label=texts::source()>
                    <code>{visible_text(&self.shown.code)}</code>
                </pre>
            },
            PreviewContent::Changes(diff) => self.changes(diff),
            PreviewContent::Unavailable => view! { <p>{texts::unavailable()}</p> },
        }
    }

    /// Renders a Markdown text with Turnleaf's renderer. It needs no frame: nothing in it runs or is loaded.
    fn markdown(&self, markup: Option<&[String]>, title: &str) -> AnyView {
        let parts: Vec<MarkupPart> = match markup {
            Some(parts) => parts.iter().cloned().map(MarkupPart::from_server).collect(),
            None => markdown::render(&self.shown.code),
        };
        let parts: Vec<MarkupPart> = parts.iter().map(markdown::without_buttons).collect();
        let parts = markdown::with_confirmation(parts, self.turn.id);
        view! {
            <div class="preview-text" dir="auto" tabindex="0" role="group" aria-label=title.to_owned()>{draw_static(&parts)}</div>
        }
    }

    fn changes(&self, diff: &TextDiff) -> AnyView {
        let side = |number: usize, only: DiffSide| {
            view! {
                <div role="group" aria-label=texts::version(number)>
                    <p class="compare-name">{texts::version(number)}</p>
                    {marked_words(diff, only)}
                </div>
            }
        };
        let number = self.number();
        view! {
            <div class="preview-changes">
                <p class="hint">{compare_texts::same_percent(diff.same_percent)}</p>
                <div class="compare-sides">
                    {side(number.saturating_sub(1), DiffSide::Left)}
                    {side(number, DiffSide::Right)}
                </div>
            </div>
        }
    }
}

/// Renders an element that can fill the screen. The browser opens and closes it, also with Esc, and returns the focus.
fn stage(content: AnyView) -> AnyView {
    view! {
        <div class="preview-stage" id="preview-stage" popover="auto">
            <button type="button" class="button preview-leave" autofocus=true popovertarget="preview-stage" popovertargetaction="hide">
                {texts::leave_full_screen()}
            </button>
            {content}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixtures::{block_id, reply, turn_id};

    fn preview(turn: u64, kind: PreviewKind, code: &str) -> CodePreview {
        CodePreview { turn: turn_id(turn), block: block_id(turn), number: 1, kind, name: None, code: code.to_owned() }
    }

    fn html(versions: &[CodePreview], index: usize, content: PreviewContent) -> String {
        let turn = reply(2, []);
        let page = PreviewPage { turn: &turn, shown: &versions[index], versions, content };
        Owner::new().with(|| page.draw().body.to_html()).replace("<!>", "")
    }

    #[test]
    fn document_is_only_framed_in_sandbox() {
        let shown = [preview(2, PreviewKind::Html, "<script>steal()</script>")];
        let page = html(&shown, 0, PreviewContent::Frame(shown[0].address_of("document")));
        assert!(page.contains("sandbox=\"allow-scripts\"") && !page.contains("allow-same-origin"), "{page}");
        assert!(page.contains("title=\"Preview: web page\"") && !page.contains("steal"), "{page}");
        assert!(page.contains("popovertarget=\"preview-stage\"") && page.contains("popover=\"auto\""), "{page}");
        assert!(!page.contains("Versions") && !page.contains("Changes"), "{page}");
        assert!(html(&shown, 0, PreviewContent::Source).contains("&lt;script&gt;steal()"));
    }

    #[test]
    fn markdown_is_drawn_without_frame_and_its_links_ask() {
        let shown =
            [preview(2, PreviewKind::Markdown, "# A\n\n<script>x</script>\n\n[b](https://b.test/)\n\n```html\nx\n```")];
        let page = html(&shown, 0, PreviewContent::Markdown(None));
        assert!(page.contains("md-h1") && page.contains("&lt;script&gt;") && page.contains("href=\"/leave?"), "{page}");
        assert!(!page.contains("<iframe") && !page.contains("md-copy") && !page.contains("md-preview"), "{page}");
    }

    #[test]
    fn versions_and_changes_are_links() {
        let versions = [preview(2, PreviewKind::Svg, "<svg>a</svg>"), preview(4, PreviewKind::Svg, "<svg>b</svg>")];
        let diff = TextDiff::from_texts(&versions[0].code, &versions[1].code);
        let page = html(&versions, 1, PreviewContent::Changes(diff));
        assert!(page.contains("<del>") && page.contains("<ins>") && page.contains("Version 2"), "{page}");
        for address in [versions[0].address(), format!("{}&amp;show=source", versions[1].address())] {
            assert!(page.contains(&format!("href=\"{address}\"")), "{address}: {page}");
        }
        assert!(!html(&versions, 0, PreviewContent::Source).contains("show=changes"));
    }
}
