//! Sentences that only server-rendered pages show: notes about files and tools, and why a page could not be shown.

use super::message_pattern::MessagePattern;

pub(super) const SERVER_PAGE_MESSAGES: &[MessagePattern] = &[
    // Notes of the file converter (`turnleaf_convert`).
    ("Page {} without text.", "第 {} 页没有文字。"),
    ("Pages {} without text.", "第 {} 页没有文字。"),
    ("Page {} could not be read.", "第 {} 页无法读取。"),
    ("Pages {} could not be read.", "第 {} 页无法读取。"),
    ("A picture in it was left out.", "已跳过其中的 1 张图片。"),
    ("{} pictures in it were left out.", "已跳过其中的 {} 张图片。"),
    ("The sheet “{}” could not be read.", "工作表“{}”无法读取。"),
    ("The sheet “{}” was cut after {} rows.", "工作表“{}”在第 {} 行后截断。"),
    ("Of the sheet “{}” only the first {} columns were read.", "工作表“{}”只读取了前 {} 列。"),
    ("And more of this kind.", "还有更多同类情况。"),
    // Field requirements of the pages about tools and providers.
    ("must be a host such as example.org", "不是有效的主机名，例如 example.org"),
    ("applies only to tools that need approval for each host", "只适用于按主机请求许可的工具"),
    (
        "is a cloud metadata or link-local address; connecting to it is not allowed",
        "是云元数据或链路本地地址，不允许连接",
    ),
    // Why a tool is not offered (`service::tools::toolbox::selection`).
    ("You set it to never run.", "你已设为从不运行。"),
    ("It cannot be used: {}.", "无法使用：{}。"),
    ("Its schema is invalid: {}", "它的参数结构无效：{}"),
    ("At most {} tools can be offered to a model.", "最多向模型提供 {} 个工具。"),
    ("Another tool already has this name.", "已有同名的工具。"),
    ("It is not available right now.", "目前不可用。"),
    ("another import is still running", "另一个导入仍在进行"),
    ("some items could not be deleted; try again", "未能全部删除，请重试"),
    ("everything is already being deleted", "正在删除全部内容"),
    ("new replies keep starting in the chats to be deleted; try again", "要删除的对话中不断有新的回复开始，请重试"),
    ("this client_request_id was already used for a different request", "此请求编号已用于另一个请求"),
    ("the form has an unknown field", "表单含有未知字段"),
    ("the form is malformed or incomplete", "表单格式错误或不完整"),
    ("The request took too long to arrive.", "请求传输超时。"),
    ("no server was found at this address", "该地址没有找到服务器"),
    ("at most {} references", "最多引用 {} 项"),
    ("at most {} blocks", "最多 {} 个部分"),
    ("a reply cannot reference documents", "回复不能引用文档"),
    ("It does not exist, or you do not have access to it.", "此内容不存在，或你无权访问。"),
    ("This request came from another site.", "此请求来自其他网站。"),
    ("Too many replies are running at once.", "同时进行的回复过多。"),
    ("The database is busy.", "数据库繁忙。"),
    (
        "This server does not accept this host name. Its operator can allow it with TURNLEAF_ALLOWED_HOSTS.",
        "此服务器不接受该主机名。管理员可以通过 TURNLEAF_ALLOWED_HOSTS 允许它。",
    ),
];
