//! DOM morphing: turns a part of the page into a newer rendering of the server. Elements of the same kind at the same
//! position are kept, with their focus and open disclosures.

#[cfg(feature = "hydrate")]
mod real {
    use js_sys::Reflect;
    use wasm_bindgen::JsCast;
    use web_sys::{Element, HtmlInputElement, Node};

    use crate::browser::form::TYPED_ATTRIBUTE;

    /// Copies a node list, because the list itself changes while its nodes are moved.
    pub fn collect_nodes(list: &web_sys::NodeList) -> Vec<Node> {
        (0..list.length()).filter_map(|at| list.item(at)).collect()
    }

    /// Morphs a node into another one. Elements of the same kind at the same position are kept, with their focus and
    /// open disclosures.
    pub fn morph(old: &Node, new: &Node) {
        if old.node_name() != new.node_name() {
            let _ = old.parent_node().map(|parent| parent.replace_child(new, old));
            return;
        }
        match (old.dyn_ref::<Element>(), new.dyn_ref::<Element>()) {
            (Some(old), Some(new)) => {
                morph_attributes(old, new, |name| name != "open" && name != TYPED_ATTRIBUTE);
                morph_children(old, new);
                sync_control_values(old, new);
            }
            _ if old.node_value() != new.node_value() => old.set_node_value(new.node_value().as_deref()),
            _ => {}
        }
    }

    /// Morphs the children of a node.
    pub fn morph_children(old: &Node, new: &Node) {
        let (olds, news) = (collect_nodes(&old.child_nodes()), collect_nodes(&new.child_nodes()));
        for (old, new) in olds.iter().zip(&news) {
            morph(old, new);
        }
        for gone in olds.iter().skip(news.len()) {
            let _ = old.remove_child(gone);
        }
        for added in news.iter().skip(olds.len()) {
            let _ = old.append_child(added);
        }
    }

    /// Copies and removes attributes, restricted to those that `is_meant` selects.
    pub fn morph_attributes(old: &Element, new: &Element, is_meant: impl Fn(&String) -> bool) {
        let names =
            |of: &Element| of.get_attribute_names().iter().filter_map(|name| name.as_string()).collect::<Vec<_>>();
        for name in names(old).iter().filter(|name| is_meant(name) && !new.has_attribute(name)) {
            let _ = old.remove_attribute(name);
        }
        for name in names(new).iter().filter(|name| is_meant(name)) {
            let value = new.get_attribute(name).unwrap_or_default();
            if old.get_attribute(name).as_deref() != Some(value.as_str()) {
                let _ = old.set_attribute(name, &value);
            }
        }
    }

    /// Sets the values of controls as properties: once the user has typed or chosen, the attributes no longer
    /// determine them.
    fn sync_control_values(old: &Element, new: &Element) {
        match old.node_name().as_str() {
            "INPUT" => {
                let Some(input) = old.dyn_ref::<HtmlInputElement>() else { return };
                match input.type_().as_str() {
                    "checkbox" | "radio" => input.set_checked(new.has_attribute("checked")),
                    "search" | "file" => {}
                    _ => input.set_value(&new.get_attribute("value").unwrap_or_default()),
                }
            }
            "OPTION" => drop(Reflect::set(old, &"selected".into(), &new.has_attribute("selected").into())),
            // A focused text area is left alone, so that the user keeps text and caret.
            "TEXTAREA" if old.is_same_node(old.owner_document().and_then(|all| all.active_element()).as_deref()) => {}
            "TEXTAREA" => {
                // Read from the old element: the morph has moved further text nodes out of the new one, and Chromium
                // splits long texts into several.
                let text = old.text_content().unwrap_or_default();
                drop(Reflect::set(old, &"value".into(), &text.into()));
            }
            _ => {}
        }
    }
}

#[cfg(feature = "hydrate")]
pub use real::{collect_nodes, morph, morph_attributes, morph_children};
