//! Excerpts: the part of a matching text that has the words, and their positions in it.

use serde::Serialize;

use crate::search::fold::FoldedText;
use crate::search::query::TextQuery;
use turnleaf_domain::limits;
use turnleaf_domain::text::excerpt::strip_markdown;

/// A text with highlighted words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct HighlightedText {
    /// The text in one line; an ellipsis marks a cut.
    pub text: String,
    /// Half-open ranges of the text, in Unicode scalar values, ordered and disjoint.
    pub marks: Vec<[usize; 2]>,
}

impl HighlightedText {
    /// Returns the whole text.
    pub fn full(query: &TextQuery, text: &str) -> Self {
        Self::mark_stretch(query, text, usize::MAX)
    }

    /// Returns a bounded excerpt with the most matches; the beginning of a text without any.
    pub fn excerpt(query: &TextQuery, text: &str) -> Self {
        Self::mark_stretch(query, text, limits::SEARCH_EXCERPT)
    }

    /// Works like [`Self::excerpt`] for Markdown, rendered as plain text; falls back to the source if only that has
    /// the words.
    pub fn excerpt_of_markdown(query: &TextQuery, text: &str) -> Self {
        let plain = Self::excerpt(query, &strip_markdown(text));
        let written = plain.marks.is_empty().then(|| Self::excerpt(query, text));
        written.filter(|written| !written.marks.is_empty()).unwrap_or(plain)
    }

    /// Splits the text into pieces, each with whether it is highlighted.
    pub fn pieces(&self) -> Vec<(String, bool)> {
        let letters: Vec<char> = self.text.chars().collect();
        let mut pieces = Vec::new();
        let mut from = 0;
        for [start, end] in &self.marks {
            let piece = |range: std::ops::Range<usize>| letters.get(range).map(|some| some.iter().collect::<String>());
            pieces.extend(piece(from..*start).map(|text| (text, false)));
            pieces.extend(piece(*start..*end).map(|text| (text, true)));
            from = *end;
        }
        pieces.extend(letters.get(from..).map(|rest| (rest.iter().collect(), false)));
        pieces.retain(|(text, _)| !text.is_empty());
        pieces
    }

    fn mark_stretch(query: &TextQuery, text: &str, most: usize) -> Self {
        let places = marked_bytes(query, text);
        // Only characters around the marks are counted, because the text may be very long.
        let (from, to) = stretch(text, &places, most);
        let mut marked = String::new();
        let mut marks: Vec<[usize; 2]> = Vec::new();
        let shift = usize::from(from > 0);
        if from > 0 {
            marked.push('…');
        }
        let counted = |at: usize| text[from..at].chars().count() + shift;
        for (start, end) in places.into_iter().filter(|(start, end)| *start >= from && *end <= to) {
            let mark = [counted(start), counted(end)];
            match marks.last_mut() {
                Some(last) if last[1] >= mark[0] => last[1] = last[1].max(mark[1]),
                _ => marks.push(mark),
            }
        }
        marked.extend(text[from..to].chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }));
        if to < text.len() {
            marked.push('…');
        }
        Self { text: marked, marks }
    }
}

/// Returns the byte ranges of the query's words in the text, in order.
fn marked_bytes(query: &TextQuery, text: &str) -> Vec<(usize, usize)> {
    let folded = FoldedText::new(text);
    let line: String = folded.chars.iter().collect();
    let found = query.any_occurrences(&line);
    // Maps bytes of the folded text to its characters, both in order.
    let mut starts = Vec::with_capacity(folded.chars.len());
    let mut at = 0;
    for letter in &folded.chars {
        starts.push(at);
        at += letter.len_utf8();
    }
    let place = |byte: usize| starts.binary_search(&byte).ok().and_then(|at| folded.places.get(at));
    let mut marked: Vec<(usize, usize)> = found
        .iter()
        .filter_map(|one| {
            let last = starts.partition_point(|start| *start < one.end).checked_sub(1)?;
            Some((place(one.start)?.0, folded.places.get(last)?.1))
        })
        .collect();
    marked.sort_unstable();
    marked
}

/// Returns the byte range with the most marks, with some context before them.
fn stretch(text: &str, places: &[(usize, usize)], most: usize) -> (usize, usize) {
    let forward =
        |from: usize, letters: usize| text[from..].char_indices().nth(letters).map_or(text.len(), |(n, _)| from + n);
    if most == usize::MAX {
        return (0, text.len());
    }
    let back = |from: usize, letters: usize| {
        let mut before = text[..from].char_indices().rev();
        letters.checked_sub(1).and_then(|n| before.nth(n)).map_or(if letters == 0 { from } else { 0 }, |(n, _)| n)
    };
    let begin = |start: usize| back(start, most / 4);
    let marked = |from: usize| {
        let to = forward(from, most);
        places.iter().filter(|(start, end)| *start >= from && *end <= to).count()
    };
    // The first range with the most marks; only the first marks of a text are candidates, for bounded time.
    let best =
        places.iter().take(64).map(|(start, _)| begin(*start)).max_by_key(|from| (marked(*from), usize::MAX - from));
    let from = best.unwrap_or(0);
    (from, forward(from, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(query: &str, text: &str) -> HighlightedText {
        HighlightedText::excerpt(&TextQuery::new(query).unwrap(), text)
    }

    #[test]
    fn marks_cover_matched_words_in_original_spelling() {
        let shown = excerpt("cafe 你好", "Un\nCafé 你好😀世界");
        assert_eq!(shown, HighlightedText { text: "Un Café 你好😀世界".into(), marks: vec![[3, 7], [8, 10]] });
        let pieces = shown.pieces();
        let marked: Vec<&str> = pieces.iter().filter(|(_, is)| *is).map(|(text, _)| text.as_str()).collect();
        assert_eq!(marked, ["Café", "你好"]);
        assert_eq!(pieces.iter().map(|(text, _)| text.as_str()).collect::<String>(), shown.text);
    }

    #[test]
    fn markdown_signs_are_hidden_unless_they_match() {
        let of = |query: &str, text: &str| HighlightedText::excerpt_of_markdown(&TextQuery::new(query).unwrap(), text);
        let text = "# A **green** tree\n\nSee [leaves](https://example.org/autumn).";
        let marked = of("green leaves", text);
        assert_eq!(marked, HighlightedText { text: "A green tree See leaves.".into(), marks: vec![[2, 7], [17, 23]] });
        let marked = of("autumn", text);
        assert!(marked.text.contains("https://example.org/autumn") && marked.marks.len() == 1, "{marked:?}");
        assert_eq!(of("nothing", text).text, "A green tree See leaves.");
    }

    #[test]
    fn long_text_is_cut_around_most_matches() {
        let text = format!("tree {} a green tree {}", "x ".repeat(1000), "y ".repeat(1000));
        let marked = excerpt("green tree", &text);
        assert!(marked.text.starts_with('…') && marked.text.ends_with('…'), "{marked:?}");
        assert_eq!(marked.text.chars().count(), limits::SEARCH_EXCERPT + 2);
        assert_eq!(marked.marks.len(), 2);
        let letters: Vec<char> = marked.text.chars().collect();
        let words: Vec<String> =
            marked.marks.iter().map(|[start, end]| letters[*start..*end].iter().collect()).collect();
        assert_eq!(words, ["green", "tree"]);
    }

    #[test]
    fn text_without_matches_is_cut_at_its_start() {
        assert_eq!(excerpt("tree", "leaf"), HighlightedText { text: "leaf".into(), marks: Vec::new() });
        assert_eq!(excerpt("tree", &"a".repeat(500)).text.chars().count(), limits::SEARCH_EXCERPT + 1);
        assert_eq!(HighlightedText::full(&TextQuery::new("a").unwrap(), "").pieces(), []);
    }
}
