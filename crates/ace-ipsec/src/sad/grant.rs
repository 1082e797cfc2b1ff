// SPDX-License-Identifier: Apache-2.0
//! How far an SA may count. Whoever remembers which numbers a key has used gives them out in blocks, each written down
//! before a number of it is used; so nothing that was used is used again after a crash.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// Who gives out numbers.
pub trait Granter: Send + Sync {
    /// The SA that `token` stands for needs all numbers up to this one now: it may take the time of a write. What is
    /// granted then is in `account`; nothing, if it could not be written.
    fn extend(&self, token: u64, account: &Account, number: u64);

    /// The SA will need more before long.
    fn soon(&self, token: u64);
}

/// What was granted to an SA, and what it has used.
#[derive(Debug, Default)]
pub struct Account {
    granted: AtomicU64,
    used: AtomicU64,
    /// From this number on more is asked for.
    low: AtomicU64,
    asked: AtomicBool,
}

impl Account {
    /// Nothing is granted, and all numbers up to `used` are used.
    pub fn after(used: u64) -> Self {
        let account = Self::default();
        account.used.store(used, Relaxed);
        account.granted.store(used, Relaxed);
        account
    }

    /// The highest number that is used.
    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The highest number that may be used.
    pub fn granted(&self) -> u64 {
        self.granted.load(Relaxed)
    }

    /// From now on all numbers up to `number` may be used; more is asked for when half of them are.
    pub fn grant(&self, number: u64) {
        let used = self.used();
        self.low.store(used + number.saturating_sub(used) / 2, Relaxed);
        self.granted.store(number, Relaxed);
        self.asked.store(false, Relaxed);
    }

    /// Takes back what is granted beyond `number`, unless more is used already. Who takes a number says so before it looks
    /// at what is granted, so that either it or this sees the other.
    pub fn lower(&self, number: u64) -> bool {
        let before = self.granted.swap(number, SeqCst);
        let done = self.used.load(SeqCst) <= number;
        if !done {
            self.granted.store(before, SeqCst);
        }
        done
    }

    /// Nothing more is granted: the SA is no more. The highest number that is used.
    pub fn close(&self) -> u64 {
        self.granted.store(0, SeqCst);
        self.used.load(SeqCst)
    }
}

/// An SA's leave to count. That of nobody is without end.
#[derive(Clone, Default)]
pub struct Grant(Option<Arc<Inner>>);

struct Inner {
    account: Arc<Account>,
    token: u64,
    granter: Arc<dyn Granter>,
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Grant(without end)"),
            Some(inner) => f.debug_tuple("Grant").field(&inner.token).field(&inner.account).finish(),
        }
    }
}

impl Grant {
    /// Of `granter`, who knows the SA by `token`.
    pub fn new(granter: Arc<dyn Granter>, token: u64, account: Arc<Account>) -> Self {
        Self(Some(Arc::new(Inner { account, token, granter })))
    }

    /// What the granter knows the SA by; `None`: nobody counts.
    pub fn token(&self) -> Option<u64> {
        self.0.as_ref().map(|inner| inner.token)
    }

    /// Takes all numbers up to this one: they are used, if they may be. It may take the time of a write.
    #[inline]
    pub fn take(&self, number: u64) -> bool {
        let Some(inner) = &self.0 else { return true };
        let account = &inner.account;
        account.used.fetch_max(number, SeqCst);
        if number > account.granted.load(SeqCst) {
            inner.granter.extend(inner.token, account, number);
            return number <= account.granted.load(SeqCst);
        }
        if number >= account.low.load(Relaxed) && !account.asked.swap(true, Relaxed) {
            inner.granter.soon(inner.token);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grants ten at a time, up to a limit.
    struct Ten(u64);

    impl Granter for Ten {
        fn extend(&self, _: u64, account: &Account, number: u64) {
            if number + 10 <= self.0 {
                account.grant(number + 10);
            }
        }

        fn soon(&self, _: u64) {}
    }

    #[test]
    fn what_is_not_granted_is_not_covered() {
        let account = Arc::new(Account::after(5));
        let grant = Grant::new(Arc::new(Ten(40)), 1, Arc::clone(&account));
        assert!(grant.take(6) && account.granted() == 16);
        assert!(grant.take(17) && account.granted() == 27);
        // What is not used is taken back, what is used is not.
        assert!(account.lower(20) && !account.lower(16) && account.granted() == 20);
        assert!(!grant.take(31) && account.granted() == 20);
        assert_eq!((account.close(), grant.take(32)), (31, false));
        assert!(Grant::default().take(u64::MAX));
    }
}
