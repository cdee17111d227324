//! Secrets of forms that wait for the password of their person: they stay in memory for a few minutes, belong to one
//! session, are taken once, and never go back into a page. After a restart they have to be typed again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

use turnleaf_domain::{SessionId, UserId, limits};
use turnleaf_platform::random::random_token;

/// The secrets of one form.
struct WithheldForm {
    user: UserId,
    session: SessionId,
    at: Instant,
    fields: Vec<(String, SecretString)>,
}

/// The secrets of forms that wait, by the random names that the forms have for them.
#[derive(Default)]
pub(super) struct WithheldSecrets(Mutex<HashMap<String, WithheldForm>>);

impl WithheldSecrets {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, WithheldForm>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the secrets of a form, and returns their name. Longer ones than any key are not kept.
    pub(super) fn withhold(&self, (user, session): (UserId, SessionId), fields: Vec<(String, String)>) -> String {
        let name = random_token();
        if fields.iter().map(|(_, value)| value.len()).sum::<usize>() > limits::WITHHELD_BYTES {
            return name;
        }
        let fields = fields.into_iter().map(|(field, value)| (field, value.into())).collect();
        self.forget_expired();
        let mut forms = self.lock();
        remove_oldest(&mut forms, limits::WITHHELD_PER_USER, |form| form.user == user);
        remove_oldest(&mut forms, limits::WITHHELD_FORMS, |_| true);
        forms.insert(name.clone(), WithheldForm { user, session, at: Instant::now(), fields });
        name
    }

    /// Forgets the secrets whose time is over. Without this the last ones would stay until somebody sends a further form.
    pub(super) fn forget_expired(&self) {
        self.lock().retain(|_, form| form.at.elapsed() < limits::WITHHELD_FOR);
    }

    /// Returns the secrets of this name once, in the session that sent them; `None` if they are not kept any more.
    pub(super) fn take(&self, session: SessionId, name: &str) -> Option<Vec<(String, String)>> {
        let mut forms = self.lock();
        let is_kept = |form: &&WithheldForm| form.session == session && form.at.elapsed() < limits::WITHHELD_FOR;
        forms.get(name).filter(is_kept)?;
        let form = forms.remove(name)?;
        Some(form.fields.into_iter().map(|(field, value)| (field, value.expose_secret().to_owned())).collect())
    }
}

/// Makes room for one more form among those that fit.
fn remove_oldest(forms: &mut HashMap<String, WithheldForm>, most: usize, fits: impl Fn(&WithheldForm) -> bool) {
    let fitting = |forms: &HashMap<String, WithheldForm>| forms.values().filter(|form| fits(form)).count();
    while fitting(forms) >= most {
        let oldest = forms.iter().filter(|(_, form)| fits(form)).min_by_key(|(_, form)| form.at);
        let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { return };
        forms.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    fn user(number: u128) -> UserId {
        UserId::from_uuid(Uuid::from_u128(number))
    }

    fn session(number: u128) -> SessionId {
        SessionId::from_uuid(Uuid::from_u128(number))
    }

    fn key(value: &str) -> Vec<(String, String)> {
        vec![("key".to_owned(), value.to_owned())]
    }

    #[tokio::test(start_paused = true)]
    async fn secrets_are_taken_once_in_their_session_and_in_time() {
        let withheld = WithheldSecrets::default();
        let name = withheld.withhold((user(1), session(1)), key("sk-1"));
        assert_eq!(withheld.take(session(2), &name), None, "another session");
        assert_eq!(withheld.take(session(1), "another name"), None);
        assert_eq!(withheld.take(session(1), &name), Some(key("sk-1")));
        assert_eq!(withheld.take(session(1), &name), None, "a second time");
        let late = withheld.withhold((user(1), session(1)), key("sk-2"));
        tokio::time::advance(limits::WITHHELD_FOR - Duration::from_secs(1)).await;
        let other = withheld.withhold((user(1), session(1)), key("sk-3"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(withheld.take(session(1), &late), None);
        assert_eq!(withheld.take(session(1), &other), Some(key("sk-3")));
        withheld.forget_expired();
        assert!(withheld.lock().is_empty(), "the late one is forgotten");
        let long = withheld.withhold((user(1), session(1)), key(&"a".repeat(limits::WITHHELD_BYTES + 1)));
        assert_eq!(withheld.take(session(1), &long), None);
    }

    #[tokio::test(start_paused = true)]
    async fn one_person_does_not_displace_others() {
        let withheld = WithheldSecrets::default();
        let of_other = withheld.withhold((user(2), session(2)), key("sk-0"));
        let mut names = Vec::new();
        for _ in 0..=limits::WITHHELD_PER_USER {
            tokio::time::advance(Duration::from_secs(1)).await;
            names.push(withheld.withhold((user(1), session(1)), key("sk-1")));
        }
        let taken = names.iter().map(|name| withheld.take(session(1), name).is_some()).collect::<Vec<_>>();
        assert_eq!(taken.iter().filter(|is_taken| **is_taken).count(), limits::WITHHELD_PER_USER);
        assert!(!taken[0], "the oldest made room");
        assert_eq!(withheld.take(session(2), &of_other), Some(key("sk-0")));
    }
}
