//! Messages of the page of a suggested title, and of the form that asks for one, in both languages.

use crate::ui::locale::{define_messages, message};
use turnleaf_service::turns::generations::GenerationStatus;

pub use crate::ui::messages::chats::{stop_suggesting, suggest_title};

define_messages! {
    title: "Suggested title", "建议的标题";
    hint: "Sends the messages of this branch to its model once, which may cost money. You can change the title before it is \
        saved.", "将此分支的消息发送给它的模型一次，可能产生费用。保存之前可以修改标题。";
    lead: "The model's answer to a separate request. Nothing changes until you rename the chat.", "模型对一次单独请求的回答。重命名对话之前，什么都不会改变。";
    running: "The model has not answered yet.", "模型尚未回答。";
    stopped: "The request was stopped.", "请求已停止。";
    reload: "Reload", "重新加载";
    body: "Request as sent", "发送的请求";
    download_body: "Download the request", "下载请求";
    download_response: "Download the response", "下载响应";
    last_suggestions: "Last suggestions", "最近的建议";
}

/// Returns the name of a suggestion in the list: its title, else what became of it.
pub fn listed(title: Option<&str>, status: GenerationStatus) -> String {
    match (title, status) {
        (Some(title), _) => title.to_owned(),
        (None, GenerationStatus::Running) => running().to_owned(),
        (None, _) => message!("No title", "没有标题"),
    }
}
