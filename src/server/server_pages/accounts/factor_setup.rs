//! The occasion on which a second factor or a passkey is set up, and where its pages stand: the account, or a sign-in that
//! goes on once it is done.

use leptos::prelude::*;

use crate::domain::encoding::url_encoding;
use crate::server::server_pages::PageSection;
use crate::server::server_pages::messages::accounts as words;
use crate::ui::erased::view;

/// The field with the address to which the person returns.
pub const NEXT_FIELD: &str = "next";

/// The occasion on which a second factor or a passkey is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactorSetup {
    /// The person wants one, on the page of the account.
    Voluntary,
    /// It is required before the person goes on to this address.
    Required { next: String },
}

impl FactorSetup {
    /// Returns the section of its pages.
    pub fn section(&self) -> PageSection {
        match self {
            Self::Voluntary => PageSection::Profile,
            Self::Required { .. } => PageSection::PendingStep,
        }
    }

    /// Renders the field that hands the address on to the next page.
    pub(super) fn next_field(&self) -> Option<AnyView> {
        match self {
            Self::Voluntary => None,
            Self::Required { next } => Some(view! { <input type="hidden" name=NEXT_FIELD value=next.clone()/> }),
        }
    }

    /// Renders the link back to the page that offers the setup.
    pub(super) fn way_back(&self) -> AnyView {
        match self {
            Self::Voluntary => view! { <p><a href=PageSection::Profile.path()>{words::back_to_account()}</a></p> },
            Self::Required { next } => {
                let path = PageSection::PendingStep.path();
                let address = format!("{path}?{NEXT_FIELD}={}", url_encoding::encode(next));
                view! { <p><a href=address>{words::sign_in_again()}</a></p> }
            }
        }
    }

    /// Renders the link onward, once it is set up.
    pub(super) fn way_on(&self) -> AnyView {
        match self {
            Self::Voluntary => self.way_back(),
            Self::Required { next } => {
                view! { <div class="deeds"><a class="button primary" href=next.clone()>{words::do_continue()}</a></div> }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_setup_leads_back_and_on() {
        let html = |view: AnyView| view.to_html().replace("<!>", "");
        let required = FactorSetup::Required { next: "/c/1?at=2".into() };
        for (setup, section, back, on) in [
            (FactorSetup::Voluntary, PageSection::Profile, "href=\"/settings/profile\"", "href=\"/settings/profile\""),
            (
                required,
                PageSection::PendingStep,
                "href=\"/finish-sign-in?next=%2Fc%2F1%3Fat%3D2\"",
                "href=\"/c/1?at=2\"",
            ),
        ] {
            let (way_back, way_on) = Owner::new().with(|| (html(setup.way_back()), html(setup.way_on())));
            assert_eq!(setup.section(), section);
            assert!(way_back.contains(back) && way_on.contains(on), "{way_back} {way_on}");
        }
    }
}
