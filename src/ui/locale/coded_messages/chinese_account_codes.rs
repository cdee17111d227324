//! The Chinese templates of the codes of accounts.

use crate::domain::messages::coded_message::MessageCode;

/// Returns the template of a code of accounts. A code that has none is in English, which a test finds.
pub(super) fn chinese_account_template(code: MessageCode) -> &'static str {
    match code {
        MessageCode::AccountNameInvalid => "必须是 1 至 {most} 个字母、数字或 . _ - + @，不能有空格",
        MessageCode::AccountNameTaken => "已被使用",
        MessageCode::PasswordCommon => "是最容易被猜到的密码之一，请换一个",
        MessageCode::PasswordWrong => "不是你当前的密码",
        MessageCode::PasswordUnchanged => "是为你生成的密码，请另选一个",
        MessageCode::PasswordExpired => "此密码是为你生成的，现已过期。请向管理员索取新密码。",
        MessageCode::PasswordChangeRequired => "你的密码是为你生成的，请先设置自己的密码。",
        MessageCode::WrongNameOrPassword => "名称或密码错误。",
        MessageCode::TooManyAttempts => "尝试次数过多，请在 {seconds} 秒后重试。",
        MessageCode::SignInBusy => "登录的人太多，请稍后重试。",
        MessageCode::SetupCodeWrong => "不是服务器启动时显示的设置码",
        MessageCode::AlreadySetUp => "此服务器已完成设置，请登录。",
        MessageCode::InviteUnusable => "此邀请已过期或已被使用，请索取新的邀请。",
        MessageCode::PasswordNeeded => "请再次输入密码：最近 10 分钟内没有输入过密码。",
        MessageCode::SecretNotKept => "在你输入密码期间未被保留，请重新输入",
        MessageCode::SignInCodeWrong => "验证码错误或已被使用。",
        MessageCode::SecondFactorOn => "此账号已启用两步验证，请先将其关闭。",
        MessageCode::SecondFactorRequired => "此服务器要求你使用两步验证，请先进行设置。",
        MessageCode::LastSecondFactor => "此服务器要求你使用两步验证，因此保留最后一种方式。请先设置另一种方式。",
        MessageCode::PasskeyRequired => "此服务器要求你使用两步验证，请使用你的通行密钥登录。",
        MessageCode::SecondFactorOff => "此账号没有启用两步验证。",
        MessageCode::SecondFactorNotBegun => "此验证码属于另一次设置，请重新设置两步验证。",
        MessageCode::PasskeyUnusable => "无法在此使用此通行密钥。请尝试其他通行密钥或密码。",
        MessageCode::PasskeyNotAdded => "无法添加通行密钥，请重试。",
        MessageCode::PasskeysUnavailable => "此地址无法使用通行密钥。",
        MessageCode::IdTokenUnusable => "{host} 返回的身份无法信任（{error}）。请重新登录，或联系管理员。",
        MessageCode::AuthenticationTimeMissing => {
            "{host} 没有说明你何时在那里登录，因此无法确认是你本人，请联系管理员。"
        }
        MessageCode::IdentityUnknown => "此登录不属于这里的任何账号。请用其他方式登录后关联它，或向管理员索取邀请。",
        MessageCode::IdentityLinkedElsewhere => "此登录已属于另一个账号。",
        MessageCode::IdentityNotYours => "此登录未与你的账号关联。",
        MessageCode::OnlyWayIn => "这是登录你账号的唯一方式，因此保留。",
        MessageCode::AccountDisabled => "你的账号已停用，请联系管理员。",
        MessageCode::AccountWasDisabled => "你的账号在此期间曾被停用",
        MessageCode::ProxyUserUnknown => "这里没有属于 {name} 的账号，请联系管理员。",
        MessageCode::NotOnOwnAccount => "不能对自己的账号执行此操作。",
        MessageCode::GroupNameTaken => "已有同名的组",
        MessageCode::MemberIsMapped => "此账号因组映射而成为成员。请移除该映射，或在登录服务中将其移出相应的组。",
        MessageCode::NoSuchAccount => "没有账号 {name}",
        MessageCode::NoSuchGroup => "没有组 {name}",
        MessageCode::ServerForOwner => "“{name}”为共享服务器，只有此服务器的所有者可以重启",
        MessageCode::NotOnOwner => "不能在此更改所有者的账号。",
        MessageCode::SignInNeedsSecureAddress => "从其他设备登录需要 HTTPS，请联系管理员设置 TURNLEAF_PUBLIC_URL。",
        code => code.template(),
    }
}
