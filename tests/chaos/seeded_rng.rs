//! A reproducible random number generator: splitmix64, whose quality suffices here and whose numbers depend on the
//! seed alone.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct SeededRng(u64);

/// Returns a random seed, for a run that does not repeat an earlier one.
pub fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000
}

impl SeededRng {
    /// Derives a generator for one scenario, so that a scenario can be repeated alone.
    pub fn from_seed(seed: u64, name: &str) -> Self {
        // FNV-1a gives the same hash on every machine.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(seed ^ hash)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below this bound.
    pub fn next_below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound.max(1) as u64) as usize
    }

    /// Returns a duration between these two.
    pub fn next_duration(&mut self, from: Duration, to: Duration) -> Duration {
        from + (to - from).mul_f64(self.next_below(1 << 20) as f64 / f64::from(1 << 20))
    }
}
