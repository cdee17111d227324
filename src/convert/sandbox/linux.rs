//! The sandbox layers on Linux. They apply to the calling thread and its descendants, so they are entered before
//! other threads exist.

use std::collections::BTreeMap;
use std::fmt::Display;

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetError, RulesetStatus, Scope,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::Sandbox;

/// System calls that cannot name a resource outside the process: I/O on open descriptors, memory, own signals,
/// clocks, randomness, exit.
const ALLOWED: [libc::c_long; 23] = [
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_write,
];

/// System calls whose argument at this index must have none of these bits set: memory never becomes executable, and
/// limits of other processes are out of reach.
const BOUND: [(libc::c_long, u8, u64); 3] = [
    (libc::SYS_mmap, 2, libc::PROT_EXEC as u64),
    (libc::SYS_mprotect, 2, libc::PROT_EXEC as u64),
    (libc::SYS_prlimit64, 0, u32::MAX as u64),
];

/// Enters the sandbox. A layer that the kernel lacks is skipped; the others apply without it.
pub fn enter() -> Sandbox {
    // The filter is installed last, because it forbids the system calls that install layers.
    let mut sandbox = enter_without_filter();
    let filtered = ok_or_note("seccomp", filter_system_calls(), &mut sandbox.failures);
    Sandbox { seccomp: filtered.is_some(), ..sandbox }
}

/// Enters all layers except the system call filter, so that a test sees what the others refuse on their own.
pub fn enter_without_filter() -> Sandbox {
    let mut failures = Vec::new();
    let no_new_privs = ok_or_note("no_new_privs", rustix::thread::set_no_new_privs(true), &mut failures).is_some();
    let landlock = ok_or_note("Landlock", forbid_resources(), &mut failures).flatten();
    Sandbox { no_new_privs, landlock, seccomp: false, failures }
}

/// Returns the outcome of a layer, or records why it failed.
fn ok_or_note<T, E: Display>(layer: &str, outcome: Result<T, E>, failures: &mut Vec<String>) -> Option<T> {
    outcome.map_err(|error| failures.push(format!("{layer}: {error}"))).ok()
}

/// Applies Landlock without any exception; returns its ABI version if the kernel supports it.
fn forbid_resources() -> Result<Option<u32>, RulesetError> {
    let newest = ABI::V10;
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(newest))?
        .handle_access(AccessNet::from_all(newest))?
        .scope(Scope::from_all(newest))?;
    let status = ruleset.create()?.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => None,
        (_, LandlockStatus::Available { effective_abi, .. }) => Some(effective_abi as u32),
        _ => None,
    })
}

/// Installs the seccomp filter. Every other system call fails with EPERM, as for an unprivileged process, so that
/// libraries that merely probe a call continue without it.
fn filter_system_calls() -> Result<(), seccompiler::Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.into_iter().map(|call| (call, Vec::new())).collect();
    for (call, argument, bits) in BOUND {
        let has_none = SeccompCmpOp::MaskedEq(bits);
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, has_none, 0)?;
        rules.insert(call, vec![SeccompRule::new(vec![condition])?]);
    }
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let program: Result<BpfProgram, BackendError> =
        SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)?.try_into();
    seccompiler::apply_filter(&program?)
}
