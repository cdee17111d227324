//! Messages of the offline page, in both languages.

use crate::ui::locale::define_messages;

define_messages! {
    title: "You are offline", "你已离线";
    description: "This page is on your Turnleaf server, which cannot be reached right now.",
        "此页面位于你的 Turnleaf 服务器上，目前无法连接。";
    unsent_text: "Replies continue to be generated on the server. Unsent messages are saved in this browser.",
        "正在生成的回复会在服务器上继续。尚未发送的消息保存在此浏览器中。";
    try_again: "Retry", "重试";
}
