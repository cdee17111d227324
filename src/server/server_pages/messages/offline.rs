//! Messages of the offline page, in both languages.

use crate::ui::locale::define_messages;

define_messages! {
    title: "You are offline", "你已离线";
    description: "This page is on your Turnleaf server, which cannot be reached now.", "此页面位于你的 Turnleaf 服务器上，目前无法连接。";
    unsent_text: "Replies that were being written go on there. What you wrote and did not send is kept in this browser.", "正在生成的回复会在服务器上继续。你写好但尚未发送的内容保存在此浏览器中。";
    try_again: "Try again", "重试";
}
