//! Messages of the error page, in both languages.

use crate::ui::locale::{define_messages, message};

define_messages! {
    missing: "This page does not exist, or you do not have access to it.", "此页面不存在，或你无权访问。";
    missing_hint: "Check the address. Deleted items stay in Trash for 30 days.", "请检查地址。已删除的内容会在回收站保留 30 天。";
    sign_in_needed: "Sign-in required", "需要登录";
    sign_in_hint: "Sign in, then open this page again.", "请登录后再打开此页面。";
    refused: "Not allowed", "不允许";
    refused_description: "The server rejected this request.", "服务器拒绝了此请求。";
    refused_hint: "Open the page on this site and try again there.", "请从本站打开页面并在其中操作。";
    not_done: "Request failed", "请求失败";
    not_here: "This address does not support that action.", "此地址不支持该操作。";
    changed: "This content changed after the page was loaded.", "页面加载后内容有了变化。";
    changed_hint: "Reload the page, review the current content, and try again.", "请重新加载页面，查看当前内容后再试。";
    too_large: "The request is too large.", "请求内容过大。";
    too_large_hint: "Go back and shorten it, or send it in several parts.", "请返回并缩小内容，或分几次发送。";
    not_now: "Temporarily unavailable", "暂时不可用";
    busy: "The server is busy.", "服务器繁忙。";
    busy_hint: "Wait a moment and try again.", "请稍候再试。";
    full_hint: "Nothing was lost. The server's administrator needs to free disk space.", "没有内容丢失。需要服务器管理员清理磁盘空间。";
    quota_hint: "Nothing was lost. Items in Trash count until you empty it. See Settings › Data for your usage.",
        "没有内容丢失。回收站中的内容在清空前仍计入用量；可在“设置 › 数据”中查看用量。";
    budget_hint: "Nothing was sent. Wait until the budget resets, or ask an administrator for a larger one.",
        "未发送任何内容。请等到预算重置，或请管理员提高预算。";
    not_understood: "The server could not read the request.", "服务器无法读取此请求。";
    not_understood_hint: "Go back: your input is still there. Change it and send it again.", "请返回，你输入的内容仍在那里。修改后重新发送。";
    server_failed: "Something went wrong on this server.", "服务器出错了。";
    server_failed_hint: "Try again. If the problem persists, send the request ID below to the server's administrator.",
        "请重试。如果问题依旧，请把下方的请求编号发给服务器管理员。";
    request_id: "Request ID:", "请求编号：";
    to_chats: "Go to chats", "返回对话";
    submitted_text: "Your input", "你输入的内容";
    submitted_text_hint: "Not saved. You can copy it from here.", "尚未保存，可以从这里复制。";
}

/// Returns the label of the link back.
pub fn back_to(page: &str) -> String {
    message!("Back to {page}", "返回“{page}”")
}
