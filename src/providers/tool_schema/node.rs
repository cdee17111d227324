//! Fits one place of a schema: resolves its references, and drops keywords and values that the API does not accept
//! into its description.

use serde_json::{Map, Value, json};

use super::combine::merge;
use super::normalize::resolve_reference;
use super::notes::note;
use super::subset::{SUBSCHEMA_KEYWORDS, SchemaSubset};
use turnleaf_domain::limits;

/// Places of a fitted schema. References are resolved at each place that has them, which may multiply a schema.
const PLACES: usize = 4_000;

/// The place of a reference in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferencePlace {
    /// The root, which no API accepts as a reference.
    Root,
    /// A schema that is merged into another one, beside whose members no reference may stand.
    Merged,
    /// A place inside, where a reference may stay.
    Inside,
}

pub struct Fitter<'a> {
    /// The whole schema, normalized.
    pub whole: &'a Value,
    pub subset: SchemaSubset,
    /// The root was rebuilt, so a reference to it means something else.
    pub is_rebuilt: bool,
    /// The references that are being resolved.
    pub resolving: Vec<String>,
    places_left: usize,
    /// Schemas within schemas at this moment.
    depth: usize,
    keeps_definitions: bool,
}

impl<'a> Fitter<'a> {
    pub fn new(whole: &'a Value, subset: SchemaSubset) -> Self {
        Self {
            whole,
            subset,
            is_rebuilt: false,
            resolving: Vec::new(),
            places_left: PLACES,
            depth: 0,
            keeps_definitions: false,
        }
    }

    /// Takes one of the places that a fitted schema may have; `None` if none is left.
    pub fn spend_place(&mut self) -> Option<()> {
        self.places_left = self.places_left.checked_sub(1)?;
        Some(())
    }

    /// Fits the root, whose combinations and references have been resolved already.
    pub fn root(&mut self, members: Map<String, Value>) -> Value {
        let mut root = Map::new();
        if !members.contains_key("type") {
            root.insert("type".into(), json!("object"));
        }
        let fitted = self.members(members);
        for (keyword, value) in fitted {
            if keyword != "$defs" && keyword != "definitions" {
                let value = if keyword == "type" { json!("object") } else { value };
                root.insert(keyword, value);
            }
        }
        if !root.contains_key("properties") {
            root.insert("properties".into(), json!({}));
        }
        for keyword in ["$defs", "definitions"] {
            let Some(Value::Object(named)) = self.whole.get(keyword) else { continue };
            if !self.keeps_definitions {
                continue;
            }
            let named: Map<String, Value> =
                named.iter().map(|(name, schema)| (name.clone(), self.schema(schema))).collect();
            root.insert(keyword.into(), Value::Object(named));
        }
        Value::Object(root)
    }

    /// Fits the schema of a value. Beyond the permitted places and depth, which only references can reach, it accepts
    /// everything.
    pub fn schema(&mut self, schema: &Value) -> Value {
        if self.depth == limits::JSON_DEPTH || self.spend_place().is_none() {
            return json!({});
        }
        self.depth += 1;
        let before = self.resolving.len();
        let members = self.resolved(schema, ReferencePlace::Inside);
        let fitted = self.members(members);
        self.resolving.truncate(before);
        self.depth -= 1;
        Value::Object(fitted)
    }

    /// Returns the members of a schema in which references that do not stay are replaced by what they refer to, and
    /// `allOf` is merged where the API does not know it.
    fn resolved(&mut self, schema: &Value, place: ReferencePlace) -> Map<String, Value> {
        let mut members = schema.as_object().cloned().unwrap_or_default();
        members = self.without_references(members, place);
        if !self.subset.has_keyword("allOf")
            && let Some(Value::Array(parts)) = members.remove("allOf")
        {
            for part in &parts {
                let part = self.resolved(part, ReferencePlace::Merged);
                merge(&mut members, part);
            }
        }
        members
    }

    /// Replaces the reference of a schema by what it refers to, and the reference of that. Members beside a reference
    /// win over those behind it. The references are open until the caller closes them: of one that leads back to an open
    /// one, only what needs no further reference is kept.
    pub fn without_references(&mut self, mut members: Map<String, Value>, place: ReferencePlace) -> Map<String, Value> {
        while let Some(reference) = members.get("$ref").and_then(Value::as_str).map(str::to_owned) {
            if place == ReferencePlace::Inside && self.stays(&reference, &members) {
                self.keeps_definitions = true;
                if self.subset == SchemaSubset::Gemini {
                    members.retain(|keyword, _| self.subset.keeps_beside_reference(keyword));
                }
                break;
            }
            members.remove("$ref");
            let Some(Value::Object(target)) = resolve_reference(self.whole, &reference) else { break };
            let is_open = self.resolving.contains(&reference) || self.resolving.len() >= limits::JSON_DEPTH;
            for (keyword, value) in target {
                if !is_open || matches!(keyword.as_str(), "type" | "description") {
                    members.entry(keyword.clone()).or_insert_with(|| value.clone());
                }
            }
            if is_open {
                break;
            }
            self.resolving.push(reference);
        }
        members
    }

    /// Returns whether a reference stays as it is.
    fn stays(&self, reference: &str, members: &Map<String, Value>) -> bool {
        let definition = ["#/$defs/", "#/definitions/"].iter().find_map(|start| reference.strip_prefix(start));
        let is_plain = definition.is_some_and(|name| !name.contains('/')) || (reference == "#" && !self.is_rebuilt);
        let is_alone = members.keys().all(|keyword| self.subset.keeps_beside_reference(keyword));
        self.subset.keeps_references() && is_plain && (is_alone || self.resolving.iter().any(|open| open == reference))
    }

    fn members(&mut self, members: Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        let mut notes = Vec::new();
        let own = ["enum", "anyOf"].map(|keyword| members.contains_key(keyword));
        for (keyword, value) in members {
            let (keyword, value) = self.translated(keyword, value, own);
            let is_accepted = self.subset.has_keyword(&keyword) && self.subset.has_value(&keyword, &value);
            if !is_accepted {
                if self.subset.describes(&keyword) {
                    notes.push(note(&keyword, &value));
                }
                continue;
            }
            if let Some(value) = self.keyword(&keyword, value, &mut notes) {
                out.insert(keyword, value);
            }
        }
        let is_array = match out.get("type") {
            Some(Value::String(name)) => name == "array",
            Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
            _ => out.contains_key("prefixItems"),
        };
        if is_array && !out.contains_key("items") {
            out.insert("items".into(), json!({}));
        }
        if self.subset.requires_only_described() {
            let described = out.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            if let Some(Value::Array(required)) = out.get_mut("required") {
                required.retain(|name| name.as_str().is_some_and(|name| described.contains_key(name)));
            }
        }
        if !notes.is_empty() {
            let description = out.get("description").and_then(Value::as_str).unwrap_or_default();
            let description = format!("{description} ({})", notes.join("; "));
            out.insert("description".into(), Value::String(description.trim_start().to_owned()));
        }
        out
    }

    /// Replaces a keyword by another of the same meaning that the API accepts, unless the schema has that one, too:
    /// whether it has an `enum` and an `anyOf` of its own.
    fn translated(&self, keyword: String, value: Value, [has_enum, has_any_of]: [bool; 2]) -> (String, Value) {
        let has = |keyword: &str| self.subset.has_keyword(keyword);
        match keyword.as_str() {
            "const" if !has("const") && !has_enum => ("enum".into(), Value::Array(vec![value])),
            "oneOf" if !has("oneOf") && !has_any_of => ("anyOf".into(), value),
            _ => (keyword, value),
        }
    }

    fn keyword(&mut self, keyword: &str, value: Value, notes: &mut Vec<String>) -> Option<Value> {
        match (keyword, value) {
            ("properties", Value::Object(named)) => {
                let mut kept = Map::new();
                for (name, property) in named {
                    match self.subset.has_property(&name) {
                        true if property != json!(false) => drop(kept.insert(name, self.schema(&property))),
                        true => {}
                        false => notes.push(note(&format!("property {}", json!(name)), &property)),
                    }
                }
                Some(Value::Object(kept))
            }
            ("$defs" | "definitions", _) => None,
            ("patternProperties", Value::Object(named)) => {
                let subset = self.subset;
                let kept: Map<String, Value> = named
                    .into_iter()
                    .filter(|(pattern, _)| subset.has_value("pattern", &json!(pattern)))
                    .map(|(pattern, property)| (pattern, self.schema(&property)))
                    .collect();
                (!kept.is_empty()).then_some(Value::Object(kept))
            }
            ("dependentSchemas", Value::Object(named)) => {
                Some(named.into_iter().map(|(name, schema)| (name, self.schema(&schema))).collect())
            }
            ("items", Value::Bool(_)) => Some(json!({})),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                Some(all.iter().map(|one| self.schema(one)).collect())
            }
            (keyword, value @ Value::Object(_)) if SUBSCHEMA_KEYWORDS.contains(&keyword) => Some(self.schema(&value)),
            ("required", Value::Array(names)) => {
                let names: Vec<Value> = names
                    .into_iter()
                    .filter(|name| name.as_str().is_some_and(|name| self.subset.has_property(name)))
                    .collect();
                Some(Value::Array(names))
            }
            (_, value) => Some(value),
        }
    }
}
