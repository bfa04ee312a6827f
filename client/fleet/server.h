/*
 * A ClickHouse server by HTTP, with libcurl: where a fleet's windows are. Each query is one POST.
 * An answer is read to a limit, redirects are not followed, and whatever the server does ends in
 * one line.
 */
#ifndef JXPERF_CLIENT_FLEET_SERVER_H
#define JXPERF_CLIENT_FLEET_SERVER_H

#include "common/buffer.h"
#include "common/err.h"
#include "fleet/report/fleet_report.h"

/* Where the password is, if no file is named. */
#define SERVER_PASSWORD "JXPERF_CLICKHOUSE_PASSWORD"

#define SERVER_URL_DEFAULT "http://127.0.0.1:8123"

/* What answers that are held at a time may take: of a report, those of all tables. */
#define SERVER_ANSWER_MAX ((size_t)256 << 20)
#define SERVER_TIMEOUT_S  300

/* As options say; texts are borrowed. */
struct server_options {
	const char *url;           /* NULL: the default */
	const char *database;      /* NULL: HOUSE_DATABASE */
	const char *user;          /* NULL: the server's own default */
	const char *password_file; /* NULL: the environment's */
	const char *ca_file;       /* NULL: the system's */
};

struct server;

/* 0 with *s to be released; -EINVAL for a bad address or name; -ENOENT without libcurl; or -errno.
 */
int server_open(const struct server_options *o, struct server **s, struct err *err);
void server_release(struct server **s); /* for _cleanup_; of NULL it is safe */

/* As struct fleet_server has it. -ECONNREFUSED where nobody answers, -EACCES where the user may
 * not, -ENOENT without the tables, -EPROTO for another refusal, -EMSGSIZE for an answer beyond the
 * limit.
 */
int server_ask(void *server, const char *query, struct buffer *answer, struct err *err);

/* Borrowed. */
const struct fleet_server *server_asked(const struct server *s);

#endif
