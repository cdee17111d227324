//! Messages of the page "Insert from a server", in both languages.

use crate::ui::locale::{define_messages, message};

define_messages! {
    title: "Insert from a server", "从服务器插入";
    lead: "Resources are attached to your message, prompts are added to its text. Nothing is sent until you send it. \
        All of this comes from the servers and may be wrong or misleading.", "资源会附加到你的消息，提示词会加入消息文字。在你发送之前，什么都不会发出。这些内容均来自服务器，可能有误，也可能有误导性。";
    no_servers: "No tool server is connected.", "尚未连接工具服务器。";
    connect: "Connect a tool server", "连接工具服务器";
    nothing: "It offers no resources and no prompts.", "它不提供资源或提示词。";
    resources: "Resources", "资源";
    templates: "Resources with parameters", "带参数的资源";
    prompts: "Prompts", "提示词";
    attach: "Attach", "附加";
    view: "View", "查看";
    insert: "Insert", "插入";
    suggest: "Suggest values", "获取建议值";
    suggested: "Choose a suggested value in the field, or type another one.", "可在输入框中选择建议值，或输入其他值。";
    none_suggested: "The server suggests no values.", "服务器没有提供建议值。";
    address: "Address", "地址";
    template_hint: "Replace each part in braces.", "请替换每个花括号中的部分。";
    not_read_yet: "Opening this asks the server for its content.", "打开此资源时，将向服务器请求其内容。";
    image: "This is an image or another file. Attach it to see it.", "这是图片或其他文件，附加后即可查看。";
}

/// The number of a question before a prompt.
pub fn question_place(at: usize, of: usize) -> String {
    message!("Question {at} of {of}", "第 {at} 个问题，共 {of} 个")
}

/// The warning at a question before a prompt: who gets the answer, and what must not be entered.
pub fn answer_goes_to(server: &str) -> String {
    message!(
        "Your answer goes to the tool server “{server}”, which then writes the prompt. Don’t enter passwords or other \
        secrets.",
        "你的回答会发给工具服务器“{server}”，由它据此写出提示词。请勿填写密码或其他机密。"
    )
}

/// The title of the page of a resource.
pub fn resource_of(server: &str) -> String {
    message!("Resource of “{server}”", "“{server}”的资源")
}
