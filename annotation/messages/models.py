"""What is wrong with a project's policy or label scheme."""

SENTENCES: dict[str, str | tuple[str, str]] = {
    "cron_day_wrong": "the day of the month is invalid",
    "cron_hour_wrong": "the hour is invalid",
    "cron_minute_wrong": "the minute is invalid",
    "cron_month_wrong": "the month is invalid",
    "cron_not_five_fields": "it must have five fields",
    "cron_weekday_wrong": "the weekday is invalid",
    "entry_repeated": "{field}: '{name}' is listed twice",
    "entry_without_name": "{field}: every entry needs a name",
    "heartbeat_too_slow": "the heartbeat interval ({seconds} s) must be at most half the lease time ({minutes} min)",
    "key_taken": "keys: '{key}' is assigned to both {one} and {other}: choose another key for one of them",
    "key_unusable": "keys: {key!r} cannot be used; choose a lower-case letter, a digit or another sign",
    "lane_without_hints": "lanes: hints are never shown in the lane '{lane}'",
    "not_a_schedule": "“{cron}” is not a schedule: {reason}. Enter minute, hour, day, month and weekday, such as 0 3 * * 1-5",
    "not_a_time_zone": "“{name}” is not a time zone. Enter one such as Europe/Zurich or UTC",
    "not_quiet_hours": "“{line}” is not a time range. Use the form 22:00-07:00, sat 09:00-12:00 or mon-fri 09:00-18:00",
    "pass_mark_too_high": (
        "the pass mark {mark} is higher than the {n} item",
        "the pass mark {mark} is higher than the {n} items",
    ),
    "recovery_behind_first_error": "recovery needs ratings after the first error: do not stop at the first error",
    "source_repeated": "a source is listed twice",
    "unknown_key_name": "keys: there is no action '{unknown}'; choose one of {known}",
    "word_not_among_known": "'{word}' is not one of {known}",
}
