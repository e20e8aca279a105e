/* log.h: log lines of the service. Used from the engine upwards and by plug-ins; never by core.
 *
 * One line a message on standard error, with the syslog priority in front ("<4>") when the journal reads it
 * (JOURNAL_STREAM is set), and a time stamp when it does not. Thread-safe: a line is written in one piece.
 * Secrets are never logged: they are kept in source_config.password and nowhere else.
 */
#ifndef BALLAST_BASE_LOG_H
#define BALLAST_BASE_LOG_H

enum log_level {
    LOG_LEVEL_ERROR = 3,
    LOG_LEVEL_WARNING = 4,
    LOG_LEVEL_NOTICE = 5,
    LOG_LEVEL_INFO = 6,
    LOG_LEVEL_DEBUG = 7
};

/* Messages above this level are dropped; LOG_LEVEL_INFO to begin with. */
void log_set_level(enum log_level level);

void log_at(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_at(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_at(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...) log_at(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...) log_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
