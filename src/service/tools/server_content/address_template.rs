//! Templates of addresses (RFC 6570) that a person fills in by hand: their variables, and which of them an address leaves
//! open. Only the simple forms `{name}` and `{+name}` are filled in.

use std::collections::HashMap;

use turnleaf_domain::encoding::url_encoding;

/// The variable of an address for which values are suggested, and the address around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenVariable {
    pub name: String,
    /// The part of its value that is written so far.
    pub value: String,
    /// The other variables that have a value.
    pub others: HashMap<String, String>,
    before: String,
    after: String,
    /// `{+name}`: the value may have separators.
    is_path: bool,
}

/// A part of a template.
#[derive(Debug, Clone, Copy)]
enum AddressTemplatePart<'t> {
    Text(&'t str),
    Variable { name: &'t str, is_path: bool, written: &'t str },
}

impl<'t> AddressTemplatePart<'t> {
    /// Returns the part as it is written in the template.
    fn written(self) -> &'t str {
        match self {
            Self::Text(written) | Self::Variable { written, .. } => written,
        }
    }
}

/// A variable in an address: its place, and its value where it is not left open.
struct VariablePlace<'t> {
    name: &'t str,
    is_path: bool,
    start: usize,
    end: usize,
    value: Option<String>,
}

impl OpenVariable {
    /// Returns the first variable that the address leaves as it is in the template, or else the last one. `None` if the
    /// address is not of this template, or the template has other forms.
    pub fn find(template: &str, address: &str) -> Option<Self> {
        let mut pieces = pieces_of(template)?.into_iter().peekable();
        let (mut places, mut at, mut missing) = (Vec::new(), 0, String::new());
        while let Some(piece) = pieces.next() {
            let rest = &address[at..];
            let AddressTemplatePart::Variable { name, is_path, written } = piece else {
                rest.strip_prefix(piece.written())?;
                at += piece.written().len();
                continue;
            };
            let (length, value) = if rest.starts_with(written) {
                (written.len(), None)
            } else {
                let length = match pieces.peek() {
                    None => Some(rest.len()),
                    Some(AddressTemplatePart::Text(text)) => rest.find(*text),
                    // The end of the value is ambiguous.
                    Some(AddressTemplatePart::Variable { .. }) => return None,
                };
                if length.is_none() {
                    // This variable is being written; the text after it is not there yet.
                    missing = pieces.by_ref().map(AddressTemplatePart::written).collect();
                }
                let length = length.unwrap_or(rest.len());
                (length, Some(url_encoding::decode(&rest[..length])))
            };
            places.push(VariablePlace { name, is_path, start: at, end: at + length, value });
            at += length;
        }
        if at < address.len() {
            return None;
        }
        let last = places.len().checked_sub(1)?;
        let chosen = places.iter().position(|place| place.value.is_none()).unwrap_or(last);
        let place = places.swap_remove(chosen);
        let others = places.into_iter().filter_map(|place| Some((place.name.to_owned(), place.value?)));
        Some(Self {
            name: place.name.to_owned(),
            value: place.value.unwrap_or_default(),
            others: others.collect(),
            before: address[..place.start].to_owned(),
            after: format!("{}{missing}", &address[place.end..]),
            is_path: place.is_path,
        })
    }

    /// Returns the address with this value.
    pub fn with_value(&self, value: &str) -> String {
        let encoded = if self.is_path { encode_path(value) } else { url_encoding::encode(value) };
        format!("{}{encoded}{}", self.before, self.after)
    }
}

/// Returns the names of the variables of a template in any of the forms of RFC 6570, such as `{/a,b}` or `{?c*,d:3}`.
pub fn variable_names(template: &str) -> impl Iterator<Item = &str> {
    let expressions = template.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let lists = expressions.map(|written| written.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']));
    let names = lists.flat_map(|list| list.split(','));
    names.map(|name| name.split_once(':').map_or(name, |(name, _)| name).trim_end_matches('*'))
}

/// Encodes the value of a variable whose separators stay. It is plain text, so `%` is encoded, too.
fn encode_path(value: &str) -> String {
    let is_separator = |c: char| ":/?#[]@!$&'()*+,;=".contains(c);
    let parts = value.split_inclusive(is_separator).map(|part| match part.strip_suffix(is_separator) {
        Some(before) => format!("{}{}", url_encoding::encode(before), &part[before.len()..]),
        None => url_encoding::encode(part),
    });
    parts.collect()
}

/// Splits a template. `None` if it has other forms than the simple ones.
fn pieces_of(template: &str) -> Option<Vec<AddressTemplatePart<'_>>> {
    let (mut pieces, mut rest) = (Vec::new(), template);
    while let Some(start) = rest.find('{') {
        if start > 0 {
            pieces.push(AddressTemplatePart::Text(&rest[..start]));
        }
        let end = start + rest[start..].find('}')? + 1;
        let written = &rest[start..end];
        let inner = &written[1..written.len() - 1];
        let (name, is_path) = inner.strip_prefix('+').map_or((inner, false), |name| (name, true));
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '%');
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        pieces.push(AddressTemplatePart::Variable { name, is_path, written });
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        pieces.push(AddressTemplatePart::Text(rest));
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(template: &str, address: &str) -> Option<(String, String, String)> {
        let open = OpenVariable::find(template, address)?;
        let address = open.with_value("a b/c");
        Some((open.name, open.value, address))
    }

    #[test]
    fn first_open_variable_is_found_or_the_last_one() {
        let two = "db://{table}/rows/{id}?full";
        for (template, address, expected) in [
            ("file:///{path}", "file:///{path}", Some(("path", "", "file:///a%20b%2Fc"))),
            ("file:///{+path}", "file:///{+path}", Some(("path", "", "file:///a%20b/c"))),
            ("file:///{path}", "file:///no", Some(("path", "no", "file:///a%20b%2Fc"))),
            ("file:///{path}", "file:///m%C3%BC", Some(("path", "mü", "file:///a%20b%2Fc"))),
            (two, two, Some(("table", "", "db://a%20b%2Fc/rows/{id}?full"))),
            (two, "db://people/rows/{id}?full", Some(("id", "", "db://people/rows/a%20b%2Fc?full"))),
            (two, "db://people/rows/7?full", Some(("id", "7", "db://people/rows/a%20b%2Fc?full"))),
            (two, "db://peo", Some(("table", "peo", "db://a%20b%2Fc/rows/{id}?full"))),
            (two, "file:///x", None),
            (two, "db://people/rows/7?full&more", None),
            ("a:{x}{y}", "a:{x}{y}", Some(("x", "", "a:a%20b%2Fc{y}"))),
            ("a:{x}{y}", "a:1{y}", None),
            ("a:{x,y}", "a:{x,y}", None),
            ("a:{?x}", "a:{?x}", None),
            ("a:{x", "a:{x", None),
            ("a:b", "a:b", None),
            ("", "", None),
        ] {
            let expected = expected.map(|(name, value, address): (&str, &str, &str)| {
                (name.to_owned(), value.to_owned(), address.to_owned())
            });
            assert_eq!(found(template, address), expected, "{template} {address}");
        }
    }

    #[test]
    fn separators_of_path_stay() {
        let open = OpenVariable::find("file:///{+path}", "file:///{+path}").unwrap();
        for (value, expected) in [
            ("", "file:///"),
            ("/a/", "file:////a/"),
            ("x?y=1&z#{b} 100%", "file:///x?y=1&z#%7Bb%7D%20100%25"),
            ("叶/b", "file:///%E5%8F%B6/b"),
        ] {
            assert_eq!(open.with_value(value), expected, "{value}");
        }
    }

    #[test]
    fn variables_of_every_form_are_named() {
        for (template, expected) in [
            ("file:///{path}", "path"),
            ("a:{+x}{/y,z*}/b{?q:3,p}{&r}{#s}{;t}{.u}", "x y z q p r s t u"),
            ("a:b}", ""),
            ("a:{b", ""),
        ] {
            assert_eq!(variable_names(template).collect::<Vec<_>>().join(" "), expected, "{template}");
        }
    }

    #[test]
    fn other_variables_are_context() {
        let open = OpenVariable::find("db://{table}/{id}/{part}", "db://people/{id}/{part}").unwrap();
        assert_eq!(open.others, HashMap::from([("table".to_owned(), "people".to_owned())]));
        assert_eq!(open.name, "id");
    }
}
