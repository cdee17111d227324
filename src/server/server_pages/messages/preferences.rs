//! Messages of the pages "General", "Appearance", "Shortcuts" and "About", in both languages.

use crate::ui::keymap::ChordRejection;
use crate::ui::locale::{define_messages, localized_word, message};
use crate::ui::messages::keys::command_description as does_of;
use crate::ui::preferences::PreferenceSetting;

define_messages! {
    group_you: "You", "个人";
    group_models: "Models", "模型";
    group_data: "Data", "数据";
    group_server: "Server", "服务器";
    general: "General", "常规";
    appearance: "Appearance", "外观";
    shortcuts: "Shortcuts", "快捷键";
    about: "About", "关于";
    of_this_browser: "Saved in this browser. Changes apply immediately.", "保存在此浏览器中，选择后立即生效。";
    language: "Language", "语言";
    language_hint: "Language of the interface. Models reply in the language you write in.", "界面的语言。模型会用你所用的语言回答。";
    language_of_browser: "Browser default", "跟随浏览器";
    saved: "Saved.", "已保存。";
    notify_refused: "Your browser blocks notifications from this site. Allow them in its site settings first.",
        "浏览器不允许本站发送通知，请先在浏览器的网站设置中允许。";
    change: "Change", "更改";
    usual_keys: "Reset to default", "恢复默认";
    no_keys: "Remove shortcut", "移除快捷键";
    all_usual: "Reset all to default", "全部恢复默认";
    keys_hint: "Write keys like Ctrl+Shift+K, Alt+Up or F8. Saved in this browser; changes apply from the next page.", "按键写法如 \
        Ctrl+Shift+K、Alt+Up 或 F8。设置保存在此浏览器中，从下一个页面起生效。";
    fixed_keys: "Fixed shortcuts", "固定的快捷键";
    none: "none", "无";
    changed: "changed", "已更改";
    on_a_mac: "On a Mac, use ⌘ instead of Ctrl.", "在 Mac 上用 ⌘ 代替 Ctrl。";
    about_lead: "Self-hosted chat for every LLM. Each chat is a tree of branches and keeps the model's reasoning, \
        tool calls and replies as they happened.", "可自行部署、适用于各种大模型的对话应用。每个对话都是一棵分支树，并原样保存模型的思考过程、工具调用和回复。";
    version: "Version", "版本";
    build: "Build", "构建编号";
    database: "Database", "数据库";
    health: "Server status", "服务器状态";
    third_party: "Third-party licenses", "第三方许可";
    health_hint: "For monitoring: shows whether the server responds and can reach its database.",
        "供监控使用：显示服务器是否有响应、能否访问数据库。";
    api: "HTTP API", "HTTP API";
    gallery: "Interface samples", "界面示例";
    gallery_hint: "For developers: every part of the interface, with sample data.", "供开发者使用：以示例数据展示界面的各个部分。";
    licence: "License", "许可证";
}

/// Returns the name of a setting.
pub fn setting_name(setting: PreferenceSetting) -> &'static str {
    match setting {
        PreferenceSetting::Theme => localized_word("Theme", "主题"),
        PreferenceSetting::Sidebar => localized_word("Chat list", "对话列表"),
        PreferenceSetting::TextSize => localized_word("Text size", "文字大小"),
        PreferenceSetting::Density => localized_word("Spacing", "间距"),
        PreferenceSetting::Code => localized_word("Long code lines", "较长的代码行"),
        PreferenceSetting::Motion => localized_word("Motion", "动效"),
        PreferenceSetting::Reasoning => localized_word("Reasoning", "思考过程"),
        PreferenceSetting::Send => localized_word("Send messages with", "发送消息"),
        PreferenceSetting::Letters => localized_word("Single-key shortcuts", "单键快捷键"),
        PreferenceSetting::Announced => localized_word("Screen reader announcements", "屏幕阅读器播报"),
        PreferenceSetting::Notify => localized_word("System notifications", "系统通知"),
    }
}

/// Returns the hint of a setting whose name does not explain it.
pub fn setting_hint(setting: PreferenceSetting) -> Option<&'static str> {
    Some(match setting {
        PreferenceSetting::Reasoning => localized_word(
            "“Open while generating” collapses it when the reply continues, unless you opened it yourself.",
            "“生成时展开”会在正文开始后自动收起，除非你手动展开过。",
        ),
        PreferenceSetting::Send => localized_word(
            "Ctrl+Enter always sends. On touch keyboards, Enter always starts a new line.",
            "按 Ctrl+Enter 始终会发送；在触屏键盘上，按 Enter 始终换行。",
        ),
        PreferenceSetting::Letters => localized_word(
            "When a message has focus, single keys edit, retry, branch, copy, open reasoning, or go to the message \
            box. See Shortcuts for the list.",
            "焦点在消息上时，按单个键即可编辑、重试、新建分支、复制、展开思考过程或跳到输入框。具体按键见“快捷键”。",
        ),
        PreferenceSetting::Motion => {
            localized_word("Your system's reduced motion setting always applies.", "系统的“减少动效”设置始终有效。")
        }
        PreferenceSetting::Announced => {
            localized_word("Errors and approval requests are always announced.", "错误和待你批准的请求始终会播报。")
        }
        PreferenceSetting::Notify => localized_word(
            "Notifies you when a reply finishes or needs your input while Turnleaf is not visible. Notifications show \
            the chat's title, never its content. Your browser asks for permission first.",
            "Turnleaf 页面不可见时，在回复结束或等你处理时通知你。通知只显示对话标题，绝不显示内容。浏览器会先请求你的许可。",
        ),
        _ => return None,
    })
}

/// Returns the label of the field of a command's keys.
pub fn command_keys_label(does: &str) -> String {
    message!("Shortcut for: {does}", "快捷键：{does}")
}

/// Returns the reason why a command cannot have these keys.
pub fn keys_refused(reason: ChordRejection) -> String {
    let word = match reason {
        ChordRejection::Unreadable => localized_word(
            "Turnleaf does not recognize these keys. Write them like Ctrl+Shift+K, Alt+Up or F8.",
            "无法识别这些按键。请写成 Ctrl+Shift+K、Alt+Up 或 F8 的形式。",
        ),
        ChordRejection::Bare => localized_word(
            "This shortcut also works while you type, so it needs Ctrl or Alt, or a key like F8.",
            "此快捷键在输入文字时也有效，请加上 Ctrl 或 Alt，或使用 F8 之类的按键。",
        ),
        ChordRejection::ReservedByBrowser => {
            localized_word("These keys are reserved by browsers.", "这些按键由浏览器占用。")
        }
        ChordRejection::NeededForText => {
            localized_word("These keys are used for text editing.", "编辑文字需要这些按键。")
        }
        ChordRejection::Taken(other) => {
            let other = does_of(other);
            return message!("These keys are already used for: {other}.", "这些按键已用于：{other}。");
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
        (PreferenceSetting::Density, _) => localized_word("Comfortable", "宽松"),
        (PreferenceSetting::Code, "wrap") => localized_word("Wrap", "自动换行"),
        (PreferenceSetting::Code, _) => localized_word("Scroll", "横向滚动"),
        (PreferenceSetting::Motion, "reduced") => localized_word("Reduced", "减少"),
        (PreferenceSetting::Motion, _) => localized_word("System default", "跟随系统"),
        (PreferenceSetting::Reasoning, "open") => localized_word("Always open", "始终展开"),
        (PreferenceSetting::Reasoning, "closed") => localized_word("Always closed", "始终收起"),
        (PreferenceSetting::Reasoning, "failure") => {
            localized_word("Keep open if a tool failed", "工具失败时也保持展开")
        }
        (PreferenceSetting::Reasoning, _) => localized_word("Open while generating", "生成时展开"),
        (PreferenceSetting::Send, "ctrl-enter") => localized_word("Ctrl+Enter", "Ctrl+Enter"),
        (PreferenceSetting::Send, _) => localized_word("Enter", "Enter"),
        (PreferenceSetting::Letters, "off") => localized_word("Off", "关闭"),
        (PreferenceSetting::Letters, _) => localized_word("On", "开启"),
        (PreferenceSetting::Announced, "events") => {
            localized_word("Only announce that a reply is complete", "仅播报回复完成")
        }
        (PreferenceSetting::Announced, "off") => localized_word("Do not read replies", "不播报回复"),
        (PreferenceSetting::Notify, "on") => localized_word("On", "开启"),
        (PreferenceSetting::Notify, _) => localized_word("Off", "关闭"),
        (PreferenceSetting::Announced, _) => localized_word("Read short replies in full", "完整播报较短的回复"),
    };
    word.to_owned()
}
