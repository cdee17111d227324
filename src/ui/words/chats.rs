//! What the list of chats says: its headings, and what is done with a chat of it.

use crate::domain::chat::Heading;
use crate::ui::locale::{said, word, words};

words! {
    pin: "Pin", "置顶";
    unpin: "Unpin", "取消置顶";
    archive: "Archive", "归档";
    all_chats: "All chats", "全部对话";
    /// Beside a chat of the archive.
    in_archive: "archived", "已归档";
    pinned_now: "Pinned.", "已置顶。";
    unpinned_now: "No longer pinned.", "已取消置顶。";
    archived_can_undo: "Archived. Undo available.", "已归档，可撤销。";
    back_in_list: "Back in the list.", "已移回列表。";
}

/// Of a year, in their order.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// What stands over the chats of a part of the list.
pub fn heading(heading: Heading) -> String {
    let month = |year: u32, month: u32| {
        let name = (month as usize).checked_sub(1).and_then(|at| MONTHS.get(at)).copied().unwrap_or_default();
        said!("{name} {year}", "{year}年{month}月")
    };
    let word = match heading {
        Heading::Pinned => word("Pinned", "已置顶"),
        Heading::Today => word("Today", "今天"),
        Heading::Yesterday => word("Yesterday", "昨天"),
        Heading::Week => word("Previous 7 days", "过去 7 天"),
        Heading::Month => word("Previous 30 days", "过去 30 天"),
        Heading::Of(year, number) => return month(year, number),
    };
    word.to_owned()
}

/// What could not be done with a chat, and why.
pub fn not_done(title: &str, why: &str) -> String {
    said!("“{title}”: {why}", "“{title}”：{why}")
}

/// The note about a chat that went to the archive.
pub fn archived(title: &str) -> String {
    said!("Archived “{title}”.", "已归档“{title}”。")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::Locale;

    #[test]
    fn months_have_their_names() {
        assert_eq!(heading(Heading::Of(2026, 1)), "January 2026");
        assert_eq!(heading(Heading::Of(2025, 12)), "December 2025");
        assert_eq!(crate::ui::locale::speak(Locale::Chinese, || heading(Heading::Of(2025, 12))), "2025年12月");
    }
}
