//! Formulas as a tree of allowed MathML, given as steps so that nothing is recursive. Producers can use only the
//! listed names: no links, no scripts, no styles.

macro_rules! names {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type { $($variant,)* }

        impl $type {
            /// Returns the MathML name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Parses a name; names that are not on the list are `None`.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

names! {
    /// The elements of MathML Core that a formula can have.
    MathElement {
        Math = "math", Menclose = "menclose", Merror = "merror", Mfrac = "mfrac", Mi = "mi", Mmultiscripts = "mmultiscripts",
        Mn = "mn", Mo = "mo", Mover = "mover", Mpadded = "mpadded", Mphantom = "mphantom", Mprescripts = "mprescripts",
        Mroot = "mroot", Mrow = "mrow", Ms = "ms", Mspace = "mspace", Msqrt = "msqrt", Mstyle = "mstyle", Msub = "msub",
        Msubsup = "msubsup", Msup = "msup", Mtable = "mtable", Mtd = "mtd", Mtext = "mtext", Mtr = "mtr", Munder = "munder",
        Munderover = "munderover", None = "none",
    }
}

names! {
    /// The attributes that they can have.
    MathAttribute {
        Accent = "accent", Accentunder = "accentunder", Class = "class", Columnalign = "columnalign", Columnspan = "columnspan",
        Depth = "depth", Display = "display", Displaystyle = "displaystyle", Fence = "fence", Form = "form", Height = "height",
        Largeop = "largeop", Linethickness = "linethickness", Lspace = "lspace", Mathvariant = "mathvariant",
        Maxsize = "maxsize", Minsize = "minsize", Movablelimits = "movablelimits", Notation = "notation",
        Rowspan = "rowspan", Rspace = "rspace", Scriptlevel = "scriptlevel", Separator = "separator",
        Stretchy = "stretchy", Symmetric = "symmetric", Voffset = "voffset", Width = "width",
    }
}

/// One step of the traversal of a formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MathStep {
    Open(MathElement, Vec<(MathAttribute, String)>),
    Text(String),
    Close,
}

/// The maximum depth of a formula: browsers lay it out recursively.
const DEPTH: usize = 64;
/// The maximum number of steps.
const STEPS: usize = 20_000;

/// A formula.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MathTree {
    steps: Vec<MathStep>,
}

impl MathTree {
    /// Takes the traversal of one `math` element. `None` if it is something else, not closed, too deep or too long.
    /// Attributes whose values are neither words nor lengths are dropped.
    pub fn new(mut steps: Vec<MathStep>) -> Option<Self> {
        if steps.len() > STEPS {
            return None;
        }
        let mut depth = 0_usize;
        let last = steps.len().checked_sub(1)?;
        for (at, step) in steps.iter_mut().enumerate() {
            match step {
                MathStep::Open(element, attributes) => {
                    if (depth == 0) != (*element == MathElement::Math) || (depth == 0 && at != 0) {
                        return None;
                    }
                    depth += 1;
                    attributes.retain_mut(|(attribute, value)| allow_value(*attribute, value));
                }
                MathStep::Text(_) if depth == 0 => return None,
                MathStep::Text(_) => {}
                MathStep::Close => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 && at != last {
                        return None;
                    }
                }
            }
            if depth > DEPTH {
                return None;
            }
        }
        (depth == 0).then_some(Self { steps })
    }

    /// Returns the traversal.
    pub(super) fn steps(&self) -> &[MathStep] {
        &self.steps
    }
}

/// Returns whether a value is allowed. Of classes, those of formulas stay.
fn allow_value(attribute: MathAttribute, value: &mut String) -> bool {
    if attribute == MathAttribute::Class {
        let known: Vec<&str> = value
            .split_ascii_whitespace()
            .filter(|class| ["menv-", "cell-", "mop-"].iter().any(|known| class.starts_with(known)))
            .collect();
        *value = known.join(" ");
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'.' | b'-' | b'+' | b'%');
    !value.is_empty() && value.len() <= 128 && value.bytes().all(allowed)
}
