//! Lists by name for administrators, page by page: the part of a name that entries are found by, and the entry behind which
//! a page begins. Names are compared as elsewhere (`account_names`), so any way to write one finds it.

use std::collections::{BTreeSet, HashMap};

use super::account_names::name_key;
use super::management::ListedAccount;
use crate::{Service, ServiceError};
use turnleaf_domain::{UserId, limits};
use turnleaf_store::accounts::groups::{self, AccountGroup};
use turnleaf_store::accounts::users;

pub use turnleaf_store::accounts::groups::GroupName;

/// The entries of a list that somebody asks for; the first page of all of them by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListPosition {
    /// A part of the name; empty for all entries.
    pub find: String,
    /// The name behind which the page begins; empty for the first page.
    pub after: String,
}

/// A page of a list by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPage<T> {
    pub entries: Vec<T>,
    /// The name behind which the next page begins; `None` on the last one.
    pub next: Option<String>,
}

impl ListPosition {
    /// Takes both texts as they were typed. Names are short, so no more of them is compared.
    pub fn new(find: &str, after: &str) -> Self {
        let text = |typed: &str| typed.replace('\0', "").trim().chars().take(limits::ACCOUNT_NAME_CHARS).collect();
        Self { find: text(find), after: text(after) }
    }

    /// Returns the groups whose names fit, by name.
    pub fn find_groups(&self, groups: &[GroupName]) -> Vec<GroupName> {
        let part = name_key(&self.find);
        let mut found: Vec<(String, &GroupName)> = groups.iter().map(|group| (name_key(&group.name), group)).collect();
        found.retain(|(key, _)| key.contains(&part));
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found.into_iter().map(|(_, group)| group.clone()).collect()
    }
}

impl<T> ListedPage<T> {
    /// Makes a page of the entries behind its beginning. One more than it holds tells that there is another page.
    fn cut(mut entries: Vec<T>, name: impl Fn(&T) -> &str) -> Self {
        let most = limits::ACCOUNTS_PAGE as usize;
        let has_more = entries.len() > most;
        entries.truncate(most);
        // Nothing begins behind a name that could not be read.
        let last = entries.last().filter(|_| has_more).map(|entry| name(entry).to_owned());
        Self { entries, next: last.filter(|name| !name.is_empty()) }
    }
}

impl Service {
    /// Returns a page of the accounts, by name.
    pub async fn account_page(&self, position: &ListPosition) -> Result<ListedPage<ListedAccount>, ServiceError> {
        let (after, part) = (name_key(&position.after), name_key(&position.find));
        let accounts = users::page(self.db(), (&after, &part), limits::ACCOUNTS_PAGE + 1).await?;
        Ok(ListedPage::cut(accounts, |account| account.name.as_str()))
    }

    /// Returns the names of these accounts.
    pub async fn account_names(
        &self,
        accounts: impl IntoIterator<Item = UserId>,
    ) -> Result<HashMap<UserId, String>, ServiceError> {
        let accounts: BTreeSet<UserId> = accounts.into_iter().collect();
        let accounts: Vec<UserId> = accounts.into_iter().collect();
        Ok(users::names(self.db(), &accounts).await?)
    }

    /// Returns the names of all groups in the order of their creation.
    pub async fn group_names(&self) -> Result<Vec<GroupName>, ServiceError> {
        Ok(groups::names(self.db(), limits::GROUPS).await?)
    }

    /// Returns a page of the groups, by name, with the numbers of their members.
    pub async fn group_page(&self, position: &ListPosition) -> Result<ListedPage<AccountGroup>, ServiceError> {
        let after = name_key(&position.after);
        let mut found = position.find_groups(&self.group_names().await?);
        found.retain(|group| after.is_empty() || name_key(&group.name) > after);
        let ListedPage { entries, next } = ListedPage::cut(found, |group| group.name.as_str());
        let ids: Vec<_> = entries.iter().map(|group| group.id).collect();
        let groups = groups::list_some(self.db(), &ids).await?;
        Ok(ListedPage { entries: groups, next })
    }
}
