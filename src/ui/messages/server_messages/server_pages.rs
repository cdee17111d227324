//! Sentences that only server-rendered pages show: notes about files and tools, and why a page could not be shown.

use super::message_pattern::MessagePattern;

pub(super) const SERVER_PAGE_MESSAGES: &[MessagePattern] = &[
    // Notes of the file converter (`turnleaf_convert`).
    ("Page {} without text.", "第 {} 页没有文字。"),
    ("Pages {} without text.", "第 {} 页没有文字。"),
    ("Page {} could not be read.", "第 {} 页无法读取。"),
    ("Pages {} could not be read.", "第 {} 页无法读取。"),
    ("A picture in it was left out.", "其中的 1 张图片已省略。"),
    ("{} pictures in it were left out.", "其中的 {} 张图片已省略。"),
    ("The sheet “{}” could not be read.", "工作表“{}”无法读取。"),
    ("The sheet “{}” was cut after {} rows.", "工作表“{}”在第 {} 行后截断。"),
    ("Of the sheet “{}” only the first {} columns were read.", "工作表“{}”只读取了前 {} 列。"),
    ("And more of this kind.", "还有更多同类情况。"),
    // Field requirements of the pages about tools and providers.
    ("is not a host such as example.org", "不是有效的主机名，例如 example.org"),
    ("goes with a tool that is asked about for each host", "只适用于按主机询问的工具"),
    ("is a cloud metadata or link-local address, which is never connected to", "是云元数据或链路本地地址，从不连接"),
    // Why a tool is not offered (`service::tools::toolbox::selection`).
    ("You never allow it.", "你已设为从不允许。"),
    ("Its schema cannot be used: {}", "无法使用它的参数结构：{}"),
    ("A model is offered at most {} tools.", "最多向模型提供 {} 个工具。"),
    ("Another tool has this name already.", "已有同名的工具。"),
    ("It is not there now.", "目前不存在。"),
    ("another import is not over yet", "另一个导入尚未完成"),
    ("not everything was deleted; try again", "未能全部删除，请重试"),
    ("everything is being deleted already", "正在删除全部内容"),
    ("replies keep beginning in what is to be deleted", "要删除的内容中不断有新的回复开始"),
    ("this client_request_id was used for another request", "此请求编号已用于另一个请求"),
    ("the form has no such field", "表单中没有此字段"),
    ("the form is broken, or ended too soon", "表单不完整，或传输中断"),
    ("The body took too long to arrive.", "内容传输超时。"),
    ("no server was found there", "该地址没有找到服务器"),
    ("at most {} references", "最多引用 {} 项"),
    ("at most {} blocks", "最多 {} 个部分"),
    ("a reply names no documents", "回复不能引用文档"),
    ("There is nothing here.", "这里什么也没有。"),
    ("This request came from another site.", "此请求来自其他网站。"),
    ("Too many replies run at once.", "同时进行的回复过多。"),
    ("The database is busy.", "数据库繁忙。"),
    (
        "This server does not answer to that name. Its operator can allow it with TURNLEAF_ALLOWED_HOSTS.",
        "此服务器不使用该名称。其管理者可以通过 TURNLEAF_ALLOWED_HOSTS 允许它。",
    ),
];
