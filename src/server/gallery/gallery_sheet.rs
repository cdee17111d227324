//! The pages of the gallery by name.

use super::composers::ComposerSample;

/// One page of the gallery. Components that exist once per page, such as the composer, have a page for each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GallerySheet {
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
    ServerPageParts,
    Composer(ComposerSample),
}

impl GallerySheet {
    /// Returns all pages, in their order.
    pub fn all_sheets() -> impl Iterator<Item = Self> {
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
            Self::ServerPageParts,
        ];
        pages.into_iter().chain(ComposerSample::ALL.into_iter().map(Self::Composer))
    }

    /// Returns the last segment of its address.
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
            Self::ServerPageParts => "plain",
            Self::Composer(sample) => sample.name(),
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all_sheets().find(|sheet| sheet.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sheet_name_parses_to_its_sheet() {
        for sheet in GallerySheet::all_sheets() {
            assert_eq!(GallerySheet::parse(sheet.name()), Some(sheet));
        }
        assert_eq!(GallerySheet::parse("nonsense"), None);
    }
}
