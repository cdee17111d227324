//! What replies cost: millionths of a US dollar, and whether anybody but us said so. Unknown is absent, never 0. Prices
//! themselves are the server's to know.

use serde::{Deserialize, Serialize};

/// What a turn cost, or everything of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Cost {
    /// Millionths of a US dollar.
    pub micros: u64,
    /// Whether any part was computed from token counts and a price list, not said by the provider.
    pub is_estimated: bool,
}

/// Where the cost of one provider call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostBasis {
    /// The provider said it in its answer.
    Reported,
    /// The token counts at the prices of the configuration.
    Configured,
    /// The token counts at the prices of the list that comes with this version.
    Listed,
    /// The provider refused the request, or could not be reached: nothing is charged for that.
    Refused,
}

/// What one provider call cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Millionths of a US dollar.
    pub micros: u64,
    pub basis: CostBasis,
    /// The name and version of the price list; only for `ListedModel`.
    pub price_version: Option<String>,
}

impl Cost {
    /// The sum of a turn's calls. `None` where there is none, or where any of them is unknown: a part must not pass for
    /// the whole.
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
        let (said, computed) = (charge(3, CostBasis::Reported), charge(4, CostBasis::Listed));
        let refused = charge(0, CostBasis::Refused);
        let cost = |micros, is_estimated| Some(Cost { micros, is_estimated });
        for (parts, sum) in [
            (vec![], None),
            (vec![None], None),
            (vec![Some(&said)], cost(3, false)),
            (vec![Some(&said), Some(&computed)], cost(7, true)),
            (vec![Some(&said), Some(&refused)], cost(3, false)),
            (vec![Some(&said), None, Some(&computed)], None),
            (vec![None, Some(&said)], None),
        ] {
            assert_eq!(Cost::from_charges(parts.clone()), sum, "{parts:?}");
        }
        let most = charge(u64::MAX, CostBasis::Configured);
        assert_eq!(Cost::from_charges([Some(&most), Some(&said)]), cost(u64::MAX, true));
    }
}
