//! The small components that every screen is built from. They know nothing of chats; callers provide their text.

pub mod combobox;
pub mod dialog;
pub mod failure_panel;
pub mod icon;
pub mod installable;
pub mod link;
pub mod loading;
pub mod menu;
pub mod reference;
pub mod toast;

pub use combobox::Combobox;
pub use dialog::Dialog;
pub use failure_panel::{FailurePanel, FailureSignal, RetryableFailure};
pub use icon::Icon;
pub use installable::installable;
pub use loading::Loading;
pub use menu::Menu;
pub use reference::reference_chip;
pub use toast::{Toasts, provide_toasts};
