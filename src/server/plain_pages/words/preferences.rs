//! The words of the pages "General", "Appearance", "Shortcuts" and "About", in both languages.

use crate::ui::keymap::Refused;
use crate::ui::locale::{said, word, words};
use crate::ui::preferences::Setting;
use crate::ui::words::keys::does as does_of;

words! {
    general: "General", "常规";
    appearance: "Appearance", "外观";
    shortcuts: "Shortcuts", "快捷键";
    about: "About", "关于";
    of_this_browser: "Kept in this browser. Each choice holds at once.", "保存在此浏览器中，选择后立即生效。";
    language: "Language", "语言";
    language_hint: "Of the pages. Models answer in the language that you write in.", "指界面的语言。模型会用你所用的语言回答。";
    language_of_browser: "As the browser", "跟随浏览器";
    saved: "Saved.", "已保存。";
    notify_refused: "The browser does not allow notifications from this site. Allow them in its settings for the site first.", "浏览器不允许本站发送通知，请先在浏览器的网站设置中允许。";
    keys: "Keys", "按键";
    does: "What they do", "作用";
    new_keys: "New keys", "新按键";
    usual_keys: "Usual keys", "恢复默认";
    no_keys: "No keys", "不用按键";
    all_usual: "All usual keys", "全部恢复默认";
    keys_how: "Write keys as Ctrl+Shift+K, Alt+Up or F8. What is kept in this browser holds from the next page on.", "按键写法如 Ctrl+Shift+K、Alt+Up 或 F8。设置保存在此浏览器中，从下一个页面起生效。";
    fixed_keys: "Keys that stay as they are", "固定的按键";
    none: "none", "无";
    changed: "changed", "已更改";
    on_a_mac: "On a Mac, ⌘ stands for Ctrl.", "在 Mac 上用 ⌘ 代替 Ctrl。";
    about_lead: "Self-hosted chat for every LLM: a conversation is a tree, and what a model thought, called and said is kept as it happened.", "可自行部署、适用于各种大模型的对话应用：每个对话都是一棵树，模型的思考、调用和回答都原样保存。";
    version: "Version", "版本";
    build: "Assets", "资源版本";
    database: "Database", "数据库";
    health: "Health", "运行状况";
    health_what: "For monitoring: whether this server answers and can reach its database.", "供监控使用：服务器是否应答、能否访问数据库。";
    api: "HTTP API", "HTTP API";
    gallery: "Gallery", "组件陈列";
    licence: "Licence", "许可证";
}

/// What is chosen.
pub fn name(setting: Setting) -> &'static str {
    match setting {
        Setting::Theme => word("Theme", "主题"),
        Setting::Sidebar => word("List of chats", "对话列表"),
        Setting::TextSize => word("Text size", "文字大小"),
        Setting::Density => word("Spacing", "间距"),
        Setting::Code => word("Long lines of code", "较长的代码行"),
        Setting::Motion => word("Motion", "动效"),
        Setting::Reasoning => word("Reasoning", "思考过程"),
        Setting::Send => word("A message is sent with", "发送消息"),
        Setting::Letters => word("Letters as shortcuts", "单字母快捷键"),
        Setting::Announced => word("Told to a screen reader", "屏幕阅读器播报"),
        Setting::Notify => word("System notifications", "系统通知"),
    }
}

/// What it is about, where the name does not say it.
pub fn hint(setting: Setting) -> Option<&'static str> {
    Some(match setting {
        Setting::Reasoning => word(
            "“While it is written” closes it when the reply goes on, unless you opened it yourself.",
            "“生成时展开”会在回复继续后自动收起，除非你手动展开过。",
        ),
        Setting::Send => word(
            "Ctrl+Enter always sends, and on a touch keyboard Enter is always a new line.",
            "Ctrl+Enter 始终可以发送；在触屏键盘上，回车始终换行。",
        ),
        Setting::Letters => word(
            "On a focused message, single keys edit it, try again, branch, copy, open the reasoning, or go to the message box. Shortcuts lists them.",
            "焦点在消息上时，单个字母可编辑、重试、新建分支、复制、展开思考过程；单个符号可跳到输入框。具体按键见“快捷键”。",
        ),
        Setting::Motion => {
            word("The system's wish for less motion is always followed.", "系统要求减少动效时始终遵从。")
        }
        Setting::Announced => word("Errors and questions are always told.", "错误和需要你处理的请求始终会播报。"),
        Setting::Notify => word(
            "That a reply ended or waits for you, while no page of Turnleaf is seen. They name the chat, never what is in it. The browser asks you first.",
            "在看不到 Turnleaf 页面时，告知回复已结束或等你处理。通知只显示对话标题，不显示内容。浏览器会先征求你的同意。",
        ),
        _ => return None,
    })
}

/// The name of the field of a command's keys.
pub fn keys_of(does: &str) -> String {
    said!("Keys for: {does}", "按键：{does}")
}

/// Why a command cannot have keys.
pub fn keys_refused(why: Refused) -> String {
    let word = match why {
        Refused::Unreadable => word(
            "These are no keys that Turnleaf knows. Write them as Ctrl+Shift+K, Alt+Up or F8.",
            "无法识别这些按键。请写成 Ctrl+Shift+K、Alt+Up 或 F8 的形式。",
        ),
        Refused::Bare => word(
            "This works where you type, too: take Ctrl or Alt along, or a key such as F8.",
            "此功能在输入文字时也有效：请加上 Ctrl 或 Alt，或使用 F8 之类的按键。",
        ),
        Refused::OfBrowser => word("Browsers keep these keys for themselves.", "这些按键由浏览器占用。"),
        Refused::OfText => word("Texts need these keys.", "编辑文字需要这些按键。"),
        Refused::Taken(other) => {
            let other = does_of(other);
            return said!("These keys do something else already: {other}.", "这些按键已有其他作用：{other}。");
        }
    };
    word.to_owned()
}

/// One of the values of a setting.
pub fn value(setting: Setting, value: &str) -> String {
    let word = match (setting, value) {
        (Setting::Theme, theme) => crate::ui::words::theme(theme),
        (Setting::TextSize, size) => return said!("{size} px", "{size} 像素"),
        (Setting::Sidebar, "closed") => word("Hidden", "隐藏"),
        (Setting::Sidebar, _) => word("Shown", "显示"),
        (Setting::Density, "compact") => word("Compact", "紧凑"),
        (Setting::Density, _) => word("Roomy", "宽松"),
        (Setting::Code, "wrap") => word("Wrapped", "自动换行"),
        (Setting::Code, _) => word("Scrolled", "横向滚动"),
        (Setting::Motion, "reduced") => word("Less", "减少"),
        (Setting::Motion, _) => word("As the system", "跟随系统"),
        (Setting::Reasoning, "open") => word("Always open", "始终展开"),
        (Setting::Reasoning, "closed") => word("Closed", "始终收起"),
        (Setting::Reasoning, "failure") => word("Also open where a tool failed", "工具失败时也保持展开"),
        (Setting::Reasoning, _) => word("Open while it is written", "生成时展开"),
        (Setting::Send, "ctrl-enter") => word("Ctrl+Enter", "Ctrl+Enter"),
        (Setting::Send, _) => word("Enter", "回车"),
        (Setting::Letters, "off") => word("Off", "关闭"),
        (Setting::Letters, _) => word("On", "开启"),
        (Setting::Announced, "events") => word("Say that a reply came", "仅播报回复完成"),
        (Setting::Announced, "off") => word("Do not read replies", "不播报回复"),
        (Setting::Notify, "on") => word("On", "开启"),
        (Setting::Notify, _) => word("Off", "关闭"),
        (Setting::Announced, _) => word("Read short replies in full", "播报较短的完整回复"),
    };
    word.to_owned()
}
