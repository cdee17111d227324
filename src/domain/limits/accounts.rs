//! Limits of accounts: names and passwords, second factors, passkeys, sessions, API tokens, invitations, identities, attempts to
//! sign in, groups, and the audit log.

use std::ops::RangeInclusive;
use std::time::Duration;

use chrono::TimeDelta;

/// The length of the name that a person signs in with.
pub const ACCOUNT_NAME_CHARS: usize = 64;
/// The length of a password. There are no other rules of composition.
pub const PASSWORD_CHARS: RangeInclusive<usize> = 12..=1_024;
/// The time for which a password that the command line has made signs in. Its person chooses another one at once.
pub const MADE_PASSWORD_KEPT: TimeDelta = TimeDelta::days(3);
/// The concurrent computations of password hashes, each with 19 MiB, and how long a further one waits for its turn.
pub const PASSWORD_HASHES_AT_ONCE: usize = 2;
pub const PASSWORD_WAIT: Duration = Duration::from_secs(10);
/// The attempts to sign in, to set up or to enter one's password that an account and a network have at once. After
/// them each failure doubles the wait, from the first to the longest; a success or the longest wait ends it.
pub const ATTEMPTS_PER_ACCOUNT: u32 = 5;
pub const ATTEMPTS_PER_NETWORK: u32 = 20;
pub const ATTEMPT_WAIT_FIRST: Duration = Duration::from_secs(60);
pub const ATTEMPT_WAIT_MOST: Duration = Duration::from_secs(15 * 60);
/// The longest wait after wrong codes of a second factor. Six digits are few, and who guesses them has the password.
pub const CODE_WAIT_MOST: Duration = Duration::from_secs(6 * 60 * 60);
/// The accounts and the networks whose attempts are remembered.
pub const ATTEMPT_KEYS: usize = 10_000;
/// The time for which a password that was entered in a session allows actions that are asked for again after it.
pub const PASSWORD_COUNTS_FOR: TimeDelta = TimeDelta::minutes(10);
/// The time for which the secrets of a form wait for the password, and their bytes.
pub const WITHHELD_FOR: Duration = Duration::from_secs(10 * 60);
pub const WITHHELD_BYTES: usize = 64 << 10;
/// The forms with secrets that wait: those of one person, and of all. The oldest makes room for a further one.
pub const WITHHELD_PER_USER: usize = 4;
pub const WITHHELD_FORMS: usize = 200;
/// The time for which a sign-in waits for the code of the second factor, and the sign-ins that wait.
pub const SIGN_IN_CODE_WAIT: Duration = Duration::from_secs(10 * 60);
pub const SIGN_INS_BEGUN: usize = 10_000;
/// The recovery codes that an account gets at once.
pub const RECOVERY_CODES: usize = 10;
/// The passkeys of one account, and the length of the name of one.
pub const PASSKEYS_PER_USER: u64 = 20;
pub const PASSKEY_NAME_CHARS: usize = 100;
/// The time for which the challenge of a passkey counts, and the challenges that wait for their answers: those of all, and
/// of one person who is signed in.
pub const PASSKEY_CHALLENGE_KEPT: Duration = Duration::from_secs(5 * 60);
pub const PASSKEY_CHALLENGES: usize = 10_000;
pub const PASSKEY_CHALLENGES_PER_USER: usize = 10;
/// The length of an answer of a passkey, as JSON.
pub const PASSKEY_ANSWER_BYTES: usize = 32 << 10;
/// The length of the id of a credential (WebAuthn, 7.1).
pub const CREDENTIAL_ID_BYTES: usize = 1_023;
/// The duration of a session without a request, and its longest duration.
pub const SESSION_IDLE: TimeDelta = TimeDelta::days(14);
pub const SESSION_KEPT: TimeDelta = TimeDelta::days(60);
/// The sessions of one account; the one that was used least recently ends for a further one.
pub const SESSIONS_PER_USER: u32 = 100;
/// The stored length of a browser's name for itself.
pub const USER_AGENT_CHARS: usize = 200;
/// The time after a use at which that is stored.
pub const CREDENTIAL_USE_STORED_EVERY: TimeDelta = TimeDelta::minutes(5);
/// The interval at which sessions and tokens in use are compared with the database, which the command line changes
/// beside the server.
pub const CREDENTIAL_RECHECK: Duration = Duration::from_secs(30);
/// The cache of checked sessions and tokens: how long one stays without a use, and how many there are.
pub const CREDENTIAL_CACHED: TimeDelta = TimeDelta::minutes(10);
pub const CREDENTIALS_CACHED: usize = 10_000;
/// The API tokens of one account, the days that one is valid, and the length of its name.
pub const API_TOKENS: u32 = 100;
pub const API_TOKEN_DAYS: RangeInclusive<u32> = 1..=365;
pub const API_TOKEN_NAME_CHARS: usize = 100;
/// The time for which an invitation is valid, and the open ones of the server.
pub const INVITE_KEPT: TimeDelta = TimeDelta::days(7);
pub const INVITES: u32 = 200;
/// The identity providers, the length of the name of one, and that of its other settings.
pub const IDENTITY_PROVIDERS: usize = 16;
pub const IDENTITY_PROVIDER_NAME_CHARS: usize = 60;
pub const IDENTITY_SETTING_BYTES: usize = 1_024;
/// The identities of one account.
pub const IDENTITIES_PER_USER: u64 = 20;
/// The sign-ins at identity providers that have begun; the first ends for a further one.
pub const IDENTITY_SIGN_INS: u32 = 1_000;
/// Those that a network may begin before it waits, as after failed attempts. One that is finished does not count.
pub const IDENTITY_SIGN_INS_PER_NETWORK: u32 = 100;
/// The length of the address to which a person returns from an identity provider. Strangers choose it, and it is stored.
pub const SIGN_IN_RETURN_BYTES: usize = 4_096;
/// The length of a subject (OpenID Connect Core, 2), and of an address.
pub const SUBJECT_BYTES: usize = 255;
pub const EMAIL_BYTES: usize = 254;
/// The groups of an identity that are kept, and the length of the name of one.
pub const IDENTITY_GROUPS: usize = 200;
pub const IDENTITY_GROUP_CHARS: usize = 200;
/// The keys of an issuer that are tried, and the difference between its clock and this one.
pub const ISSUER_KEYS: usize = 50;
pub const ISSUER_CLOCK_SKEW: TimeDelta = TimeDelta::seconds(60);
/// The names that are tried for a new account before one with random characters.
pub const NEW_ACCOUNT_NAMES: usize = 20;
/// The accounts that are listed.
pub const ACCOUNTS_LISTED: u32 = 1_000;
/// The accounts, and the groups of accounts, on one page of the administrators' lists by name.
pub const ACCOUNTS_PAGE: u32 = 50;
/// The groups whose boxes the form of a rule shows. Further ones are found by their name, and ticked ones are shown always.
pub const GROUP_BOXES: usize = 20;
/// The groups and accounts that a row of the rules names; of further ones it has the number.
pub const RULE_NAMES: usize = 3;
/// The number of sums of accounts by model on the page of administrators. Their CSV has all of them.
pub const ACCOUNT_SUMS_LISTED: u32 = 5_000;
/// The groups of accounts, and the length of the name of one.
pub const GROUPS: u32 = 200;
pub const GROUP_NAME_CHARS: usize = 64;
/// The mappings of one group, and the names of groups elsewhere that its page suggests.
pub const GROUP_MAPPINGS: u32 = 100;
pub const GROUP_NAMES_SUGGESTED: u32 = 500;
/// The rules about models and tool servers.
pub const ACCESS_RULES: u32 = 2_000;
/// The entries of one page of the audit log, and how long they are kept.
pub const AUDIT_PAGE: u32 = 100;
pub const AUDIT_KEPT: TimeDelta = TimeDelta::days(400);
