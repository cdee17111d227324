//! Code blocks of replies that can be previewed: pages, drawings, diagrams and formatted text
//! (`docs/adr/0082-live-preview.md`).

use crate::{BlockId, TurnId};

/// The longest diagram that is drawn, in UTF-16 units: the library refuses longer ones (`maxTextSize` of Mermaid).
pub const DIAGRAM_CHARS: usize = 50_000;

/// The kind of preview that a code block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewKind {
    Html,
    Svg,
    Mermaid,
    Markdown,
}

/// The languages of code blocks that have a preview.
const LANGUAGES: [(&str, PreviewKind); 7] = [
    ("html", PreviewKind::Html),
    ("htm", PreviewKind::Html),
    ("svg", PreviewKind::Svg),
    ("mermaid", PreviewKind::Mermaid),
    ("mmd", PreviewKind::Mermaid),
    ("markdown", PreviewKind::Markdown),
    ("md", PreviewKind::Markdown),
];

impl PreviewKind {
    /// Returns the kind of preview of a code block in this language; `None` if it has none.
    pub fn from_language(language: &str) -> Option<Self> {
        LANGUAGES.iter().find(|(name, _)| language.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
    }

    /// Returns the ending of its file names, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Svg => "svg",
            Self::Mermaid => "mmd",
            Self::Markdown => "md",
        }
    }
}

/// A code block that has a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePreview {
    pub turn: TurnId,
    pub block: BlockId,
    /// The place among all code blocks of the block, from 1.
    pub number: usize,
    pub kind: PreviewKind,
    /// The name that the reply gives to the file.
    pub name: Option<String>,
    pub code: String,
}

impl CodePreview {
    /// Returns the address of its page.
    pub fn address(&self) -> String {
        preview_address(self.turn, self.block, self.number)
    }

    /// Returns the address of something below its page.
    pub fn address_of(&self, part: &str) -> String {
        format!("/turns/{}/previews/{}/{part}?code={}", self.turn, self.block, self.number)
    }

    /// Returns the name of its file, which is not yet sanitized.
    pub fn file_name(&self) -> String {
        let extension = self.kind.extension();
        match &self.name {
            Some(name) if name.to_ascii_lowercase().ends_with(&format!(".{extension}")) => name.clone(),
            Some(name) => format!("{name}.{extension}"),
            None => format!("preview.{extension}"),
        }
    }

    /// Returns whether both are about the same file, as far as their replies tell.
    fn is_of_same_file(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name
    }
}

/// Returns the address of the preview of a code block: the `number`th of its block, from 1.
pub fn preview_address(turn: TurnId, block: BlockId, number: usize) -> String {
    format!("/turns/{turn}/previews/{block}?code={number}")
}

/// Returns the versions of a document on a path, oldest first: of each reply the block of the same kind and name, and of
/// several such blocks of one reply the one at the same place among them. `all` has the previews of the path, in order.
pub fn preview_versions<'a>(all: &'a [CodePreview], shown: &CodePreview) -> Vec<&'a CodePreview> {
    let same = || all.iter().filter(move |other| other.is_of_same_file(shown));
    let of_turn = |turn: TurnId| same().filter(move |other| other.turn == turn);
    let is_shown = |other: &CodePreview| (other.block, other.number) == (shown.block, shown.number);
    let place = of_turn(shown.turn).position(is_shown).unwrap_or_default();
    let mut turns: Vec<TurnId> = same().map(|other| other.turn).collect();
    turns.dedup();
    turns.into_iter().filter_map(|turn| of_turn(turn).nth(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{block_id, turn_id};

    fn preview(turn: u64, number: usize, kind: PreviewKind, name: Option<&str>) -> CodePreview {
        let (turn, block) = (turn_id(turn), block_id(turn));
        CodePreview { turn, block, number, kind, name: name.map(str::to_owned), code: String::new() }
    }

    #[test]
    fn language_names_kind_in_any_case() {
        for (language, kind) in [
            ("HTML", PreviewKind::Html),
            ("Svg", PreviewKind::Svg),
            ("mmd", PreviewKind::Mermaid),
            ("md", PreviewKind::Markdown),
        ] {
            assert_eq!(PreviewKind::from_language(language), Some(kind), "{language}");
        }
        for language in ["", "xml", "htmlx", "rust", "html "] {
            assert_eq!(PreviewKind::from_language(language), None, "{language}");
        }
    }

    #[test]
    fn versions_are_blocks_of_same_kind_name_and_place() {
        let (html, svg) = (PreviewKind::Html, PreviewKind::Svg);
        let all = [
            preview(2, 1, html, None),
            preview(2, 2, html, None),
            preview(2, 3, svg, None),
            preview(4, 1, html, Some("about.html")),
            preview(6, 1, svg, None),
            preview(6, 2, html, Some("about.html")),
            preview(8, 1, html, None),
            preview(8, 4, html, None),
        ];
        for (shown, versions) in
            [(0, vec![0, 6]), (1, vec![1, 7]), (2, vec![2, 4]), (4, vec![2, 4]), (5, vec![3, 5]), (7, vec![1, 7])]
        {
            let expected: Vec<&CodePreview> = versions.into_iter().map(|at: usize| &all[at]).collect();
            assert_eq!(preview_versions(&all, &all[shown]), expected, "{shown}");
        }
    }

    #[test]
    fn file_has_extension_of_its_kind() {
        for (name, expected) in [
            (None, "preview.svg"),
            (Some("a.SVG"), "a.SVG"),
            (Some("logo"), "logo.svg"),
            (Some("run.exe"), "run.exe.svg"),
        ] {
            assert_eq!(preview(2, 1, PreviewKind::Svg, name).file_name(), expected);
        }
    }
}
