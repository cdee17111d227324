//! The figures with their goals, and the report table.

use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

/// A measured value with its goal.
pub struct BenchFigure {
    /// The id of the performance goal, such as `G1`.
    pub id: &'static str,
    pub name: &'static str,
    pub unit: &'static str,
    pub value: f64,
    pub goal: FigureGoal,
    /// The ratio to a reference value from the same run, if there is one.
    pub ratio: Option<(f64, &'static str)>,
}

/// A bound on a figure.
#[derive(Debug, Clone, Copy)]
pub enum FigureGoal {
    AtMost(f64),
    AtLeast(f64),
}

impl BenchFigure {
    pub fn is_reached(&self) -> bool {
        // A missing measurement is NaN, for which no comparison holds.
        match self.goal {
            FigureGoal::AtMost(bound) => self.value <= bound,
            FigureGoal::AtLeast(bound) => self.value >= bound,
        }
    }

    fn json(&self) -> Value {
        let (goal, bound) = match self.goal {
            FigureGoal::AtMost(bound) => ("at_most", bound),
            FigureGoal::AtLeast(bound) => ("at_least", bound),
        };
        let ratio = self.ratio.map(|(ratio, to)| json!({ "value": ratio, "to": to }));
        json!({
            "id": self.id, "what": self.name, "unit": self.unit, "value": self.value, "goal": { goal: bound },
            "ratio": ratio, "reached": self.is_reached(),
        })
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Prints the table and writes the JSON file.
///
/// # Errors
/// The file cannot be written.
pub fn write_report(figures: &[BenchFigure], notes: &[String], out: &Path) -> Result<()> {
    println!("{:<4} {:<46} {:>10} {:<9} {:>12}  {:<9} ratio", "", "figure", "measured", "", "goal", "");
    for figure in figures {
        let goal = match figure.goal {
            FigureGoal::AtMost(bound) => format!("<= {}", number(bound)),
            FigureGoal::AtLeast(bound) => format!(">= {}", number(bound)),
        };
        let word = if figure.is_reached() { "reached" } else { "MISSED" };
        let ratio = figure.ratio.map(|(ratio, to)| format!("{} {to}", number(ratio))).unwrap_or_default();
        let (value, unit) = (number(figure.value), figure.unit);
        println!("{:<4} {:<46} {value:>10} {unit:<9} {goal:>12}  {word:<9} {ratio}", figure.id, figure.name);
    }
    for note in notes {
        println!("     {note}");
    }
    let reached = figures.iter().filter(|figure| figure.is_reached()).count();
    println!("\n{reached} of {} goals reached", figures.len());
    let figures: Vec<Value> = figures.iter().map(BenchFigure::json).collect();
    fs::write(out, serde_json::to_string_pretty(&json!({ "figures": figures, "notes": notes }))?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmeasured_goal_is_not_reached() {
        let figure = |value, goal| BenchFigure { id: "G1", name: "", unit: "s", value, goal, ratio: None };
        assert!(figure(0.05, FigureGoal::AtMost(0.08)).is_reached());
        assert!(!figure(f64::NAN, FigureGoal::AtMost(0.08)).is_reached());
        assert!(!figure(f64::NAN, FigureGoal::AtLeast(0.98)).is_reached());
    }
}
