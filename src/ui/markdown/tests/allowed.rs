//! A strict parser of our own output, independent of the writer: it has its own allowlist.

/// The attributes that each element may have, with their allowed values.
const ELEMENTS: &[(&str, &[&str])] = &[
    ("a", &["id", "href", "title", "rel", "target", "aria-label"]),
    ("blockquote", &["dir"]),
    ("br", &[]),
    ("button", &["type", "class", "data-copy", "aria-label"]),
    ("code", &["class", "dir"]),
    ("del", &[]),
    ("details", &["class", "open"]),
    ("div", &["class", "id", "tabindex", "role", "aria-label"]),
    ("em", &[]),
    ("h4", &["class", "dir"]),
    ("h5", &["class", "dir"]),
    ("h6", &["class", "dir"]),
    ("hr", &[]),
    ("kbd", &[]),
    ("li", &["class", "dir"]),
    ("ol", &["start"]),
    ("p", &["class", "dir"]),
    ("pre", &["dir", "tabindex", "role", "aria-label"]),
    ("span", &["class", "dir", "tabindex", "role", "aria-label"]),
    ("strong", &[]),
    ("sub", &[]),
    ("summary", &["dir"]),
    ("sup", &["class"]),
    ("table", &[]),
    ("tbody", &[]),
    ("td", &["class", "dir"]),
    ("th", &["scope", "class", "dir"]),
    ("thead", &[]),
    ("tr", &[]),
    ("ul", &[]),
];

const MATH: &[&str] = &[
    "math",
    "merror",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "menclose",
    "none",
];

const MATH_ATTRIBUTES: &[&str] = &[
    "accent",
    "class",
    "columnalign",
    "columnspan",
    "depth",
    "display",
    "displaystyle",
    "fence",
    "form",
    "height",
    "largeop",
    "linethickness",
    "lspace",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "notation",
    "rspace",
    "scriptlevel",
    "separator",
    "stretchy",
    "symmetric",
    "voffset",
    "width",
];

const CLASSES: &[&str] = &[
    "md-h1",
    "md-h2",
    "md-h3",
    "md-h4",
    "md-h5",
    "md-h6",
    "md-remark",
    "md-literal",
    "md-code",
    "md-code-head",
    "md-language",
    "md-copy",
    "md-image",
    "md-image-alt",
    "md-math",
    "md-display",
    "md-tabled",
    "md-table",
    "md-table-tools",
    "md-left",
    "md-center",
    "md-right",
    "md-task",
    "md-check",
    "md-cite",
    "md-note",
    "md-footnote",
    "md-details",
    "md-alert",
    "md-alert-name",
    "md-tip",
    "md-important",
    "md-warning",
    "md-caution",
    "c-attribute",
    "c-comment",
    "c-constant",
    "c-deleted",
    "c-function",
    "c-heading",
    "c-inserted",
    "c-invalid",
    "c-keyword",
    "c-number",
    "c-operator",
    "c-punctuation",
    "c-string",
    "c-tag",
    "c-type",
    "c-variable",
];

/// The visible content of markup: its text and the targets of its links.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ParsedMarkup {
    pub text: String,
    pub links: Vec<String>,
    pub elements: usize,
    pub depth: usize,
}

/// Parses markup strictly.
///
/// # Errors
/// The first violation.
pub fn parse_allowed(html: &str) -> Result<ParsedMarkup, String> {
    let mut seen = ParsedMarkup::default();
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        seen.text.push_str(&decode(&rest[..at])?);
        let end = rest[at..].find('>').ok_or("a tag that does not end")? + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let expected = open.pop().ok_or_else(|| format!("</{name}> closes nothing"))?;
            if expected != name {
                return Err(format!("</{name}> closes <{expected}>"));
            }
            continue;
        }
        let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if is_empty != matches!(name, "br" | "hr") {
            return Err(format!("<{tag}> is closed in the wrong way"));
        }
        check_attributes(name, attributes, &mut seen)?;
        seen.elements += 1;
        if !is_empty {
            open.push(name.to_owned());
            seen.depth = seen.depth.max(open.len());
            if name == "a" && open.iter().filter(|name| *name == "a").count() > 1 {
                return Err("a link in a link".into());
            }
        }
    }
    seen.text.push_str(&decode(rest)?);
    if open.is_empty() { Ok(seen) } else { Err(format!("{open:?} are left open")) }
}

fn check_attributes(element: &str, mut rest: &str, seen: &mut ParsedMarkup) -> Result<(), String> {
    let allowed = match ELEMENTS.iter().find(|(name, _)| *name == element) {
        Some((_, attributes)) => *attributes,
        None if MATH.contains(&element) => MATH_ATTRIBUTES,
        None => return Err(format!("<{element}> is not allowed")),
    };
    let mut names = Vec::new();
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").ok_or_else(|| format!("<{element} … {rest}"))?;
        let (value, after) = after.split_once('"').ok_or_else(|| format!("<{element} {name}=…"))?;
        rest = after.strip_prefix(' ').unwrap_or(after);
        let value = decode(value)?;
        if !allowed.contains(&name) || names.contains(&name) {
            return Err(format!("<{element} {name}> is not allowed"));
        }
        names.push(name);
        let fits = match name {
            "class" if MATH.contains(&element) => {
                value.split(' ').all(|class| ["menv-", "cell-", "mop-"].iter().any(|known| class.starts_with(known)))
            }
            "class" => value.split(' ').all(|class| CLASSES.contains(&class)),
            "dir" => matches!(&*value, "auto" | "ltr"),
            "href" => {
                seen.links.push(value.clone());
                ["http://", "https://", "mailto:", "#source-", "#note-", "#noted-"]
                    .iter()
                    .any(|start| value.starts_with(start))
            }
            "rel" => matches!(&*value, "noopener noreferrer nofollow" | "external"),
            "target" => value == "_blank",
            "id" => ["note-", "noted-"].iter().any(|start| value.starts_with(start)),
            "open" => value.is_empty(),
            "type" => value == "button",
            "role" => matches!(&*value, "group" | "img"),
            "tabindex" => value == "0",
            "scope" => value == "col",
            "start" => value.parse::<u64>().is_ok(),
            _ => true,
        };
        if !fits {
            return Err(format!("<{element} {name}=\"{value}\">"));
        }
    }
    Ok(())
}

/// Resolves the entities that the writer knows; any other ampersand, quote or bracket is an error.
fn decode(text: &str) -> Result<String, String> {
    if text.contains(['<', '>', '"', '\'']) || text.contains(|c: char| c.is_ascii_control() && !"\n\t".contains(c)) {
        return Err(format!("not escaped: {text:?}"));
    }
    let mut decoded = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        let end = rest[at..].find(';').ok_or_else(|| format!("a bare ampersand: {text:?}"))? + at;
        decoded.push(match &rest[at..=end] {
            "&amp;" => '&',
            "&lt;" => '<',
            "&gt;" => '>',
            "&quot;" => '"',
            "&#39;" => '\'',
            "&#13;" => '\r',
            other => return Err(format!("an entity that we do not write: {other}")),
        });
        rest = &rest[end + 1..];
    }
    decoded.push_str(rest);
    Ok(decoded)
}

#[test]
fn strict_parser_refuses_forbidden_markup() {
    for bad in [
        "<script>",
        "<p onclick=\"x\"></p>",
        "<a href=\"javascript:x\">a</a>",
        "<img src=\"x\">",
        "<p></em></p>",
        "<p>",
        "</p>",
        "a & b",
        "<p class=\"other\"></p>",
        "<p dir=\"auto\" dir=\"auto\"></p>",
        "a \u{0} b",
        "<p dir=auto></p>",
        "<div style=\"x\"></div>",
        "&nbsp;",
        "<math href=\"https://a.test\"></math>",
        "<mi style=\"color: red\">x</mi>",
    ] {
        assert!(parse_allowed(bad).is_err(), "{bad}");
    }
}
