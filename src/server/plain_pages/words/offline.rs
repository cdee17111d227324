//! The words of the page for when there is no network.

pub const TITLE: &str = "You are offline";
pub const WHAT: &str = "This page is on your Turnleaf server, which cannot be reached now.";
pub const KEPT: &str =
    "Replies that were being written go on there. What you wrote and did not send is kept in this browser.";
pub const TRY_AGAIN: &str = "Try again";
