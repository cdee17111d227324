//! The stored columns of accounts, their credentials and identities, invitations, groups, grants, the audit log, the ledger
//! and budgets. What decides about access is never replaced by a value that gives more of it.

use crate::fsck::values::columns::Replacement::{Keep, Lossy, Moment, Null, Row, Sql, Text};
use crate::fsck::values::columns::{id, text, time, word};
use crate::fsck::values::table::{CheckedTable, ID, table};
use crate::turns::generations::GenerationStatus;
use turnleaf_domain::accounts::access_rights::{AudienceScope, GrantKind};
use turnleaf_domain::{AccountRole, AuditOutcome, BudgetKind, CostBasis, SessionOrigin};

pub(super) const TABLES: &[CheckedTable] = &[
    table(
        "users",
        ID,
        &[
            id("id", Keep),
            text("name", Lossy),
            text("name_key", Null),
            word::<AccountRole>("role", Sql("CASE WHEN is_local_owner THEN 'owner' ELSE 'user' END")),
            text("password", Null),
            // A password with a lost end has ended.
            time("password_expires_at", Moment),
            time("created_at", Moment),
            time("disabled_at", Moment),
            // No repair deletes an account.
            time("deleted_at", Null),
        ],
    ),
    // A session or a token with a lost time has expired.
    table(
        "sessions",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            time("created_at", Moment),
            time("seen_at", Moment),
            time("expires_at", Moment),
            text("ip", Null),
            text("agent", Null),
            time("password_at", Null),
            word::<SessionOrigin>("began_with", Text("password")),
        ],
    ),
    // One whose secret is damaged stays, because it must not come off by that.
    table(
        "second_factors",
        &["owner_id"],
        &[id("owner_id", Row), time("created_at", Moment), time("confirmed_at", Moment)],
    ),
    table("recovery_codes", ID, &[id("id", Row), id("owner_id", Row), time("created_at", Moment)]),
    // A damaged key verifies nothing.
    table(
        "passkeys",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            text("name", Lossy),
            time("created_at", Moment),
            time("last_used_at", Null),
        ],
    ),
    table(
        "api_tokens",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            text("name", Lossy),
            text("scopes", Text("")),
            time("created_at", Moment),
            time("expires_at", Moment),
            time("last_used_at", Null),
        ],
    ),
    table(
        "invites",
        ID,
        &[
            id("id", Row),
            word::<AccountRole>("role", Row),
            id("made_by", Null),
            time("created_at", Moment),
            time("expires_at", Moment),
            time("used_at", Moment),
            id("used_by", Null),
        ],
    ),
    // Both the issuer and the subject decide who it is.
    table(
        "identities",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            text("issuer", Row),
            text("subject", Row),
            text("email", Null),
            time("created_at", Moment),
            time("last_used_at", Moment),
        ],
    ),
    // A group that is lost makes nobody a member.
    table(
        "identity_groups",
        &["identity_id", "name"],
        &[id("identity_id", Row), text("issuer", Row), text("name", Row)],
    ),
    table("identity_sign_ins", ID, &[id("id", Row), id("owner_id", Row), time("expires_at", Moment)]),
    table(
        "audit",
        ID,
        &[
            id("id", Row),
            time("at", Moment),
            id("actor_id", Null),
            id("token_id", Null),
            text("ip", Null),
            text("verb", Lossy),
            text("target", Lossy),
            word::<AuditOutcome>("outcome", Text("refused")),
        ],
    ),
    // Spending stays as far as it is readable.
    table(
        "ledger",
        ID,
        &[
            id("id", Row),
            id("owner_id", Null),
            id("chat_id", Null),
            id("token_id", Null),
            text("provider", Lossy),
            text("model", Lossy),
            word::<GenerationStatus>("status", Text("error")),
            time("started_at", Moment),
            word::<CostBasis>("cost_basis", Null),
        ],
    ),
    // A lost budget would lift its bound, so one of an unknown kind stays, and its account spends nothing.
    table("budgets", ID, &[id("id", Keep), id("owner_id", Row), id("group_id", Row), word::<BudgetKind>("kind", Keep)]),
    table("account_groups", ID, &[id("id", Keep), text("name", Lossy), time("created_at", Moment)]),
    table("group_members", &["group_id", "user_id"], &[id("group_id", Row), id("user_id", Row)]),
    table("group_mappings", ID, &[id("id", Row), id("group_id", Row), text("issuer", Row), text("external_name", Row)]),
    // A model that has lost its rule would be for everybody, so a rule stays and grants nothing.
    table(
        "access_rules",
        ID,
        &[
            id("id", Keep),
            word::<GrantKind>("kind", Keep),
            text("target", Keep),
            text("model", Keep),
            word::<AudienceScope>("audience", Text("listed")),
            time("changed_at", Moment),
        ],
    ),
    table("access_grants", ID, &[id("id", Row), id("rule_id", Row), id("group_id", Row), id("user_id", Row)]),
];
