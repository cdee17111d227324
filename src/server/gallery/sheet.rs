//! The pages of the gallery, by their names.

use super::composers::Standing;

/// One page of the gallery. Parts of which a page has only one, such as the composer, have a page for each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sheet {
    Basics,
    Parts,
    Writing,
    Reasoning,
    Tools,
    Results,
    Failures,
    Chat,
    Lists,
    Menus,
    Plain,
    Composer(Standing),
}

impl Sheet {
    /// All of them, in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        let pages = [
            Self::Basics,
            Self::Parts,
            Self::Writing,
            Self::Reasoning,
            Self::Tools,
            Self::Results,
            Self::Failures,
            Self::Chat,
            Self::Lists,
            Self::Menus,
            Self::Plain,
        ];
        pages.into_iter().chain(Standing::ALL.into_iter().map(Self::Composer))
    }

    /// The last part of its address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basics => "basics",
            Self::Parts => "parts",
            Self::Writing => "writing",
            Self::Reasoning => "reasoning",
            Self::Tools => "tools",
            Self::Results => "results",
            Self::Failures => "failures",
            Self::Chat => "chat",
            Self::Lists => "lists",
            Self::Menus => "menus",
            Self::Plain => "plain",
            Self::Composer(standing) => standing.name(),
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|sheet| sheet.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_pages() {
        for sheet in Sheet::all() {
            assert_eq!(Sheet::parse(sheet.name()), Some(sheet));
        }
        assert_eq!(Sheet::parse("nonsense"), None);
    }
}
