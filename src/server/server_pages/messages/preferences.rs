//! Messages of the pages "General", "Appearance", "Shortcuts" and "About", in both languages.

use crate::ui::keymap::ChordRejection;
use crate::ui::locale::{define_messages, localized_word, message};
use crate::ui::messages::keys::command_description as does_of;
use crate::ui::preferences::PreferenceSetting;

define_messages! {
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
    command_label: "What they do", "作用";
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
    health_hint: "For monitoring: whether this server answers and can reach its database.", "供监控使用：服务器是否应答、能否访问数据库。";
    api: "HTTP API", "HTTP API";
    gallery: "Gallery", "组件陈列";
    licence: "Licence", "许可证";
}

/// Returns the name of a setting.
pub fn setting_name(setting: PreferenceSetting) -> &'static str {
    match setting {
        PreferenceSetting::Theme => localized_word("Theme", "主题"),
        PreferenceSetting::Sidebar => localized_word("List of chats", "对话列表"),
        PreferenceSetting::TextSize => localized_word("Text size", "文字大小"),
        PreferenceSetting::Density => localized_word("Spacing", "间距"),
        PreferenceSetting::Code => localized_word("Long lines of code", "较长的代码行"),
        PreferenceSetting::Motion => localized_word("Motion", "动效"),
        PreferenceSetting::Reasoning => localized_word("Reasoning", "思考过程"),
        PreferenceSetting::Send => localized_word("A message is sent with", "发送消息"),
        PreferenceSetting::Letters => localized_word("Letters as shortcuts", "单字母快捷键"),
        PreferenceSetting::Announced => localized_word("Told to a screen reader", "屏幕阅读器播报"),
        PreferenceSetting::Notify => localized_word("System notifications", "系统通知"),
    }
}

/// Returns the hint of a setting whose name does not explain it.
pub fn setting_hint(setting: PreferenceSetting) -> Option<&'static str> {
    Some(match setting {
        PreferenceSetting::Reasoning => localized_word(
            "“While it is written” closes it when the reply goes on, unless you opened it yourself.",
            "“生成时展开”会在回复继续后自动收起，除非你手动展开过。",
        ),
        PreferenceSetting::Send => localized_word(
            "Ctrl+Enter always sends, and on a touch keyboard Enter is always a new line.",
            "Ctrl+Enter 始终可以发送；在触屏键盘上，回车始终换行。",
        ),
        PreferenceSetting::Letters => localized_word(
            "On a focused message, single keys edit it, try again, branch, copy, open the reasoning, or go to the message box. Shortcuts lists them.",
            "焦点在消息上时，单个字母可编辑、重试、新建分支、复制、展开思考过程；单个符号可跳到输入框。具体按键见“快捷键”。",
        ),
        PreferenceSetting::Motion => {
            localized_word("The system's wish for less motion is always followed.", "系统要求减少动效时始终遵从。")
        }
        PreferenceSetting::Announced => {
            localized_word("Errors and questions are always told.", "错误和需要你处理的请求始终会播报。")
        }
        PreferenceSetting::Notify => localized_word(
            "That a reply ended or waits for you, while no page of Turnleaf is seen. They name the chat, never what is in it. The browser asks you first.",
            "在看不到 Turnleaf 页面时，告知回复已结束或等你处理。通知只显示对话标题，不显示内容。浏览器会先征求你的同意。",
        ),
        _ => return None,
    })
}

/// Returns the label of the field of a command's keys.
pub fn command_keys_label(does: &str) -> String {
    message!("Keys for: {does}", "按键：{does}")
}

/// Returns the reason why a command cannot have these keys.
pub fn keys_refused(why: ChordRejection) -> String {
    let word = match why {
        ChordRejection::Unreadable => localized_word(
            "These are no keys that Turnleaf knows. Write them as Ctrl+Shift+K, Alt+Up or F8.",
            "无法识别这些按键。请写成 Ctrl+Shift+K、Alt+Up 或 F8 的形式。",
        ),
        ChordRejection::Bare => localized_word(
            "This works where you type, too: take Ctrl or Alt along, or a key such as F8.",
            "此功能在输入文字时也有效：请加上 Ctrl 或 Alt，或使用 F8 之类的按键。",
        ),
        ChordRejection::ReservedByBrowser => {
            localized_word("Browsers keep these keys for themselves.", "这些按键由浏览器占用。")
        }
        ChordRejection::NeededForText => localized_word("Texts need these keys.", "编辑文字需要这些按键。"),
        ChordRejection::Taken(other) => {
            let other = does_of(other);
            return message!("These keys do something else already: {other}.", "这些按键已有其他作用：{other}。");
        }
    };
    word.to_owned()
}

/// Returns the name of a setting's value.
pub fn setting_value(setting: PreferenceSetting, value: &str) -> String {
    let word = match (setting, value) {
        (PreferenceSetting::Theme, theme) => crate::ui::messages::theme(theme),
        (PreferenceSetting::TextSize, size) => return message!("{size} px", "{size} 像素"),
        (PreferenceSetting::Sidebar, "closed") => localized_word("Hidden", "隐藏"),
        (PreferenceSetting::Sidebar, _) => localized_word("Shown", "显示"),
        (PreferenceSetting::Density, "compact") => localized_word("Compact", "紧凑"),
        (PreferenceSetting::Density, _) => localized_word("Roomy", "宽松"),
        (PreferenceSetting::Code, "wrap") => localized_word("Wrapped", "自动换行"),
        (PreferenceSetting::Code, _) => localized_word("Scrolled", "横向滚动"),
        (PreferenceSetting::Motion, "reduced") => localized_word("Less", "减少"),
        (PreferenceSetting::Motion, _) => localized_word("As the system", "跟随系统"),
        (PreferenceSetting::Reasoning, "open") => localized_word("Always open", "始终展开"),
        (PreferenceSetting::Reasoning, "closed") => localized_word("Closed", "始终收起"),
        (PreferenceSetting::Reasoning, "failure") => {
            localized_word("Also open where a tool failed", "工具失败时也保持展开")
        }
        (PreferenceSetting::Reasoning, _) => localized_word("Open while it is written", "生成时展开"),
        (PreferenceSetting::Send, "ctrl-enter") => localized_word("Ctrl+Enter", "Ctrl+Enter"),
        (PreferenceSetting::Send, _) => localized_word("Enter", "回车"),
        (PreferenceSetting::Letters, "off") => localized_word("Off", "关闭"),
        (PreferenceSetting::Letters, _) => localized_word("On", "开启"),
        (PreferenceSetting::Announced, "events") => localized_word("Say that a reply came", "仅播报回复完成"),
        (PreferenceSetting::Announced, "off") => localized_word("Do not read replies", "不播报回复"),
        (PreferenceSetting::Notify, "on") => localized_word("On", "开启"),
        (PreferenceSetting::Notify, _) => localized_word("Off", "关闭"),
        (PreferenceSetting::Announced, _) => localized_word("Read short replies in full", "播报较短的完整回复"),
    };
    word.to_owned()
}
