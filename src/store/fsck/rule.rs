//! Rules: invariants that one SQL statement can check, in tables.

/// Defines rules: a statement that returns the ids of the rows that violate an invariant, and the problem of each.
macro_rules! rules {
    ($($name:ident: $invariant:literal, $table:literal, $what:literal, $text:expr;)*) => {
        pub(super) const RULES: &[$crate::fsck::rule::FsckRule] = &[$($crate::fsck::rule::FsckRule {
            invariant: $invariant,
            table: $table,
            problem: $what,
            text: $text,
        }),*];
        pub(super) const STATEMENTS: &[(&str, &str)] = &[$((stringify!($name), $text)),*];
    };
}

/// An invariant that one statement can check.
pub(super) struct FsckRule {
    pub invariant: &'static str,
    pub table: &'static str,
    pub problem: &'static str,
    pub text: &'static str,
}
