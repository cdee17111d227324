//! Messages of the sign-in to tool servers, in both languages.

pub use super::tools::cancel;
use crate::ui::locale::{define_messages, localized_word, message};

define_messages! {
    title: "Sign in to a tool server", "登录工具服务器";
    goes_to: "Your browser goes to", "浏览器将前往";
    check_host: "Continue only if you know this host and trust it with your account. Turnleaf never sees your password \
        there.", "仅当你认识此主机并信任它处理你的账户时再继续。Turnleaf 不会看到你在那里输入的密码。";
    server: "Tool server", "工具服务器";
    permissions: "Permissions asked for", "请求的权限";
    token_host: "Confirmed by", "由其确认";
    sign_in: "Sign in", "登录";
    sign_in_again: "Sign in again", "重新登录";
    sign_out: "Sign out", "退出登录";
    status: "Sign-in", "登录状态";
    signed_out: "Signed out.", "已退出登录。";
    signed_out_here: "Signed out of Turnleaf. The sign-in service could not be asked to revoke the access; you can \
        revoke it there.", "已在 Turnleaf 中退出登录。无法请求登录服务撤销访问权限；你可以在那里自行撤销。";
    expired: "This sign-in has expired or was already used. Sign in again.", "此次登录已过期或已使用。请重新登录。";
    client_id: "OAuth client ID", "OAuth 客户端 ID";
    client_id_hint: "Only if the sign-in service of the server does not register programs by itself.",
        "仅当该服务器的登录服务不会自动注册程序时填写。";
    client_secret: "OAuth client secret", "OAuth 客户端密钥";
    client_secret_hint: "Leave empty if the client has none.", "如果客户端没有密钥，请留空。";
    client_secret_kept: "A secret is saved. Leave empty to keep it; removing the client ID deletes it.",
        "已保存密钥。留空则保留；删除客户端 ID 会一并删除密钥。";
}

pub fn lead(server: &str) -> String {
    message!(
        "To use {server}, sign in at its sign-in service and allow Turnleaf there. You will then return here.",
        "要使用 {server}，请在其登录服务处登录并允许 Turnleaf 访问，之后会返回这里。"
    )
}

pub fn go_to(host: &str) -> String {
    message!("Go to {host}", "前往 {host}")
}

/// Returns the word for the sign-in to a server.
pub fn state(state: &str) -> &'static str {
    match state {
        "signed_in" => localized_word("Signed in", "已登录"),
        "needed" => localized_word("Sign in to use it", "登录后才能使用"),
        "more_needed" => {
            localized_word("Signed in, with too few permissions for a call", "已登录，但权限不足以完成某次调用")
        }
        _ => localized_word("Not signed in", "未登录"),
    }
}

/// The notice after a sign-in that failed, with its reason.
pub fn failed(server: &str, reason: &str) -> String {
    message!("Not signed in to {server}. {reason}", "未登录 {server}。{reason}")
}

/// The notice after a sign-in, with the status of the server.
pub fn signed_in_to(server: &str, status: &str) -> String {
    message!("Signed in to {server}. {status}", "已登录 {server}。{status}")
}
