//! Invariants that one statement can look for, as tables of them.

/// Rules: a statement that gives the ids of the rows that break an invariant, and what is then wrong with each.
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

/// An invariant that one statement can look for.
pub(super) struct FsckRule {
    pub invariant: &'static str,
    pub table: &'static str,
    pub problem: &'static str,
    pub text: &'static str,
}
