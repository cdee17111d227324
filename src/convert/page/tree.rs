//! A bounded HTML parser. html5ever does the parsing; a filter between its tokenizer and its tree builder limits what
//! a hostile page can cause: the number of nodes, and the stack of open elements, which the builder scans for many
//! tags, so that its length decides between linear and quadratic time. The resulting tree is no deeper than
//! [`limits::MARKUP_DEPTH`], because its consumers recurse.

use std::cell::{Cell, RefCell};

use dom_query::{Document, NodeId, NodeRef};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, EndTag, StartTag, TagToken, Tokenizer, TokenizerOpts};
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult, local_name};

use crate::ConversionError;
use turnleaf_domain::limits;

/// Limit of open elements plus active formatting elements, above which no element is opened. A formatting element
/// counts twice.
const OPEN: usize = 2 * limits::MARKUP_DEPTH;
/// Limit above which even childless elements are dropped, because in SVG they can have children.
const OPEN_WITH_LEAVES: usize = OPEN + 16;

/// Parses a page.
///
/// # Errors
/// [`ConversionError::OutOfBounds`] if it has more than [`limits::MARKUP_NODES`] nodes.
pub fn parse(html: &str) -> Result<Document, ConversionError> {
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let filter = TagFilter {
        builder: TreeBuilder::new(Document::default(), options),
        open: Cell::new(None),
        dropped: RefCell::default(),
        is_full: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(filter, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    // The tokenizer pauses after every script; scripts are never run.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    let filter = tokenizer.sink;
    if filter.is_full.get() {
        return Err(ConversionError::OutOfBounds);
    }
    let document = filter.builder.sink;
    flatten(&document);
    Ok(document)
}

/// Forwards tokens to the tree builder, except start tags that would nest too deeply and their end tags.
struct TagFilter {
    builder: TreeBuilder<NodeId, Document>,
    /// Cached count of open elements; invalidated by every tag that may change it.
    open: Cell<Option<usize>>,
    /// Names of dropped start tags that are not closed yet.
    dropped: RefCell<Vec<LocalName>>,
    is_full: Cell<bool>,
}

impl TagFilter {
    fn is_dropped(&self, token: &Token) -> bool {
        let TagToken(tag) = token else { return false };
        match tag.kind {
            StartTag => {
                let open = self.open.get().unwrap_or_else(|| OpenElements::count(&self.builder));
                self.open.set(Some(open));
                if open < OPEN || (open < OPEN_WITH_LEAVES && has_no_children(&tag.name)) {
                    return false;
                }
                if !tag.self_closing {
                    self.dropped.borrow_mut().push(tag.name.clone());
                }
                true
            }
            EndTag => {
                let mut dropped = self.dropped.borrow_mut();
                let is_last = dropped.last() == Some(&tag.name);
                if is_last {
                    dropped.pop();
                }
                is_last
            }
        }
    }
}

impl TokenSink for TagFilter {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<NodeId> {
        if self.builder.sink.tree.len() > limits::MARKUP_NODES {
            self.is_full.set(true);
        }
        if self.is_full.get() || self.is_dropped(&token) {
            return TokenSinkResult::Continue;
        }
        // Text reopens formatting elements and closes nothing, so a count at the limit stays valid.
        if matches!(token, TagToken(_)) || self.open.get().is_some_and(|open| open < OPEN) {
            self.open.set(None);
        }
        self.builder.process_token(token, line_number)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Counts the elements that the tree builder holds.
struct OpenElements(Cell<usize>);

impl OpenElements {
    fn count(builder: &TreeBuilder<NodeId, Document>) -> usize {
        let count = Self(Cell::new(0));
        builder.trace_handles(&count);
        count.0.get()
    }
}

impl Tracer for OpenElements {
    type Handle = NodeId;

    fn trace_handle(&self, _: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

/// Returns whether an element is void or holds raw text. Such a start tag must not be dropped, because the content of
/// a script would become visible text.
fn has_no_children(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("hr")
            | local_name!("iframe")
            | local_name!("img")
            | local_name!("input")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("param")
            | local_name!("script")
            | local_name!("source")
            | local_name!("style")
            | local_name!("textarea")
            | local_name!("title")
            | local_name!("track")
            | local_name!("wbr")
            | local_name!("xmp")
    )
}

/// Flattens what is nested deeper than [`limits::MARKUP_DEPTH`]: the children of an element at that depth become its
/// next siblings, in order. Each node moves at most once, without recursion.
fn flatten(document: &Document) {
    let tree = &document.tree;
    let (mut node, mut depth) = (document.root(), 0);
    loop {
        if depth == limits::MARKUP_DEPTH && node.children_it(false).any(|child| child.is_element()) {
            // Text before the first element stays, such as the label of a link.
            let is_text = |child: &NodeRef| !child.is_element();
            let moved: Vec<_> = node.children_it(false).skip_while(is_text).collect();
            let mut behind = node;
            for child in moved {
                tree.insert_after_of(&behind.id, &child.id);
                behind = child;
            }
        }
        if let Some(child) = node.first_child() {
            (node, depth) = (child, depth + 1);
            continue;
        }
        loop {
            if let Some(sibling) = node.next_sibling() {
                node = sibling;
                break;
            }
            match node.parent() {
                Some(parent) => (node, depth) = (parent, depth - 1),
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the depth of the deepest element.
    fn depth(document: &Document) -> usize {
        let root = document.root();
        let elements = root.descendants_it().filter(|node| node.is_element());
        elements.map(|node| node.ancestors_it(None).count()).max().unwrap_or_default()
    }

    #[test]
    fn elements_beyond_depth_limit_become_siblings_in_order() {
        let tags = [
            "<div>",
            "<b>",
            "<a href=x>",
            "<ul><li>",
            "<table><tr><td>",
            "<svg>",
            "<math>",
            "<template>",
            "<blockquote>",
            "<svg><script>",
            "<font color=1>",
            "<p><b><div>",
            "<object>",
            "<select>",
            "<frameset>",
            "<ruby><rt>",
        ];
        for tag in tags {
            let html = format!("<!-->{}one<i>two</i>three", tag.repeat(20_000));
            let document = parse(&html).expect(tag);
            assert!(depth(&document) <= limits::MARKUP_DEPTH, "{tag}: {}", depth(&document));
            document.tree.validate().expect(tag);
        }
        let deep = format!("{}one<i>two<u>three</u></i>four<script>x<y</script>", "<div>".repeat(2_000));
        let document = parse(&deep).expect("it is within the bounds");
        assert_eq!(&*document.root().text(), "onetwothreefourx<y");
        assert_eq!(&*document.select("script").text(), "x<y");
    }

    #[test]
    fn end_tags_of_dropped_elements_close_nothing() {
        let levels = 3_000;
        let html = format!("<p id=a>{}deep{}<p id=b>after", "<div>".repeat(levels), "</div>".repeat(levels));
        let document = parse(&html).expect("it is within the bounds");
        assert!(document.select("body > #b").exists());
        assert_eq!(&*document.select("#b").text(), "after");
    }

    #[test]
    fn node_count_is_bounded() {
        assert!(parse(&"<br>".repeat(limits::MARKUP_NODES - 100)).is_ok());
        assert_eq!(parse(&"<br>".repeat(limits::MARKUP_NODES + 1)).err(), Some(ConversionError::OutOfBounds));
        // Each paragraph reopens every formatting element.
        let opened: String = (0..400).map(|number| format!("<b id={number}>")).collect();
        let html = format!("<p>{opened}{}", "<p>x".repeat(10_000));
        assert_eq!(parse(&html).err(), Some(ConversionError::OutOfBounds));
    }
}
