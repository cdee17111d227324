//! Messages of the page of notifications, in both languages.

use crate::ui::locale::define_messages;

define_messages! {
    nothing: "No notifications. Replies that finish while you are away, replies that need your input, and finished \
        imports appear here.", "没有通知。离开期间完成的回复、等你处理的回复以及已结束的导入会出现在这里。";
    mark_all_read: "Mark all as read", "全部标为已读";
    all_read: "Everything is marked as read.", "已全部标为已读。";
    is_new: "new", "新";
    import: "Import", "导入";
    provider: "Provider", "服务商";
    reply: "Reply", "回复";
}
