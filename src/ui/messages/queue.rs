//! Messages about queued messages, in both languages.

use super::amounts::number;
use crate::ui::locale::{define_messages, plural_message};

define_messages! {
    queue_message: "Queue message", "加入队列";
    is_queued: "Queued. It will be sent when the reply is complete.", "已加入队列，回复完成后发送。";
    queued: "Queued", "排队中";
    queued_messages: "Queued messages", "排队的消息";
    is_paused: "The queue waits. Send a message now, or edit or cancel it.", "队列已暂停。可以立即发送、编辑或取消消息。";
    send_now: "Send now", "立即发送";
    move_up: "Move up", "上移";
    move_down: "Move down", "下移";
    write_while_running: "Pause refreshing to write a message", "暂停刷新以便输入消息";
}

/// The number of attachments of a queued message.
pub fn attached(count: u64) -> String {
    let many = number(count);
    plural_message!(count; "1 attachment", "{many} attachments"; "{many} 个附件")
}
