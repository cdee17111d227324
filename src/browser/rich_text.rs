//! Rich text: parses pasted HTML into a tree of plain values. `DOMParser` creates a separate document, in which no
//! script runs and nothing is loaded.

/// A node of rich text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RichText {
    Text(String),
    Element {
        /// In lower case.
        name: String,
        /// The attributes that carry meaning: `href`, `style`, `class`, `start`.
        attributes: Vec<(&'static str, String)>,
        children: Vec<RichText>,
    },
}

/// The attributes that are kept.
#[cfg(feature = "hydrate")]
const READ_ATTRIBUTES: [&str; 4] = ["href", "style", "class", "start"];

#[cfg(feature = "hydrate")]
mod real {
    use wasm_bindgen::{JsCast, JsValue};
    use web_sys::{Document, Element, Node};

    use super::{READ_ATTRIBUTES, RichText};

    /// Returns the content of the document's body. Elements that are nested deeper than `depth` are dropped.
    pub fn parse_rich_text(html: &str, depth: usize) -> Vec<RichText> {
        parse_document(html)
            .ok()
            .and_then(|document| document.query_selector("body").ok().flatten())
            .map_or_else(Vec::new, |body| children(&body, depth))
    }

    fn parse_document(html: &str) -> Result<Document, JsValue> {
        let get = |of: &JsValue, key: &str| js_sys::Reflect::get(of, &key.into())?.dyn_into::<js_sys::Function>();
        let parser = js_sys::Reflect::construct(&get(&js_sys::global(), "DOMParser")?, &js_sys::Array::new())?;
        get(&parser, "parseFromString")?.call2(&parser, &html.into(), &"text/html".into())?.dyn_into()
    }

    fn children(node: &Node, depth: usize) -> Vec<RichText> {
        let nodes = node.child_nodes();
        (0..nodes.length()).filter_map(|at| rich_node(&nodes.item(at)?, depth.checked_sub(1)?)).collect()
    }

    fn rich_node(node: &Node, depth: usize) -> Option<RichText> {
        if node.node_type() == Node::TEXT_NODE {
            return node.node_value().map(RichText::Text);
        }
        let element = node.dyn_ref::<Element>()?;
        let attributes =
            READ_ATTRIBUTES.into_iter().filter_map(|name| Some((name, element.get_attribute(name)?))).collect();
        Some(RichText::Element {
            name: element.tag_name().to_ascii_lowercase(),
            attributes,
            children: children(node, depth),
        })
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    use super::RichText;

    pub fn parse_rich_text(_html: &str, _depth: usize) -> Vec<RichText> {
        Vec::new()
    }
}

pub use real::parse_rich_text;
