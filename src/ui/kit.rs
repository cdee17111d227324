//! The small parts every screen is made of. They know nothing of chats; what a part says comes from its caller.

pub mod dialog;
pub mod icon;
pub mod menu;
pub mod toast;

pub use dialog::Dialog;
pub use icon::Icon;
pub use menu::Menu;
pub use toast::{Toasts, provide_toasts};
