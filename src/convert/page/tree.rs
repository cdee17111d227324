//! A bounded parse of HTML. The parser itself is html5ever's; a filter between its tokenizer and its tree builder bounds
//! what a hostile page can make of it: the stack of open elements, which the builder scans for many tags, so that its
//! length decides between linear and quadratic time, and the number of nodes. The tree that comes out is no deeper than
//! [`limits::MARKUP_DEPTH`], because what reads it afterwards follows it recursively.

use std::cell::{Cell, RefCell};

use dom_query::{Document, NodeId, NodeRef};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, EndTag, StartTag, TagToken, Tokenizer, TokenizerOpts};
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult, local_name};

use crate::ConversionError;
use turnleaf_domain::limits;

/// Open elements and active formatting elements beyond which no element is opened: a formatting element counts twice.
const OPEN: usize = 2 * limits::MARKUP_DEPTH;
/// Open elements beyond which not even elements without children are: in SVG they have children.
const OPEN_WITH_LEAVES: usize = OPEN + 16;

/// The tree of a page.
///
/// # Errors
/// [`Refused::OutOfBounds`] where it has more than [`limits::MARKUP_NODES`] nodes.
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
    // The tokenizer pauses behind every script, which nobody runs.
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

/// Hands tokens on to the tree builder, without start tags that would nest too deep and the end tags that belong to them.
struct TagFilter {
    builder: TreeBuilder<NodeId, Document>,
    /// How many elements are open, as long as no tag changed that since they were counted.
    open: Cell<Option<usize>>,
    /// The names of start tags that were left out and are not closed yet.
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
        // Text opens formatting elements again and closes nothing: where there are too many, it leaves too many.
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

/// Counts what the tree builder holds.
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

/// Elements that hold no others, void or of raw text: without their start tag, what a script holds would be read as text.
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

/// Makes siblings of what lies deeper than [`limits::MARKUP_DEPTH`]: the children of an element at that depth come right
/// behind it, in their order. Each node is moved at most once, and nothing recurses.
fn flatten(document: &Document) {
    let tree = &document.tree;
    let (mut node, mut depth) = (document.root(), 0);
    loop {
        if depth == limits::MARKUP_DEPTH && node.children_it(false).any(|child| child.is_element()) {
            // Text before the first element stays: the words of a link, say.
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

    /// How deep the deepest element lies.
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
        // Each paragraph opens every formatting element again.
        let opened: String = (0..400).map(|number| format!("<b id={number}>")).collect();
        let html = format!("<p>{opened}{}", "<p>x".repeat(10_000));
        assert_eq!(parse(&html).err(), Some(ConversionError::OutOfBounds));
    }
}
