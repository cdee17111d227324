//! Messages of the pages of accounts, in both languages.

use crate::domain::{AccountRole, AuditOutcome, AuditVerb, TokenScope};
use crate::ui::locale::{define_messages, localized_word, message, plural_message};

define_messages! {
    // Signing in, setting up, and invitations.
    sign_in: "Sign in", "登录";
    name: "Name", "名称";
    password: "Password", "密码";
    setup: "Set up Turnleaf", "设置 Turnleaf";
    setup_lead: "Choose the name and password of the owner. The chats that are already on this server will be theirs.",
        "请设置所有者的名称和密码。此服务器上已有的对话将归其所有。";
    setup_code: "Setup code", "设置码";
    setup_code_hint: "The server printed it when it started. It is also in the file setup-code in the server's data \
        directory.", "服务器启动时会显示设置码，也可在服务器数据目录的 setup-code 文件中找到。";
    name_hint: "You sign in with it. Letters, digits and . _ - + @, without spaces.",
        "用于登录。可用字母、数字和 . _ - + @，不能有空格。";
    password_hint: "At least 12 characters. Several random words are easy to remember.",
        "至少 12 个字符。几个随意的词语容易记住。";
    do_set_up: "Set up", "完成设置";
    invitation: "Create your account", "创建账号";
    create_account: "Create account", "创建账号";
    invite_unusable: "This invitation cannot be used", "此邀请无法使用";
    other_ways: "Other ways to sign in", "其他登录方式";
    needs_secure_address: "Signing in from another machine needs HTTPS", "从其他设备登录需要 HTTPS";
    code: "Code", "验证码";
    sign_in_code_hint: "The 6 digits that your authenticator app shows, or a recovery code.",
        "身份验证器应用显示的 6 位数字，或恢复代码。";
    sign_in_again: "Start again", "重新开始";
    // The step that is pending after a sign-in.
    finish_sign_in: "Finish signing in", "完成登录";
    own_password_lead: "Your password was made for you, so others may have seen it. Choose your own to go on.",
        "你的密码是为你生成的，他人可能看到过。请设置自己的密码以继续。";
    given_password: "Password that you were given", "收到的密码";
    required_factor_lead: "This server requires a second factor of you: an authenticator app or a passkey. Set one up to go on.",
        "此服务器要求你使用两步验证：身份验证器应用或通行密钥。请设置其中一种以继续。";
    // The question for the password before what is dangerous.
    confirm_password: "Enter your password", "输入密码";
    confirm_password_lead: "You have not entered your password for 10 minutes. Nothing that you typed is lost.",
        "你已超过 10 分钟没有输入密码。你输入的内容都会保留。";
    do_continue: "Continue", "继续";
    checking: "Checking…", "正在检查…";
    sign_in_again_lead: "You have to sign in again for this, because your account has no password to enter. Do so in a new \
        tab, then continue here. Nothing that you typed is lost.",
        "此操作需要你重新登录，因为你的账号没有可输入的密码。请在新标签页中登录，然后在此继续。你输入的内容都会保留。";
    sign_out_and_in_lead: "You have to sign in again for this, because your account has no password to enter. Sign out and \
        in again, then repeat this.", "此操作需要你重新登录，因为你的账号没有可输入的密码。请退出后重新登录，然后重试。";
    signed_in_again: "You signed in again. Return to the page that asked for it, and continue there.",
        "你已重新登录。请返回之前的页面继续操作。";
    // The second factor.
    second_factor: "Second factor", "两步验证";
    second_factor_hint: "After your password you enter a code from an authenticator app, such as Aegis or Google \
        Authenticator.", "输入密码后，还需输入身份验证器应用（如 Aegis 或 Google Authenticator）中的验证码。";
    set_up_second_factor: "Set up second factor", "设置两步验证";
    second_factor_since: "Set up", "设置于";
    turn_off_second_factor: "Turn off second factor", "关闭两步验证";
    second_factor_removed: "The second factor was turned off.", "两步验证已关闭。";
    not_changed: "Nothing was changed.", "未作任何更改。";
    second_factor_secret: "Secret", "密钥";
    second_factor_secret_hint: "Add an account in your authenticator app: scan the code, or type the secret (time-based, \
        6 digits, 30 seconds).", "在身份验证器应用中添加账号：扫描二维码，或输入密钥（基于时间，6 位数字，30 秒）。";
    second_factor_qr_code: "QR code for the authenticator app", "身份验证器应用的二维码";
    second_factor_uri: "Address for the app", "应用链接";
    open_in_app: "Open in authenticator app", "在身份验证器应用中打开";
    second_factor_code_hint: "The 6 digits that the app shows now.", "应用当前显示的 6 位数字。";
    confirm_second_factor: "Turn on second factor", "启用两步验证";
    recovery_codes: "Recovery codes", "恢复代码";
    recovery_codes_lead: "Keep these codes in a safe place. Each one signs you in once if you lose your authenticator app. \
        They are not shown again.", "请将这些代码保存在安全的地方。如果身份验证器应用丢失，每个代码可用于登录一次。代码不会再显示。";
    new_recovery_codes: "New recovery codes", "新的恢复代码";
    back_to_account: "Back to your account", "返回账号";
    // Passkeys.
    sign_in_with_passkey: "Sign in with a passkey", "使用通行密钥登录";
    use_passkey: "Use a passkey", "使用通行密钥";
    passkey_not_used: "No passkey was used. Try again, or enter your password.", "未使用通行密钥。请重试，或输入密码。";
    passkeys: "Passkeys", "通行密钥";
    passkeys_hint: "With a passkey your device or security key signs you in, without password and code. Changing your \
        password does not remove passkeys.", "使用通行密钥时，由你的设备或安全密钥为你登录，无需密码和验证码。更改密码不会移除通行密钥。";
    passkey_name_hint: "The device or the password manager that keeps it.", "保存它的设备或密码管理器。";
    add_passkey: "Add a passkey", "添加通行密钥";
    create_passkey: "Create passkey", "创建通行密钥";
    create_passkey_lead: "Your browser now asks where to keep the passkey, and who you are.",
        "浏览器会询问通行密钥的保存位置，并验证你的身份。";
    passkey_not_created: "No passkey was created. There may be one for your account here already.",
        "未创建通行密钥，这里可能已有你账号的通行密钥。";
    passkey_added: "The passkey was added. You can sign in with it now.", "已添加通行密钥，现在可以用它登录。";
    passkey_removed: "The passkey was removed here. Delete it on your device, too.",
        "已在此移除通行密钥，请在你的设备上也将其删除。";
    passkey_synced: "Synced", "已同步";
    passkey_since: "Added", "添加于";
    remove_passkey: "Remove", "移除";
    // The own account.
    profile: "Account", "账号";
    no_accounts: "This server has no accounts. Everybody who uses it on this machine is its owner.",
        "此服务器没有账号，在本机使用它的人即为所有者。";
    no_accounts_hint: "To sign in from other machines, start the server with TURNLEAF_AUTH=accounts. Your chats stay \
        yours.", "如需从其他设备登录，请使用 TURNLEAF_AUTH=accounts 启动服务器。你的对话仍归你所有。";
    change_password: "Change password", "更改密码";
    current_password: "Current password", "当前密码";
    new_password: "New password", "新密码";
    change_password_hint: "Your other sessions and all API tokens end.", "其他会话和所有 API 令牌都会失效。";
    password_changed: "Password changed. Your other sessions and API tokens ended.",
        "密码已更改，其他会话和 API 令牌已失效。";
    no_password_hint: "Your account has no password. You sign in with another service.",
        "你的账号没有密码，你通过其他服务登录。";
    identities: "Sign-in services", "登录服务";
    identities_hint: "Accounts of other services with which you sign in here.", "可用于在此登录的其他服务的账号。";
    no_identities: "None is linked.", "尚未关联。";
    unlink: "Unlink", "取消关联";
    link_title: "Link a sign-in service", "关联登录服务";
    identity_linked: "The service was linked. You can sign in with it now.", "已关联该服务，现在可以用它登录。";
    identity_unlinked: "The service was unlinked. You cannot sign in with it any more.",
        "已取消关联该服务，不能再用它登录。";
    sessions: "Sessions", "会话";
    sessions_hint: "The browsers in which you are signed in.", "已登录的浏览器。";
    this_session: "This browser", "当前浏览器";
    unknown_browser: "Unknown browser", "未知浏览器";
    last_used: "Last used", "上次使用";
    never_used: "Never used", "从未使用";
    end_session: "Sign out", "退出";
    end_other_sessions: "Sign out everywhere else", "在其他所有位置退出";
    session_ended: "The session ended.", "会话已结束。";
    sessions_ended: "You are signed out everywhere else.", "已在其他所有位置退出。";
    tokens: "API tokens", "API 令牌";
    tokens_hint: "Programs send a token in the header Authorization: Bearer. No token can do what only administrators may.",
        "程序在请求头 Authorization: Bearer 中发送令牌。令牌没有管理员的权限。";
    no_tokens: "No API tokens.", "没有 API 令牌。";
    new_token: "New API token", "新建 API 令牌";
    token_name_hint: "What it is for.", "用途。";
    scopes: "Scopes", "权限";
    valid_days: "Valid for (days)", "有效期（天）";
    create_token: "Create token", "创建令牌";
    token_created: "Copy the token now. It is not shown again.", "请立即复制令牌，之后不会再显示。";
    token_created_before: "This token was already created. It is not shown again.", "此令牌已创建，不会再显示。";
    revoke: "Revoke", "撤销";
    token_revoked: "The token was revoked.", "令牌已撤销。";
    expires: "Expires", "到期";
    expired: "Expired", "已到期";
    // Leaving.
    your_data: "Your data", "你的数据";
    export_my_data: "Export my data", "导出我的数据";
    delete_account: "Delete account", "删除账号";
    delete_account_description: "Permanently deletes your account with everything in it, and signs you out everywhere.",
        "永久删除你的账号及其全部内容，并在所有位置退出登录。";
    open_delete_account: "Delete my account…", "删除我的账号…";
    delete_my_account: "Delete my account permanently", "永久删除我的账号";
    deleted_connections: "Your providers with their API keys, tool servers, settings, API tokens and shared links",
        "你的服务商及其 API 密钥、工具服务器、设置、API 令牌和分享的链接";
    account_permanence: "This skips Trash and cannot be undone. Replies being generated are stopped, and shared links end \
        at once. Files are removed from disk within a day. The audit log records that an account was deleted, without its \
        name.", "这些内容不会进入回收站，此操作无法撤销。正在生成的回复会停止，分享的链接会立即失效。文件会在一天内从磁盘清除。\
        审计日志会保留账号被删除的记录，但不含名称。";
    account_deleted: "Your account was deleted.", "你的账号已删除。";
    owner_stays: "The owner's account cannot be deleted, because nobody else can take its place.",
        "所有者的账号无法删除，因为无人可以取代。";
    // All accounts.
    users: "Users", "用户";
    users_lead: "Administrators manage accounts. They cannot read the chats of others.",
        "管理员可以管理账号，但不能查看他人的对话。";
    role: "Role", "角色";
    you: "You", "你";
    disabled: "Disabled", "已停用";
    no_password: "Cannot sign in", "无法登录";
    never_signed_in: "Never signed in", "从未登录";
    disable: "Disable", "停用";
    enable: "Enable", "启用";
    change_role: "Change role", "更改角色";
    sign_out_user: "Sign out everywhere", "在所有位置退出";
    user_disabled: "The account was disabled and signed out everywhere.", "账号已停用，并已在所有位置退出。";
    user_enabled: "The account was enabled.", "账号已启用。";
    role_changed: "The role was changed. The account was signed out everywhere.", "角色已更改，账号已在所有位置退出。";
    user_signed_out: "The account was signed out everywhere.", "账号已在所有位置退出。";
    invite: "Invite", "邀请";
    invite_hint: "An invitation works once, and for 7 days.", "邀请只能使用一次，有效期为 7 天。";
    create_invite: "Create invitation", "创建邀请";
    invite_created: "Send this link to the person. It is not shown again.", "请将此链接发送给对方，之后不会再显示。";
    invite_revoked: "The invitation was revoked.", "邀请已撤销。";
    open_invites: "Open invitations", "未使用的邀请";
    from_command_line: "command line", "命令行";
    // The audit log.
    audit_log: "Audit log", "审计日志";
    audit_lead: "Who did what, without content. Entries are kept for 400 days.", "谁做了什么，不含内容。记录保留 400 天。";
    no_entries: "No entries.", "没有记录。";
    all_actions: "All actions", "所有操作";
    older_entries: "Older entries", "更早的记录";
    time: "Time", "时间";
    actor: "Who", "操作者";
    action: "Action", "操作";
    target: "Target", "对象";
    address: "From", "来源";
    refused: "refused", "被拒绝";
    nobody: "not signed in", "未登录";
    with_token: "API token", "API 令牌";
    // Lists by name.
    name_contains: "Name contains", "名称包含";
    find: "Find", "查找";
    first_page: "First page", "第一页";
    next_page: "Next page", "下一页";
}

/// Returns that no entry of a list has this text in its name.
pub fn no_names(part: &str) -> String {
    message!("No name contains “{part}”.", "没有名称包含“{part}”。")
}

/// Returns the name of a role.
pub fn role_name(role: AccountRole) -> &'static str {
    match role {
        AccountRole::Owner => localized_word("Owner", "所有者"),
        AccountRole::Admin => localized_word("Administrator", "管理员"),
        AccountRole::User => localized_word("User", "用户"),
    }
}

/// Returns what a scope allows.
pub fn scope_name(scope: TokenScope) -> &'static str {
    match scope {
        TokenScope::ChatsRead => localized_word("Read chats, documents and usage", "读取对话、文档和用量"),
        TokenScope::ChatsWrite => localized_word("Create and change chats and documents", "创建和更改对话与文档"),
        TokenScope::ModelsCall => localized_word("Send messages to models", "向模型发送消息"),
        TokenScope::Export => localized_word("Export chats", "导出对话"),
        TokenScope::Settings => localized_word("Change providers, keys and tools", "更改服务商、密钥和工具"),
    }
}

/// Returns the name of an action in the audit log; one of a newer version has none.
pub fn verb_name(verb: AuditVerb) -> &'static str {
    match verb {
        AuditVerb::SetUp => localized_word("Set up the server", "设置服务器"),
        AuditVerb::SignIn => localized_word("Sign in", "登录"),
        AuditVerb::SignOut => localized_word("Sign out", "退出登录"),
        AuditVerb::ChangeName => localized_word("Change own name", "更改自己的名称"),
        AuditVerb::ChangePassword => localized_word("Change own password", "更改自己的密码"),
        AuditVerb::ResetPassword => localized_word("Reset password", "重置密码"),
        AuditVerb::EndSession => localized_word("End own session", "结束自己的会话"),
        AuditVerb::EndSessions => localized_word("Sign out everywhere else", "在其他所有位置退出"),
        AuditVerb::CreateToken => localized_word("Create API token", "创建 API 令牌"),
        AuditVerb::RevokeToken => localized_word("Revoke API token", "撤销 API 令牌"),
        AuditVerb::AddAccount => localized_word("Add account", "添加账号"),
        AuditVerb::Invite => localized_word("Create invitation", "创建邀请"),
        AuditVerb::RevokeInvite => localized_word("Revoke invitation", "撤销邀请"),
        AuditVerb::AcceptInvite => localized_word("Accept invitation", "接受邀请"),
        AuditVerb::DisableAccount => localized_word("Disable account", "停用账号"),
        AuditVerb::EnableAccount => localized_word("Enable account", "启用账号"),
        AuditVerb::ChangeRole => localized_word("Change role", "更改角色"),
        AuditVerb::SignOutAccount => localized_word("Sign out account", "使账号退出登录"),
        AuditVerb::DeleteAccount => localized_word("Delete own account", "删除自己的账号"),
        AuditVerb::ConfirmPassword => localized_word("Confirm own password", "确认自己的密码"),
        AuditVerb::EnableSecondFactor => localized_word("Turn on second factor", "启用两步验证"),
        AuditVerb::RemoveSecondFactor => localized_word("Turn off second factor", "关闭两步验证"),
        AuditVerb::ResetSecondFactor => localized_word("Reset second factor", "重置两步验证"),
        AuditVerb::RenewRecoveryCodes => localized_word("Create recovery codes", "生成恢复代码"),
        AuditVerb::UseRecoveryCode => localized_word("Use recovery code", "使用恢复代码"),
        AuditVerb::AddPasskey => localized_word("Add passkey", "添加通行密钥"),
        AuditVerb::RemovePasskey => localized_word("Remove passkey", "移除通行密钥"),
        AuditVerb::UsePasskey => localized_word("Use passkey", "使用通行密钥"),
        AuditVerb::CreateShare => localized_word("Create shared link", "创建分享链接"),
        AuditVerb::RevokeShare => localized_word("Revoke shared link", "撤销分享链接"),
        AuditVerb::ShareBranch => localized_word("Share branch live", "实时分享分支"),
        AuditVerb::ChangeReaders => localized_word("Change readers of branch", "更改分支的读者"),
        AuditVerb::EndBranchShare => localized_word("End live share", "结束实时分享"),
        AuditVerb::SetBudgets => localized_word("Set budgets", "设置预算"),
        AuditVerb::AddGroup => localized_word("Add group", "添加组"),
        AuditVerb::RenameGroup => localized_word("Rename group", "重命名组"),
        AuditVerb::DeleteGroup => localized_word("Delete group", "删除组"),
        AuditVerb::AddMember => localized_word("Add member to group", "将成员加入组"),
        AuditVerb::RemoveMember => localized_word("Remove member from group", "将成员移出组"),
        AuditVerb::MapGroup => localized_word("Map group", "映射组"),
        AuditVerb::UnmapGroup => localized_word("Remove mapping of group", "移除组映射"),
        AuditVerb::ChangeGrants => localized_word("Change access", "更改使用权限"),
        AuditVerb::LinkIdentity => localized_word("Link sign-in", "关联登录"),
        AuditVerb::UnlinkIdentity => localized_word("Unlink sign-in", "取消关联登录"),
        AuditVerb::AddProvider => localized_word("Add provider", "添加服务商"),
        AuditVerb::ChangeProvider => localized_word("Change provider", "更改服务商"),
        AuditVerb::RemoveProvider => localized_word("Remove provider", "移除服务商"),
        AuditVerb::AddToolServer => localized_word("Add tool server", "添加工具服务器"),
        AuditVerb::ChangeToolServer => localized_word("Change tool server", "更改工具服务器"),
        AuditVerb::RemoveToolServer => localized_word("Remove tool server", "移除工具服务器"),
        AuditVerb::SetToolPolicy => localized_word("Set tool permission", "设置工具权限"),
        AuditVerb::SetWebSearch => localized_word("Set search engine", "设置搜索引擎"),
        AuditVerb::RemoveWebSearch => localized_word("Remove search engine", "移除搜索引擎"),
        AuditVerb::ExportEverything => localized_word("Export everything", "导出全部"),
        AuditVerb::DeleteEverything => localized_word("Delete everything", "删除全部内容"),
    }
}

/// Returns the name of an action that was refused.
pub fn outcome_note(outcome: AuditOutcome) -> Option<&'static str> {
    match outcome {
        AuditOutcome::Done => None,
        AuditOutcome::Refused => Some(refused()),
    }
}

/// Returns the explanation on the page of an invitation.
pub fn invited_as(role: AccountRole) -> String {
    let role = role_name(role);
    message!("You are invited to this server. Your role will be: {role}.", "你受邀使用此服务器。你的角色将是：{role}。")
}

/// Returns how many recovery codes were not used.
pub fn recovery_codes_left(count: u64) -> String {
    plural_message!(count; "1 recovery code is left.", "{count} recovery codes are left."; "剩余 {count} 个恢复代码。")
}

/// Returns the label of the link to another service.
pub fn sign_in_with(name: &str) -> String {
    message!("Sign in with {name}", "使用 {name} 登录")
}

/// Returns the label of the link to another service at which a person authenticates again.
pub fn sign_in_again_with(name: &str) -> String {
    message!("Sign in again with {name}", "使用 {name} 重新登录")
}

/// Returns the label of the button that adds an account of another service to the own account.
pub fn link_service(name: &str) -> String {
    message!("Link {name}", "关联 {name}")
}

/// Returns the explanation before the browser goes to another service.
pub fn link_lead(name: &str) -> String {
    message!(
        "Sign in at {name} to link it to your account here. You will then return here.",
        "请在 {name} 登录，将其关联到你在这里的账号，之后会返回这里。"
    )
}

/// Returns the heading of the own account.
pub fn signed_in_as(name: &str, role: AccountRole) -> String {
    let role = role_name(role);
    message!("You are signed in as {name} ({role}).", "你以 {name}（{role}）的身份登录。")
}

/// Returns the name of a browser with its system.
pub fn browser_on_system(browser: &str, system: &str) -> String {
    message!("{browser} on {system}", "{system} 上的 {browser}")
}
