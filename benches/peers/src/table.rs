//! What people read: a table for each comparison, the first contestant being the one that the others are compared with.

use crate::measure::Result;

/// Prints a table.
pub fn print(title: &str, unit: &str, results: &[Result]) {
    println!("\n{title}\n");
    println!("| | points | {unit} | transitions | live | {unit} per second (lowest to highest) | the first is |");
    println!("|---|---|---|---|---|---|---|");
    let first = results.first().map_or(1.0, |result| result.rates[1]);
    for result in results {
        let Result { name, points, rates: [lowest, median, highest], work } = result;
        let points = points.map_or("-".to_owned(), |points| format!("{points:.0}"));
        let transitions = if work.transitions == 0 { "-".to_owned() } else { work.transitions.to_string() };
        let live = work.live.map_or("-".to_owned(), |live| live.to_string());
        let (lowest, rate, highest) = (of(*lowest), of(*median), of(*highest));
        let ratio = first / median;
        println!(
            "| {name} | {points} | {} | {transitions} | {live} | {rate} ({lowest} to {highest}) | {ratio:.2}x |",
            work.each.unwrap_or(work.units)
        );
    }
}

/// A rate with three digits.
fn of(rate: f64) -> String {
    match rate {
        rate if rate >= 1e6 => format!("{:.2} M", rate / 1e6),
        rate if rate >= 1e5 => format!("{:.0} k", rate / 1e3),
        rate if rate >= 1e4 => format!("{:.1} k", rate / 1e3),
        rate if rate >= 1e3 => format!("{:.2} k", rate / 1e3),
        rate => format!("{rate:.0}"),
    }
}
