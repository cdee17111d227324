//! Messages of the confirmation of an external link, in both languages.

use crate::ui::locale::define_messages;

define_messages! {
    title: "Open this link?", "要打开此链接吗？";
    lead: "The reply links to a site you have not mentioned in this chat. Opening it sends the address below to that \
        site, including any data in it.", "回复中的链接指向你在此对话中没有提到过的网站。打开它会把下面的地址发送给该网站，包括写在其中的任何内容。";
    site: "Site", "网站";
    address: "Full address", "完整地址";
    data: "Data in the address", "地址附带的数据";
    open: "Open link", "打开链接";
    stay: "Back to chats", "返回对话列表";
    no_link: "This link cannot be opened from a chat.", "无法从对话中打开此链接。";
}
