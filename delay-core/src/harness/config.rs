//! What a test is configured with: data that a `const` can hold, and where each setting can be overridden.
//!
//! Precedence: flag (through the request) > `DELAY_*` variable > attribute > default.

use super::checkpoint::{self, Found, Place};
use crate::{
    limits,
    live::{End, Options, Waiting},
    numbers,
    protocol::{JOBS_MAX, MODES, Overrides, REDUCTIONS, shard},
    search::{Cache, Delta, Execution, Fingerprints, Mode, Reduction, Settings, Shard, budget::Limits},
    world::{
        Granularity,
        fault::{Faults, Time},
        premises::Premises,
    },
};
use std::{env, fmt, str::FromStr, time::Duration};

/// What a test expects of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Expect {
    /// That nothing is found.
    #[default]
    Pass,
    /// That a bug is found: a known or seeded one.
    Fail,
}

/// The settings of one test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Config {
    pub(super) explorer: &'static str,
    pub(super) seed: u64,
    pub(super) mode: Mode,
    pub(super) max_delays: Option<u32>,
    pub(super) delta: Delta,
    pub(super) max_steps: u32,
    pub(super) granularity: Granularity,
    pub(super) end: End,
    pub(super) cache: Cache,
    pub(super) fingerprints: Fingerprints,
    pub(super) reduction: Reduction,
    pub(super) execution: Execution,
    pub(super) budget: Duration,
    pub(super) max_states: Option<u64>,
    pub(super) max_cache: Option<u64>,
    pub(super) samples: Option<u64>,
    pub(super) jobs: u32,
    pub(super) deterministic: bool,
    pub(super) shard: Shard,
    pub(super) expect: Expect,
    pub(super) waiting: Waiting,
    pub(super) faults: Faults,
    pub(super) time: Time,
    pub(super) skew: Duration,
    pub(super) temperature: Option<u32>,
    #[cfg(feature = "test-hooks")]
    pub(super) masked: Option<crate::world::masked::Part>,
    #[cfg(feature = "test-hooks")]
    pub(super) wire: Option<crate::world::as_set::Wire>,
}

impl Config {
    pub(super) const DEFAULT: Self = Self {
        explorer: "rtc",
        seed: 0,
        mode: Mode::Ses,
        max_delays: None,
        delta: Delta::Rising,
        max_steps: limits::STEPS_DEFAULT,
        granularity: Granularity::Send,
        end: End::Quiescent,
        cache: Cache::State,
        fingerprints: Fingerprints::Bits64,
        reduction: Reduction::None,
        execution: Execution::Learned,
        budget: Duration::from_secs(limits::BUDGET_DEFAULT_SECONDS),
        max_states: None,
        max_cache: None,
        samples: None,
        jobs: 1,
        deterministic: false,
        shard: Shard::WHOLE,
        expect: Expect::Pass,
        waiting: Waiting::Allow,
        faults: Faults::NONE,
        time: Time::Any,
        skew: Duration::ZERO,
        temperature: None,
        #[cfg(feature = "test-hooks")]
        masked: None,
        #[cfg(feature = "test-hooks")]
        wire: None,
    };
}

/// A configuration after all overrides.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) explorer: String,
    pub(super) config: Config,
    /// Where the search is saved, if it is.
    pub(super) place: Option<Place>,
}

impl Resolved {
    /// Applies what the environment and the request override.
    ///
    /// # Errors
    /// A variable or flag with a value that cannot be, with what is allowed.
    pub(super) fn new(config: Config, overrides: &Overrides) -> Result<Self, ConfigError> {
        let mut resolved = Self { explorer: config.explorer.to_owned(), config, place: None };
        let variables = from_env()?;
        resolved.apply(&variables)?;
        resolved.apply(overrides)?;
        resolved.place = place(&variables, overrides)?;
        resolved.fits()?;
        Ok(resolved)
    }

    /// Whether the settings fit together.
    ///
    /// # Errors
    /// Two that do not.
    pub(super) fn fits(&self) -> Result<(), ConfigError> {
        let Config { mode, temperature, reduction, cache, faults, end, shard, .. } = self.config;
        if temperature.is_some() && mode != Mode::Random {
            let allowed = "\"random\", because `temperature` is set: no other mode is fair, and to be hot for long says nothing in an unfair execution";
            return Err(ConfigError::new("mode", mode.name(), allowed));
        }
        if reduction == Reduction::Dpor {
            let fits = |fits: bool, what, found, allowed| {
                if fits { Ok(()) } else { Err(ConfigError::new(what, found, allowed)) }
            };
            fits(mode == Mode::Ses, "mode", mode.name(), "\"ses\", because `reduction` is \"dpor\"")?;
            let none = |fits: bool, what: &str, why| {
                if fits { Ok(()) } else { Err(ConfigError::meaningless(what, "with reduction \"dpor\"", why)) }
            };
            none(cache == Cache::State, "cache", "it visits executions and remembers no states")?;
            let whole =
                "\"quiescent\", because `reduction` is \"dpor\": the end of the body is no end of the others' steps";
            fits(end == End::Quiescent, "end", "body", whole)?;
            none(!faults.is_any(), "faults", "what may go wrong commutes with nothing")?;
            none(shard.is_whole(), "shard", "it is searched as a whole")?;
        }
        if !shard.is_whole() && mode == Mode::SesSs {
            let allowed = "\"ses\", \"ss\" or \"random\", because the search is divided into shards: how far the exhaustive part of ses+ss gets is up to each of them";
            return Err(ConfigError::new("mode", mode.name(), allowed));
        }
        Ok(())
    }

    fn apply(&mut self, overrides: &Overrides) -> Result<(), ConfigError> {
        let Overrides { explorer, mode, reduction, .. } = overrides;
        let Overrides { max_delays, seed, budget_ms, samples, max_states, .. } = overrides;
        let Overrides { max_cache, fingerprints, max_steps, jobs, shard, .. } = overrides;
        let config = &mut self.config;
        if let Some(explorer) = explorer {
            self.explorer.clone_from(explorer);
        }
        if let Some(mode) = mode {
            config.mode = parse_mode(mode)?;
        }
        if let Some(reduction) = reduction {
            config.reduction = parse_reduction(reduction)?;
        }
        config.max_delays = max_delays.or(config.max_delays);
        config.seed = seed.unwrap_or(config.seed);
        config.budget = budget_ms.map_or(config.budget, Duration::from_millis);
        config.samples = samples.or(config.samples);
        config.max_states = max_states.or(config.max_states);
        config.max_cache = max_cache.or(config.max_cache);
        if let Some(bits) = fingerprints {
            config.fingerprints = parse_fingerprints(*bits)?;
        }
        if let Some(steps) = max_steps {
            let steps = u32::try_from(*steps).ok().filter(|steps| *steps > 0);
            config.max_steps =
                steps.ok_or_else(|| ConfigError::new("max_steps", "0 or too large", "1 to 4294967295"))?;
        }
        config.jobs = jobs.unwrap_or(config.jobs);
        config.shard = shard.map_or(config.shard, Shard::from);
        Ok(())
    }

    pub(super) fn options(&self) -> Options {
        let Config { granularity, end, waiting, max_steps, seed, faults, time, skew, temperature, .. } = self.config;
        Options {
            granularity,
            end,
            waiting,
            max_steps,
            seed,
            faults,
            premises: Premises::default(),
            premises_are_given: false,
            time,
            skew: u64::try_from(skew.as_nanos()).unwrap_or(u64::MAX),
            temperature,
            #[cfg(feature = "test-hooks")]
            masked: self.config.masked,
            #[cfg(feature = "test-hooks")]
            wire: self.config.wire,
        }
    }

    pub(super) fn settings(&self) -> Settings {
        let Config { mode, max_delays, delta, cache, fingerprints, reduction, execution, samples, seed, .. } =
            self.config;
        let Config { budget, max_states, max_cache, jobs, deterministic, shard, .. } = self.config;
        let limits = Limits { time: Some(budget), states: max_states, cache: max_cache };
        Settings {
            mode,
            max_delays,
            delta,
            cache,
            fingerprints,
            reduction,
            execution,
            samples,
            seed,
            jobs,
            deterministic,
            shard,
            limits,
        }
    }
}

/// Where a search is saved, and how often; what the command line says comes first.
fn place(variables: &Overrides, overrides: &Overrides) -> Result<Option<Place>, ConfigError> {
    let every = overrides.checkpoint_every_ms.or(variables.checkpoint_every_ms).map(Duration::from_millis);
    let is_resumed = overrides.resume.or(variables.resume).unwrap_or(false);
    let Some(directory) = overrides.checkpoint.as_ref().or(variables.checkpoint.as_ref()) else {
        let alone = if is_resumed { Some("DELAY_RESUME") } else { every.map(|_| "DELAY_CHECKPOINT_EVERY") };
        let where_it_is = "say where it is (--checkpoint, DELAY_CHECKPOINT)";
        return match alone {
            Some(what) => Err(ConfigError::meaningless(what, "without a checkpoint", where_it_is)),
            None => Ok(None),
        };
    };
    Ok(Some(Place {
        directory: checkpoint::directory(directory),
        every: every.unwrap_or(Duration::from_secs(limits::CHECKPOINT_DEFAULT_SECONDS)),
        found: if is_resumed { Found::Resumed } else { Found::Refused },
    }))
}

fn parse_mode(text: &str) -> Result<Mode, ConfigError> {
    let mode = Mode::ALL.into_iter().find(|mode| mode.name() == text);
    mode.ok_or_else(|| ConfigError::new("mode", text, &either(&MODES)))
}

fn parse_fingerprints(bits: u32) -> Result<Fingerprints, ConfigError> {
    let fingerprints = Fingerprints::ALL.into_iter().find(|fingerprints| fingerprints.bits() == bits);
    fingerprints.ok_or_else(|| ConfigError::new("fingerprints", &bits.to_string(), "64 or 128"))
}

fn parse_reduction(text: &str) -> Result<Reduction, ConfigError> {
    let reduction = Reduction::ALL.into_iter().find(|reduction| reduction.name() == text);
    reduction.ok_or_else(|| ConfigError::new("reduction", text, &either(&REDUCTIONS)))
}

/// One of a few words.
fn either(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

/// The variables that work without the command line tool.
const VARIABLES: [&str; 16] = [
    "DELAY_EXPLORER",
    "DELAY_MODE",
    "DELAY_REDUCTION",
    "DELAY_MAX_DELAYS",
    "DELAY_SEED",
    "DELAY_BUDGET",
    "DELAY_SAMPLES",
    "DELAY_MAX_STATES",
    "DELAY_MAX_CACHE",
    "DELAY_FINGERPRINTS",
    "DELAY_MAX_STEPS",
    "DELAY_JOBS",
    "DELAY_SHARD",
    "DELAY_CHECKPOINT",
    "DELAY_CHECKPOINT_EVERY",
    "DELAY_RESUME",
];

/// Names of set `DELAY_*` variables that mean nothing.
pub(super) fn unknown_variables() -> Vec<String> {
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown = names.filter(|name| name.starts_with("DELAY_") && !VARIABLES.contains(&name.as_str()));
    let mut unknown: Vec<String> = unknown.collect();
    unknown.sort();
    unknown
}

/// What a variable holds; an empty one is not set.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn from_env() -> Result<Overrides, ConfigError> {
    let time = |name: &str| {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let read = |text: String| {
            let parsed = parse_duration(&text).map(milliseconds);
            parsed.ok_or_else(|| ConfigError::new(name, &text, "a time such as \"500ms\", \"10s\", \"5m\" or \"1h\""))
        };
        variable(name).map(read).transpose()
    };
    let resume = variable("DELAY_RESUME").map(|text| match text.as_str() {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => Err(ConfigError::new("DELAY_RESUME", &text, "1 to go on from a checkpoint, or 0")),
    });
    let max_cache = variable("DELAY_MAX_CACHE").map(|text| {
        let wanted = "a size such as \"64KiB\", \"512MiB\" or \"2GiB\"";
        numbers::parse_bytes(&text).ok_or_else(|| ConfigError::new("DELAY_MAX_CACHE", &text, wanted))
    });
    let shard = variable("DELAY_SHARD")
        .map(|text| text.parse().map_err(|_| ConfigError::new("DELAY_SHARD", &text, shard::EXPECTED)));
    Ok(Overrides {
        explorer: variable("DELAY_EXPLORER"),
        mode: word("DELAY_MODE", &MODES)?,
        reduction: word("DELAY_REDUCTION", &REDUCTIONS)?,
        max_delays: number("DELAY_MAX_DELAYS", 0, u64::from(u32::MAX))?,
        seed: number("DELAY_SEED", 0, u64::MAX)?,
        budget_ms: time("DELAY_BUDGET")?,
        samples: number("DELAY_SAMPLES", 1, u64::MAX)?,
        max_states: number("DELAY_MAX_STATES", 1, u64::MAX)?,
        max_cache: max_cache.transpose()?,
        fingerprints: number("DELAY_FINGERPRINTS", 0, u64::from(u32::MAX))?,
        max_steps: number("DELAY_MAX_STEPS", 1, u64::from(u32::MAX))?,
        jobs: number("DELAY_JOBS", 1, u64::from(JOBS_MAX))?,
        shard: shard.transpose()?,
        checkpoint: variable("DELAY_CHECKPOINT"),
        checkpoint_every_ms: time("DELAY_CHECKPOINT_EVERY")?,
        resume: resume.transpose()?,
    })
}

fn word(name: &str, words: &[&str]) -> Result<Option<String>, ConfigError> {
    let Some(text) = variable(name) else { return Ok(None) };
    if words.contains(&text.as_str()) { Ok(Some(text)) } else { Err(ConfigError::new(name, &text, &either(words))) }
}

fn number<N: FromStr + TryInto<u64> + Copy>(name: &str, least: u64, most: u64) -> Result<Option<N>, ConfigError> {
    variable(name).map(|text| parse_number(name, &text, least, most)).transpose()
}

fn parse_number<N>(name: &str, text: &str, least: u64, most: u64) -> Result<N, ConfigError>
where
    N: FromStr + TryInto<u64> + Copy,
{
    let is_within = |number: &N| (*number).try_into().is_ok_and(|number| (least..=most).contains(&number));
    let number = text.replace('_', "").parse().ok().filter(is_within);
    let to = if most == u64::MAX { "or more".to_owned() } else { format!("to {most}") };
    number.ok_or_else(|| ConfigError::new(name, text, &format!("a whole number, {least} {to}")))
}

/// A time such as `500ms`, `10s`, `5m` or `1h`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.trim().find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.trim().split_at(digits);
    let number: u64 = number.parse().ok()?;
    let unit = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(unit).map(Duration::from_millis)
}

/// A setting that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError(String);

impl ConfigError {
    pub(super) fn new(what: &str, found: &str, allowed: &str) -> Self {
        Self(format!("{what} is \"{found}\", expected {allowed}"))
    }

    /// Two settings of which one leaves the other nothing to do.
    fn meaningless(what: &str, beside: &str, why: &str) -> Self {
        Self(format!("`{what}` has no meaning {beside}: {why}"))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(parse_duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(parse_duration("10s"), Some(Duration::from_secs(10)));
        assert_eq!(parse_duration("2 m"), Some(Duration::from_mins(2)));
        for bad in ["", "10", "s", "-1s", "1.5s", "1d", "99999999999999999999h"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_flag_wins_over_the_attribute() {
        let overrides = Overrides { mode: Some("ss".to_owned()), max_delays: Some(7), ..Overrides::default() };
        let resolved = Resolved::new(Config { max_delays: Some(3), ..Config::DEFAULT }, &overrides);
        let config = resolved.map(|resolved| resolved.config).ok();
        assert_eq!(config.map(|config| (config.mode, config.max_delays)), Some((Mode::Ss, Some(7))));
        let bad = Overrides { mode: Some("dfs".to_owned()), ..Overrides::default() };
        let error = Resolved::new(Config::DEFAULT, &bad).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("mode is \"dfs\", expected \"ses\", \"ss\", \"ses+ss\" or \"random\""));
    }

    #[test]
    fn a_variable_takes_what_its_flag_takes() {
        assert_eq!(MODES, Mode::ALL.map(Mode::name));
        assert_eq!(REDUCTIONS, Reduction::ALL.map(Reduction::name));
        let jobs = |text| parse_number::<u32>("DELAY_JOBS", text, 1, 1024).map_err(|error| error.to_string());
        assert_eq!((jobs("1"), jobs("1_024")), (Ok(1), Ok(1024)));
        for bad in ["0", "1025", "-1", "two", ""] {
            let text = format!("DELAY_JOBS is \"{bad}\", expected a whole number, 1 to 1024");
            assert_eq!(jobs(bad), Err(text));
        }
    }
}
