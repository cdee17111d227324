//! Messages of the error page, in both languages.

use crate::ui::locale::{define_messages, message};

define_messages! {
    missing: "This does not exist or is not yours.", "它不存在或不属于你。";
    missing_hint: "Check the address. What was deleted lies in Trash for 30 days.", "请检查地址。已删除的内容会在回收站保留 30 天。";
    refused: "Not allowed", "不允许";
    refused_description: "The server refused this.", "服务器拒绝了此操作。";
    refused_hint: "Open the page from this site and do it there.", "请从本站打开页面并在其中操作。";
    not_done: "This could not be done", "无法完成";
    not_here: "This cannot be done at this address.", "此地址无法进行该操作。";
    changed: "Something has changed since the page was loaded.", "页面加载后内容有了变化。";
    changed_hint: "Load the page anew, look at what is there now, and try once more.", "请重新加载页面，查看当前内容后再试。";
    too_large: "This is too large.", "内容过大。";
    too_large_hint: "Go back and make it smaller, or send it in parts.", "请返回并缩小内容，或分几次发送。";
    not_now: "Not at the moment", "暂时无法进行";
    busy: "The server has too much to do at the moment.", "服务器目前过于繁忙。";
    busy_hint: "Wait a moment and try again.", "请稍候再试。";
    full_hint: "Nothing was lost. Whoever runs this server has to make room on its disk.", "没有内容丢失。需要此服务器的管理者腾出磁盘空间。";
    quota_hint: "Nothing was lost. Trash counts until it is emptied; Settings, Data says what is used.", "没有内容丢失。回收站清空前仍计入用量；可在“设置”的“数据”中查看用量。";
    not_understood: "The server could not read what was sent.", "服务器无法读取所发送的内容。";
    not_understood_hint: "Go back: what you typed is still there. Change it and send it again.", "请返回，你输入的内容仍在那里。修改后重新发送。";
    server_failed: "Something went wrong on this server.", "服务器出错了。";
    server_failed_hint: "Try again. If it stays so, tell whoever runs this server the request id below.", "请重试。如果问题依旧，请把下方的请求编号告知此服务器的管理者。";
    request_id: "Request id:", "请求编号：";
    to_chats: "To the chats", "返回对话";
    submitted_text: "What you wrote", "你输入的内容";
    submitted_text_hint: "It was not saved. Copy it from here.", "尚未保存，可以从这里复制。";
}

/// Returns the label of the link back.
pub fn back_to(page: &str) -> String {
    message!("Back to {page}", "返回“{page}”")
}
