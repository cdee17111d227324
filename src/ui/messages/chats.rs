//! Messages of the chat list: its headings, and the actions on a chat.

use crate::domain::chats::chat::ChatListHeading;
use crate::ui::locale::{define_messages, localized_word, message};

define_messages! {
    pin: "Pin", "置顶";
    unpin: "Unpin", "取消置顶";
    archive: "Archive", "归档";
    mark_unread: "Mark as unread", "标为未读";
    unread_now: "Marked as unread.", "已标为未读。";
    all_chats: "All chats", "全部对话";
    projects: "Projects", "项目";
    move_to_project: "Move to project", "移动到项目";
    /// The mark beside an archived chat.
    in_archive: "archived", "已归档";
    pinned_now: "Pinned.", "已置顶。";
    unpinned_now: "Unpinned.", "已取消置顶。";
    archived_can_undo: "Archived. Undo available.", "已归档，可撤销。";
    back_in_list: "Unarchived.", "已取消归档。";
    suggest_title: "Suggest a title", "建议标题";
    suggesting_title: "Suggesting a title…", "正在建议标题…";
    stop_suggesting: "Stop suggesting a title", "停止建议标题";
    suggestion_stopped: "The title suggestion was stopped.", "已停止建议标题。";
}

/// The months in order.
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

/// The heading of a section of the list.
pub fn heading(heading: ChatListHeading) -> String {
    let month = |year: u32, month: u32| {
        let name = (month as usize).checked_sub(1).and_then(|at| MONTHS.get(at)).copied().unwrap_or_default();
        message!("{name} {year}", "{year}年{month}月")
    };
    let word = match heading {
        ChatListHeading::Pinned => localized_word("Pinned", "已置顶"),
        ChatListHeading::Today => localized_word("Today", "今天"),
        ChatListHeading::Yesterday => localized_word("Yesterday", "昨天"),
        ChatListHeading::Week => localized_word("Previous 7 days", "过去 7 天"),
        ChatListHeading::Month => localized_word("Previous 30 days", "过去 30 天"),
        ChatListHeading::YearMonth(year, number) => return month(year, number),
    };
    word.to_owned()
}

/// A failed action on a chat, with the reason.
pub fn not_done(title: &str, reason: &str) -> String {
    message!("“{title}”: {reason}", "“{title}”：{reason}")
}

/// The toast after a suggested title became the title.
pub fn renamed_to(title: &str) -> String {
    message!("Renamed to “{title}”.", "已重命名为“{title}”。")
}

/// The toast after archiving a chat.
pub fn archived(title: &str) -> String {
    message!("Archived “{title}”.", "已归档“{title}”。")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::Locale;

    #[test]
    fn months_have_their_names() {
        assert_eq!(heading(ChatListHeading::YearMonth(2026, 1)), "January 2026");
        assert_eq!(heading(ChatListHeading::YearMonth(2025, 12)), "December 2025");
        assert_eq!(
            crate::ui::locale::with_locale(Locale::Chinese, || heading(ChatListHeading::YearMonth(2025, 12))),
            "2025年12月"
        );
    }
}
