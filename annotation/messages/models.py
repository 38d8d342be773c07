"""What is wrong with a project's policy or label scheme."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "cron_day_wrong": "the day of the month is wrong",
    "cron_hour_wrong": "the hour is wrong",
    "cron_minute_wrong": "the minute is wrong",
    "cron_month_wrong": "the month is wrong",
    "cron_not_five_fields": "it does not have five fields",
    "cron_weekday_wrong": "the weekday is wrong",
    "entry_repeated": "{field}: '{name}' stands there twice",
    "entry_without_name": "{field}: every entry needs a name",
    "heartbeat_too_slow": "a sign of life every {seconds} s comes too rarely for {minutes} min: at least two have to fit in",
    "key_taken": "keys: '{key}' stands for {one} and for {other}: give one of them another key",
    "key_unusable": "keys: {key!r} cannot be one: a small letter, a digit or another sign can",
    "lane_without_hints": "lanes: hints are never shown in the lane '{lane}'",
    "not_a_schedule": "“{cron}” is not a schedule: {reason}. Give minute, hour, day, month and weekday, such as 0 3 * * 1-5",
    "not_a_time_zone": "“{name}” is no time zone: give one such as Europe/Zurich or UTC",
    "not_quiet_hours": "“{line}” are no quiet hours: give 22:00-07:00, sat 09:00-12:00 or mon-fri 09:00-18:00",
    "pass_mark_too_high": (
        "the pass mark {mark} is more than the {n} item",
        "the pass mark {mark} is more than the {n} items",
    ),
    "recovery_behind_first_error": "recovery is asked of steps behind an error: do not stop at the first one",
    "source_repeated": "a source stands there twice",
    "unknown_key_name": "keys: nothing is called '{unknown}'; what has a key is {known}",
    "word_not_among_known": "'{word}' is none of {known}",
}
