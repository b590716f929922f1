//! What was measured, as files: tables of the numbers, and the figures drawn from them.

use crate::chart::{self, About, Line};
use std::{
    error::Error,
    fmt::{self, Write},
    fs,
    path::Path,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Answers are counted in bins of so many milliseconds.
const BIN_MS: u64 = 10;
/// So many bins are a tenth of a second.
const MEAN_BINS: usize = 10;

/// A deployment under a load.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Throughput {
    pub(crate) service: &'static str,
    /// Short, with how many failures it survives: `CR-1FT`.
    pub(crate) configuration: &'static str,
    pub(crate) replicas: usize,
    pub(crate) clients: usize,
    pub(crate) seconds: f64,
    pub(crate) answers: usize,
}

impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, configuration, replicas, clients, .. } = self;
        let per_second = self.per_second();
        write!(f, "{service:14} {configuration}  {replicas} replicas  {clients:3} clients  {per_second:8.0} answers/s")
    }
}

impl Throughput {
    fn per_second(&self) -> f64 {
        self.answers as f64 / self.seconds
    }
}

/// `throughput.csv`: all that was measured; `throughput.svg`: of each configuration the best.
pub(crate) fn throughput(dir: &Path, measured: &[Throughput], note: &str) -> Result<(), Box<dyn Error>> {
    let mut table = String::from("service,configuration,replicas,clients,seconds,answers,answers_per_second\n");
    let mut services: Vec<&str> = Vec::new();
    let mut configurations: Vec<&str> = Vec::new();
    for row in measured {
        let Throughput { service, configuration, replicas, clients, seconds, answers } = row;
        let per_second = row.per_second();
        writeln!(table, "{service},{configuration},{replicas},{clients},{seconds:.3},{answers},{per_second:.0}")?;
        if !services.contains(service) {
            services.push(service);
        }
        if !configurations.contains(configuration) {
            configurations.push(configuration);
        }
    }
    write(&dir.join("throughput.csv"), &table)?;
    let best = |service: &str, configuration: &str| {
        let rows = measured.iter().filter(|row| row.service == service && row.configuration == configuration);
        rows.map(Throughput::per_second).fold(0.0, f64::max)
    };
    let groups: Vec<_> = services
        .iter()
        .map(|service| (*service, configurations.iter().map(|configuration| best(service, configuration)).collect()))
        .collect();
    let about = About { title: "Peak throughput without failures", unit: "answers per second", note };
    chart::bars(&dir.join("throughput.svg"), &about, &configurations, &groups)
}

/// `reconfiguration.csv` and `reconfiguration.svg`: answers over time, and when something happened.
pub(crate) fn reconfiguration(
    dir: &Path,
    answers: &[Duration],
    length: Duration,
    events: &[(Duration, &str)],
    note: &str,
) -> Result<(), Box<dyn Error>> {
    let bins = bins(answers, length);
    let mut table = format!("milliseconds,answers_in_{BIN_MS}_ms\n");
    for (bin, answers) in bins.iter().enumerate() {
        writeln!(table, "{},{answers}", bin as u64 * BIN_MS)?;
    }
    write(&dir.join("reconfiguration.csv"), &table)?;
    let place = |bin: usize| (bin as u64 * BIN_MS) as f64 / 1e3;
    let points: Vec<_> = bins.iter().enumerate().map(|(bin, answers)| (place(bin), f64::from(*answers))).collect();
    let mean = |(last, around): (usize, &[u32])| {
        let sum: u32 = around.iter().sum();
        (place(last + MEAN_BINS - 1), f64::from(sum) / MEAN_BINS as f64)
    };
    let means: Vec<_> = bins.windows(MEAN_BINS).enumerate().map(mean).collect();
    let lines = [Line { name: "in 10 ms", points: &points }, Line { name: "mean of the last 100 ms", points: &means }];
    let marks: Vec<(f64, &str)> = events.iter().map(|(at, what)| (at.as_secs_f64(), *what)).collect();
    let about =
        About { title: "Hash table over a chain of three, one of which is killed", unit: "answers in 10 ms", note };
    chart::lines(&dir.join("reconfiguration.svg"), &about, length.as_secs_f64(), &lines, &marks)
}

/// How many answers came in each bin.
fn bins(answers: &[Duration], length: Duration) -> Vec<u32> {
    let bin = |at: Duration| usize::try_from(at.as_millis() / u128::from(BIN_MS)).unwrap_or(usize::MAX);
    let mut bins = vec![0; bin(length)];
    for answer in answers {
        if let Some(count) = bins.get_mut(bin(*answer)) {
            *count += 1;
        }
    }
    bins
}

/// The longest time between two answers, and when it began.
pub(crate) fn longest_stall(answers: &[Duration]) -> (Duration, Duration) {
    let mut answers = answers.to_vec();
    answers.sort_unstable();
    answers.windows(2).map(|pair| (pair[1].saturating_sub(pair[0]), pair[0])).max().unwrap_or_default()
}

/// On what and when this is measured.
pub(crate) fn note() -> String {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("a processor of unknown model", |(_, model)| model.trim());
    let cores = if processors == 1 { "core" } else { "cores" };
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    format!("all processes on one machine: {processors} {cores}, {model}; {}", date(seconds / 86_400))
}

/// The date so many days after the first of January 1970.
fn date(mut days: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::{Throughput, bins, date, longest_stall, reconfiguration, throughput};
    use std::{fs, time::Duration};

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, said) in [(0, "1970-01-01"), (11_016, "2000-02-29"), (11_017, "2000-03-01"), (20_453, "2025-12-31")]
        {
            assert_eq!(date(days), said);
        }
    }

    #[test]
    fn answers_are_counted_where_they_fell() {
        let answers = [31, 4, 9, 35, 39].map(Duration::from_millis);
        assert_eq!(bins(&answers, Duration::from_millis(40)), [2, 0, 0, 3]);
        assert_eq!(bins(&answers, Duration::from_millis(20)), [2, 0]);
        assert_eq!(longest_stall(&answers), (Duration::from_millis(22), Duration::from_millis(9)));
    }

    #[test]
    fn figures_say_what_was_measured() {
        let dir = tempfile::tempdir().expect("there is a place for temporary files");
        let row = |configuration, clients, answers| Throughput {
            service: "hash table",
            configuration,
            replicas: 2,
            clients,
            seconds: 2.0,
            answers,
        };
        let measured = [row("CR-1FT", 3, 4_000), row("CR-1FT", 12, 24_690), row("MP-1FT", 3, 3_000)];
        throughput(dir.path(), &measured, "two cores").expect("it can be drawn");
        reconfiguration(
            dir.path(),
            &[Duration::from_millis(12)],
            Duration::from_secs(1),
            &[(Duration::from_millis(500), "a mark")],
            "",
        )
        .expect("it can be drawn");
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect("it was written");
        assert!(read("throughput.csv").contains("hash table,CR-1FT,2,12,2.000,24690,12345\n"));
        let drawn = read("throughput.svg");
        for words in ["12,345", "1,500", "hash table", "CR-1FT", "answers per second", "two cores"] {
            assert!(drawn.contains(words), "{words}");
        }
        assert!(read("reconfiguration.csv").contains("\n10,1\n") && read("reconfiguration.svg").contains("a mark"));
    }
}
