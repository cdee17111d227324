//! Messages of the page "Tools" and of a chat's tools page, in both languages.

pub use super::providers::{address, edit, headers, headers_hint, local_no, local_yes, name, network, network_hint};
pub use super::providers::{no_headers, remove, switch_off, switch_on, test, test_and_save, test_result};
pub use super::saved;
use crate::domain::InvalidField;
use crate::domain::approval::ToolApprovalPolicy;
use crate::ui::locale::{define_messages, join_sentences, localized_word, message, plural_message};
pub use crate::ui::messages::palette::chat_tools as of_chat;
use crate::ui::messages::server_messages::localize_field_error;

pub const KIND_HTTP: &str = "HTTP";

define_messages! {
    allowed_here: "Allowed in this chat", "在此对话中允许";
    allowed_here_hint: "These run without a question in this chat.", "这些工具在此对话中无需询问即可运行。";
    ask_again: "Ask again", "恢复询问";
    asks_again: "You will be asked again.", "之后会再次询问你。";
    title: "Tools", "工具";
    lead: "What models may call. A tool that can do something asks you first, unless you say otherwise here. Servers describe their tools themselves: what they say may be wrong, or meant to mislead.", "模型可以调用的工具。会产生实际影响的工具会先征得你的同意，除非你在此另作设定。工具说明由服务器自行提供，可能有误，也可能有意误导。";
    model_provider_tools: "Tools of the model's provider", "模型服务商的工具";
    model_provider_tools_hint: "The provider runs them itself, within its reply, and may charge for them. It does not ask you.", "由服务商在回复过程中自行运行，可能收费，不会征求你的同意。";
    built_in: "Turnleaf's own tools", "Turnleaf 自带的工具";
    servers: "Servers", "服务器";
    no_servers: "No server of tools is connected yet.", "尚未连接工具服务器。";
    add: "Connect a server over HTTP", "通过 HTTP 连接服务器";
    add_hint: "Programs are not connected here: whoever runs this Turnleaf names them in its configuration file, because a program can do whatever this server can.", "程序不在此处连接：由运行此 Turnleaf 的人在配置文件中指定，因为程序能做这台服务器能做的任何事。";
    id: "Short name", "短名称";
    id_hint: "Its tools are called short-name/tool. a-z, 0-9 and -; it cannot be changed. Empty makes it of the name.", "其工具的名称为“短名称/工具”。可用 a-z、0-9 和 -，之后不能更改。留空则由名称生成。";
    address_hint: "The address of its MCP endpoint. It often ends in /mcp.", "其 MCP 端点的地址，通常以 /mcp 结尾。";
    address_clears: "Changing the address clears the headers, unless you enter them with it, and what you said about the tools.", "更改地址会清除请求头（除非同时填写）以及你对工具的设定。";
    headers_again: "Enter the headers again: a page never holds their values.", "请再次输入请求头：页面从不保留其值。";
    program: "Program", "程序";
    set_by: "The configuration file sets this server; it can only be changed there.", "此服务器由配置文件设置，只能在那里更改。";
    kind_program: "A program on this server", "此服务器上的程序";
    kind: "Kind", "类型";
    calls_itself: "Calls itself", "自称";
    log: "What it said beside its answers", "应答之外的输出";
    no_tools: "It has not named any tools yet.", "它尚未提供任何工具。";
    restart: "Begin again", "重新启动";
    cancel: "Cancel", "取消";
    save: "Save", "保存";
    save_policies: "Save what you said", "保存设定";
    when_called: "When a model calls it", "模型调用时";
    arguments: "What it takes", "参数";
    server_description: "Its server says", "服务器声称";
    by_host: "It asks for each host. Hosts that you allowed are listed below; to allow every host at once is not possible.", "每个主机都会询问。已允许的主机列在下方；不能一次允许所有主机。";
    allowed_hosts_hint: "Pages of these hosts, such as example.org, are fetched in every chat without a question. A page that leads to another host is not followed unless that one is allowed too.", "这些主机（如 example.org）的页面在所有对话中无需询问即可获取。跳转到其他主机的页面不会被跟随，除非该主机也已允许。";
    host: "Host", "主机";
    allow_host: "Allow host", "允许主机";
    asks_when_exposed: "It runs without asking until the chat holds text that you did not write: a page, a tool’s result, a web search, an image or a file. Then it asks, because such text may tell the model what to look for.", "对话中出现并非由你撰写的文字（网页、工具结果、网页搜索、图片或文件）之前，无需询问即可运行；之后会询问，因为这类文字可能指使模型查找内容。";
    provider_tools: "Tools that providers run", "由服务商运行的工具";
    provider_tools_hint: "These run at the provider, within its reply. Turnleaf cannot ask you about a single search or page, and sees no address before it is fetched, so no permission on this page applies to them. What they bring counts as text that you did not write. They are off until you switch them on for a chat.", "这些工具在服务商处、于回复过程中运行。Turnleaf 无法就单次搜索或页面询问你，也无法预先看到所访问的地址，因此本页的任何权限都不适用于它们。它们带来的内容视为并非由你撰写。默认关闭，需在对话中开启。";
    changed: "It changed since you allowed it, so it asks again.", "你允许之后它有改动，因此会再次询问。";
    changed_since_trusted: "The configuration file trusts it with another description than the one it has now, so it asks. Read what it says now; to trust it as it is, choose “Always allow”.", "配置文件信任的是它的另一份说明，而不是现在这份，因此会询问。请阅读现在的说明；若信任现状，请选择“始终允许”。";
    trusted: "The configuration file says that it is safe.", "配置文件声明它是安全的。";
    harmless: "It has no effect and reaches nothing, so it runs without asking.", "它没有副作用，也不访问外部，因此无需询问即可运行。";
    new_chats: "In new chats", "在新对话中";
    new_chats_hint: "Ticked tools are offered in chats that begin from now on. Each chat can be changed.", "勾选的工具会提供给今后开始的对话。每个对话可单独更改。";
    whole_server: "All tools of this server, those that it brings later included", "此服务器的所有工具，包括今后新增的";
    cleared: "Saved. The address changed, so the headers and what you said about its tools were cleared.", "已保存。地址已更改，请求头和你对其工具的设定已清除。";
    removed: "Removed.", "已移除。";
    not_saved: "Nothing was saved yet: something needs another look.", "尚未保存，请检查有误之处。";

    // The tools of a chat.
    chat_tools_lead: "What models may call in this chat. A tool asks you first, unless you said otherwise.", "模型在此对话中可以调用的工具。工具会先征得你的同意，除非你另有设定。";
    client: "Tools that a program runs which talks to this chat over the API", "通过 API 与此对话通信的程序所运行的工具";
    left_out: "Not offered", "未提供";
    settings: "What happens when a tool is called is said in the settings.", "工具被调用时如何处理，在设置中指定。";
    to_settings: "Settings of tools", "工具设置";
    for_new: "Other branches keep the tools that they began with; new ones get these, Try again and another model included.", "其他分支沿用开始时的工具；新分支使用这些工具，包括重试和换用其他模型。";
    use_now: "Use these tools from the next message on", "从下一条消息起使用这些工具";
    use_now_running: "The choice is saved for new branches. A reply of this branch is not over, so it keeps its tools; save again when it is.", "选择已为新分支保存。此分支有回复尚未结束，因此沿用原有工具；请在结束后再次保存。";
    takes_none: "This model takes no tools, so none are offered to it.", "此模型不支持工具，因此不会向它提供。";
    none_at_all: "There are no tools to choose from.", "没有可选的工具。";
    from_provider: "Run by the model's provider", "由模型的服务商运行";
}

pub fn policies() -> [(&'static str, &'static str); 3] {
    [
        ("ask", localized_word("Ask me", "询问我")),
        ("allow", localized_word("Always allow", "始终允许")),
        ("never", localized_word("Never", "从不")),
    ]
}

/// Returns the value of a policy in a form.
pub fn policy_value(policy: ToolApprovalPolicy) -> &'static str {
    match policy {
        ToolApprovalPolicy::Ask => "ask",
        ToolApprovalPolicy::Allow => "allow",
        ToolApprovalPolicy::Never => "never",
    }
}

/// Returns the word for the status of a server.
pub fn server_state(state: &str) -> &'static str {
    match state {
        "working" => localized_word("Working", "正常"),
        "starting" => localized_word("Starting", "正在启动"),
        "failed" => localized_word("Not answering", "无应答"),
        "given_up" => localized_word("Given up", "已放弃"),
        "off" => localized_word("Off", "已停用"),
        "headers_unreadable" => localized_word("Headers cannot be opened", "请求头无法解密"),
        _ => localized_word("Not begun", "未启动"),
    }
}

pub fn tools(count: usize) -> String {
    plural_message!(count; "1 tool", "{count} tools"; "{count} 个工具")
}

pub fn allowed_hosts(tool: &str) -> String {
    message!("Hosts that {tool} may reach", "{tool}可以访问的主机")
}

pub fn hidden(count: u32) -> String {
    plural_message!(count; "1 hidden character", "{count} hidden characters"; "{count} 个隐藏字符")
}

pub fn headers_kept(names: &str) -> String {
    message!(
        "Set: {names}. One a line, as Name: value; lines here take the place of all of them.",
        "已设置：{names}。每行一个，格式为 Name: value；在此填写的内容会替换全部请求头。"
    )
}

pub fn edit_title(name: &str) -> String {
    message!("Edit {name}", "编辑 {name}")
}

pub fn remove_description(name: &str) -> String {
    message!(
        "{name} is disconnected. Its headers and what you said about its tools are forgotten; what it said in chats stays.",
        "{name} 将断开连接。它的请求头和你对其工具的设定会被清除，它在对话中留下的内容会保留。"
    )
}

pub fn use_now_hint(branch: &str) -> String {
    message!(
        "For the branch “{branch}”. Its provider then reads the whole conversation anew, which may cost more once.",
        "用于分支“{branch}”。服务商随后会重新读取整个对话，可能产生一次额外费用。"
    )
}

/// Returns the display name of a provider tool.
pub fn provider_tool_name(tool: &str) -> String {
    match tool {
        "web_search" => localized_word("Web search", "网页搜索").to_owned(),
        "code_execution" => localized_word("Running code", "运行代码").to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the reason why a choice was not saved.
pub fn not_saved_because(invalid: &InvalidField) -> String {
    join_sentences(not_saved(), &localize_field_error(&invalid.to_string()))
}
