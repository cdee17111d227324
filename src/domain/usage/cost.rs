//! Costs of replies in millionths of a US dollar, and whether they are estimates. An unknown cost is absent, never 0
//! (`docs/adr/0024-usage-and-cost.md`). Price lists belong to the server.

use serde::{Deserialize, Serialize};

/// The cost of a turn or of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Cost {
    /// Millionths of a US dollar.
    pub micros: u64,
    /// True if any part was computed from token counts and a price list instead of reported by the provider.
    pub is_estimated: bool,
}

/// The source of a provider call's cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostBasis {
    /// The provider reported the cost.
    Reported,
    /// Computed from token counts with the configured prices.
    Configured,
    /// Computed from token counts with the price list of this version.
    Listed,
    /// The provider refused the request or was unreachable, so nothing is charged.
    Refused,
}

/// The cost of one provider call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Millionths of a US dollar.
    pub micros: u64,
    pub basis: CostBasis,
    /// The name and version of the price list. Present only for [`CostBasis::Listed`].
    pub price_version: Option<String>,
}

impl Cost {
    /// Sums the costs of a turn's calls. Returns `None` if there are none or if any is unknown, because a partial sum
    /// would look like the total.
    pub fn from_charges<'a>(charges: impl IntoIterator<Item = Option<&'a Charge>>) -> Option<Self> {
        charges.into_iter().map(|charge| charge.map(Self::from)).reduce(|a, b| Some(a?.and(b?))).flatten()
    }

    fn and(self, other: Self) -> Self {
        Self { micros: self.micros.saturating_add(other.micros), is_estimated: self.is_estimated || other.is_estimated }
    }
}

impl From<&Charge> for Cost {
    fn from(charge: &Charge) -> Self {
        let is_estimated = matches!(charge.basis, CostBasis::Configured | CostBasis::Listed);
        Self { micros: charge.micros, is_estimated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charge(micros: u64, basis: CostBasis) -> Charge {
        Charge { micros, basis, price_version: None }
    }

    #[test]
    fn turn_cost_is_sum_of_its_calls_if_all_are_known() {
        let (reported, computed) = (charge(3, CostBasis::Reported), charge(4, CostBasis::Listed));
        let refused = charge(0, CostBasis::Refused);
        let cost = |micros, is_estimated| Some(Cost { micros, is_estimated });
        for (parts, sum) in [
            (vec![], None),
            (vec![None], None),
            (vec![Some(&reported)], cost(3, false)),
            (vec![Some(&reported), Some(&computed)], cost(7, true)),
            (vec![Some(&reported), Some(&refused)], cost(3, false)),
            (vec![Some(&reported), None, Some(&computed)], None),
            (vec![None, Some(&reported)], None),
        ] {
            assert_eq!(Cost::from_charges(parts.clone()), sum, "{parts:?}");
        }
        let most = charge(u64::MAX, CostBasis::Configured);
        assert_eq!(Cost::from_charges([Some(&most), Some(&reported)]), cost(u64::MAX, true));
    }
}
