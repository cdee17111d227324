//! Rules about sign-ins: the beginning of a session, what its person still has to do, and of whom a second factor is
//! required (`docs/adr/0096-second-factor.md`).

use serde::{Deserialize, Serialize};

use crate::accounts::account::AccountRole;

/// The way in by which a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionOrigin {
    /// A password, with a code if the account has a second factor. The setup and an invitation begin with a new one.
    Password,
    /// A passkey, which is password and second factor at once.
    Passkey,
    /// An identity provider, which decides about factors itself.
    Identity,
}

/// A step that the person of a session still has to take. Nothing else of the application answers the session until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingStep {
    /// The password was made on the command line, which has shown it.
    ChangePassword,
    /// A second factor is required, and the account has none.
    SetUpSecondFactor,
}

/// The accounts of which a second factor is required.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SecondFactorPolicy {
    #[default]
    Optional,
    /// The owner is one of them.
    Administrators,
    Everyone,
}

impl SecondFactorPolicy {
    pub const ALL: [Self; 3] = [Self::Optional, Self::Administrators, Self::Everyone];

    /// Returns its word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Optional => "optional",
            Self::Administrators => "administrators",
            Self::Everyone => "everyone",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == word)
    }

    /// Returns whether accounts with this role need a second factor.
    pub fn requires_of(self, role: AccountRole) -> bool {
        match self {
            Self::Optional => false,
            Self::Administrators => role != AccountRole::User,
            Self::Everyone => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_requires_factor_of_its_roles() {
        let required = |word: &str| {
            let policy = SecondFactorPolicy::parse(word).unwrap();
            assert_eq!(policy.as_str(), word);
            AccountRole::ALL.map(|role| policy.requires_of(role))
        };
        assert_eq!(AccountRole::ALL, [AccountRole::Owner, AccountRole::Admin, AccountRole::User]);
        assert_eq!(required("optional"), [false, false, false]);
        assert_eq!(required("administrators"), [true, true, false]);
        assert_eq!(required("everyone"), [true, true, true]);
        assert_eq!(SecondFactorPolicy::parse("Everyone"), None);
        assert_eq!(SecondFactorPolicy::default(), SecondFactorPolicy::Optional);
    }
}
