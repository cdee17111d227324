//! The drawing of a chat's tree: linked boxes, lines between them, and zoom levels. The page scrolls; no dragging is
//! needed.

mod text_width;

use std::ops::RangeInclusive;

use leptos::prelude::*;

use super::messages::tree as words;
use super::{PageSection, ServerPage};
use crate::domain::branches::tree::outline::TurnMark;
use crate::domain::branches::tree::outline::drawing::{DrawnRun, TreeDrawing};
use crate::domain::text::excerpt::first_words;
use crate::domain::{Chat, TurnId};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use text_width::text_width;
use turnleaf_service::paths::outline::ChatOutline;

/// The zoom levels in percent, and the default.
pub const ZOOMS: [u16; 6] = [25, 50, 75, 100, 150, 200];
pub const DEFAULT_ZOOM: u16 = 100;

/// The width of the boxes of a drawing, which its widest caption decides, and their height.
const BOX_WIDTHS: RangeInclusive<usize> = 188..=360;
const BOX_HEIGHT: usize = 44;
/// The space between two columns, and the height of a lane.
const COLUMN_GAP: usize = 48;
const LANE_HEIGHT: usize = 56;
const MARGIN: usize = 12;
/// The space between the edge of a box and its text.
const BOX_PADDING: usize = 10;
/// The most characters of a turn in a box, and the font sizes of its two lines (`plain.css`).
const BOX_CHARS: usize = 40;
const WORDS_SIZE: usize = 13;
const CAPTION_SIZE: usize = 12;

/// The content of the page.
pub struct TreeDrawingPage {
    pub outline: ChatOutline,
    /// The run at which the drawing begins, if it is not the chat's first.
    pub top: Option<TurnId>,
    pub zoom: u16,
}

impl TreeDrawingPage {
    /// Renders the page.
    pub fn draw(self) -> ServerPage {
        let chat = &self.outline.chat;
        let drawing = self.outline.outline.draw(self.top);
        let body = if drawing.runs.is_empty() {
            view! { <p class="hint">{words::no_turns()}</p> }
        } else {
            view! {
                <p class="hint">{words::drawing_hint()}</p>
                {self.sizes(chat, &drawing)}
                {self.svg(chat, &drawing)}
            }
        };
        ServerPage {
            section: PageSection::Chat,
            title: words::tree_page_title(words::drawing(), &chat.title),
            notice: None,
            body: view! {
                <div class="deeds no-print">
                    <a class="button" href=format!("/c/{}", chat.id)><Icon name="chevron-left"/>{words::back_to_chat()}</a>
                    <a class="button bare" href=format!("/c/{}/tree", chat.id)>{words::outline()}</a>
                    <a class="button bare" href=format!("/c/{}/branches", chat.id)>{words::branches()}</a>
                </div>
                {body}
            },
        }
    }

    fn address(&self, top: Option<TurnId>, zoom: u16) -> String {
        let top = top.map(|top| format!("&top={top}")).unwrap_or_default();
        format!("/c/{}/drawing?zoom={zoom}{top}#here", self.outline.chat.id)
    }

    fn sizes(&self, chat: &Chat, drawing: &TreeDrawing<'_>) -> AnyView {
        let size = |zoom: u16| {
            let is_here = (zoom == self.zoom).then_some("true");
            view! { <li><a class="button bare" href=self.address(self.top, zoom) aria-current=is_here>{words::percent(zoom)}</a></li> }
        };
        let up = drawing.above.map(|above| {
            let whole = format!("/c/{}/drawing?zoom={}&top={}#here", chat.id, self.zoom, self.first());
            view! {
                <a class="button" href=self.address(Some(above), self.zoom)>{words::from_previous_fork()}</a>
                <a class="button" href=whole>{words::from_beginning()}</a>
            }
        });
        view! {
            <nav class="drawing-bar no-print" aria-label=words::zoom()>
                <span>{words::zoom()}</span>
                <ul>{ZOOMS.into_iter().map(size).collect_view()}</ul>
                <a class="button bare" href="#here">{words::current_place()}</a>
                {up}
            </nav>
        }
    }

    /// Returns the id of the chat's first turn.
    fn first(&self) -> String {
        self.outline.outline.sketches().first().map(|first| first.node.id.to_string()).unwrap_or_default()
    }

    fn svg(&self, chat: &Chat, drawing: &TreeDrawing<'_>) -> AnyView {
        let boxes = Boxes::of(drawing);
        let width = drawing.columns * (boxes.width + COLUMN_GAP) + 2 * MARGIN;
        let height = drawing.lanes * LANE_HEIGHT + 2 * MARGIN;
        let sized = |length: usize| (length * usize::from(self.zoom) / 100).to_string();
        let turns = drawing.runs.iter().map(|run| run.turns).sum();
        let name = words::drawing_description(drawing.runs.len(), turns, drawing.lanes);
        let region = name.clone();
        let lines = drawing.runs.iter().filter_map(|run| boxes.line(drawing, run)).collect_view();
        // The last drawn run of the path.
        let current = drawing.runs.iter().rposition(|run| run.is_on_path);
        let runs = drawing.runs.iter().enumerate();
        let runs = runs.map(|(at, run)| self.run(chat, boxes, run, Some(at) == current)).collect_view();
        view! {
            <div class="drawing" role="region" tabindex="0" aria-label=region>
                <svg
                    xmlns="http://www.w3.org/2000/svg"
                    role="group"
                    aria-label=name
                    width=sized(width)
                    height=sized(height)
                    viewBox=format!("0 0 {width} {height}")
                >
                    <g aria-hidden="true">{lines}</g>
                    {runs}
                </svg>
            </div>
        }
    }

    fn run(&self, chat: &Chat, boxes: Boxes, run: &DrawnRun<'_>, is_here: bool) -> AnyView {
        let (x, y) = boxes.corner(run);
        let class = match (run.is_on_path, run.mark) {
            (true, _) => "run path",
            (false, TurnMark::Failed) => "run failed",
            (false, _) => "run",
        };
        let words = if run.first.words.is_empty() { words::no_text().to_owned() } else { run.first.words.clone() };
        let current = if is_here { Some("location") } else { run.is_on_path.then_some("true") };
        let text_x = (x + BOX_PADDING).to_string();
        let more = (run.hidden > 0).then(|| {
            let (x, y) = (x + boxes.width + 6, y + BOX_HEIGHT / 2 + 5);
            view! {
                <a href=self.address(Some(run.first.node.id), self.zoom)>
                    <title>{words::show_hidden_branches(run.hidden)}</title>
                    <text class="more" x=x.to_string() y=y.to_string()>{words::hidden_branches(run.hidden)}</text>
                </a>
            }
        });
        view! {
            <a
                id=is_here.then_some("here")
                href=format!("/c/{}?at={}", chat.id, run.last.node.id)
                aria-current=current
            >
                <title>{words::run_description(run)}</title>
                <rect
                    class=class
                    x=x.to_string()
                    y=y.to_string()
                    width=boxes.width.to_string()
                    height=BOX_HEIGHT.to_string()
                    rx="6"
                ></rect>
                <text x=text_x.clone() y=(y + 18).to_string()>{boxes.fitting_words(&words)}</text>
                <text class="small" x=text_x y=(y + 35).to_string()>{words::run_caption(run)}</text>
            </a>
            {more}
        }
    }
}

/// The boxes of a drawing, all of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Boxes {
    width: usize,
}

impl Boxes {
    /// Makes the boxes as wide as their widest caption: it says what state a run is in, and nothing of it is cut.
    fn of(drawing: &TreeDrawing<'_>) -> Self {
        let widths = drawing.runs.iter().map(|run| text_width(&words::run_caption(run), CAPTION_SIZE));
        let (least, most) = BOX_WIDTHS.into_inner();
        Self { width: (widths.max().unwrap_or(0) + 2 * BOX_PADDING).clamp(least, most) }
    }

    /// Returns the first words of a turn, as many as fit.
    fn fitting_words(self, words: &str) -> String {
        let room = self.width - 2 * BOX_PADDING;
        let mut shorter = (1..=BOX_CHARS).rev().map(|chars| first_words(words, chars));
        shorter.find(|words| text_width(words, WORDS_SIZE) <= room).unwrap_or_default()
    }

    /// Returns the top left corner of a run's box.
    fn corner(self, run: &DrawnRun<'_>) -> (usize, usize) {
        (MARGIN + run.column * (self.width + COLUMN_GAP), MARGIN + run.lane * LANE_HEIGHT)
    }

    /// Renders the line from the parent run to a run: horizontal, vertical, horizontal.
    fn line(self, drawing: &TreeDrawing<'_>, run: &DrawnRun<'_>) -> Option<AnyView> {
        let parent = &drawing.runs[run.parent?];
        let ((from_x, from_y), (to_x, to_y)) = (self.corner(parent), self.corner(run));
        let (start, end) = (from_x + self.width, to_x);
        let (top, bottom) = (from_y + BOX_HEIGHT / 2, to_y + BOX_HEIGHT / 2);
        let middle = end - COLUMN_GAP / 2 + 6;
        let class = if run.is_on_path && parent.is_on_path { "line path" } else { "line" };
        Some(view! { <path class=class d=format!("M{start} {top}H{middle}V{bottom}H{end}")></path> })
    }
}
