#include "daemon/store/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/store/sql.h"

/* "jxpf": whose file it is (PRAGMA application_id). */
#define APPLICATION_ID 0x6a787066

/* What a connection is set to. A window that a client was told of has to survive a loss of power:
 * so each transaction is written through. The cache is small, since rows are read once. */
static const char connection_settings[] = "PRAGMA synchronous = FULL;"
					  "PRAGMA foreign_keys = ON;"
					  "PRAGMA cache_size = -2048;"
					  "PRAGMA temp_store = MEMORY;"
					  "PRAGMA trusted_schema = OFF;"
					  "PRAGMA cell_size_check = ON;";
/* And a file that is written; room of what was deleted is given back in steps. */
static const char file_settings[] = "PRAGMA auto_vacuum = INCREMENTAL;"
				    "PRAGMA journal_mode = WAL;"
				    "PRAGMA journal_size_limit = 16777216;";

/* As ALTER TABLE writes them behind the others, so that a file of before becomes the same. */
#define COLUMN_KINDS   "kinds INTEGER NOT NULL DEFAULT 0"
#define COLUMN_ASKER   "asker INTEGER NOT NULL DEFAULT 0"
#define COLUMN_VERSION "version TEXT NOT NULL DEFAULT ''"
/* What a scheduled window stands for (fleet/draw.h); 0: somebody asked, or it is not known. */
#define COLUMN_WEIGHT "weight_s REAL NOT NULL DEFAULT 0"

/* Windows that wait to be sent (daemon/store/queue.h). The index is for what goes with a window. */
#define QUEUE                                                            \
	"CREATE TABLE queue ("                                           \
	" destination TEXT NOT NULL,"                                    \
	" number INTEGER NOT NULL REFERENCES windows ON DELETE CASCADE," \
	" PRIMARY KEY (destination, number)) WITHOUT ROWID;"             \
	"CREATE INDEX queue_by_number ON queue (number);"

static const char tables[] =
    "CREATE TABLE windows ("
    " number INTEGER PRIMARY KEY,"
    " app TEXT NOT NULL,"
    " owner INTEGER NOT NULL,"
    " pid INTEGER NOT NULL,"
    " state INTEGER NOT NULL,"
    " reason TEXT NOT NULL,"
    " schedule TEXT NOT NULL,"
    " sampler INTEGER NOT NULL,"
    " start_unix_ns INTEGER NOT NULL,"
    " end_unix_ns INTEGER NOT NULL,"
    " elapsed_ns INTEGER NOT NULL,"
    " duration_ns INTEGER NOT NULL,"
    " samples INTEGER NOT NULL,"
    " traps INTEGER NOT NULL,"
    " record_bytes INTEGER NOT NULL, " COLUMN_KINDS ", " COLUMN_ASKER ", " COLUMN_VERSION
    ", " COLUMN_WEIGHT ");"
    "CREATE INDEX windows_by_app ON windows (app, start_unix_ns);"
    "CREATE INDEX windows_by_start ON windows (start_unix_ns);"
    "CREATE INDEX windows_unfinished ON windows (state) WHERE state IN (0, 1);"
    /* Users have lists of their own windows, among many others'. */
    "CREATE INDEX windows_by_owner ON windows (owner, start_unix_ns);"
    "CREATE TABLE records ("
    " number INTEGER PRIMARY KEY REFERENCES windows ON DELETE CASCADE"
    "  DEFERRABLE INITIALLY DEFERRED,"
    " record BLOB NOT NULL);"
    "CREATE TABLE notes (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;" QUEUE;

/* Of version 3, whose windows do not say what they are for and who asked. */
#define FROM_4                                               \
	"ALTER TABLE windows ADD COLUMN " COLUMN_VERSION ";" \
	"ALTER TABLE windows ADD COLUMN " COLUMN_WEIGHT ";" QUEUE
static const char from_3[] = "ALTER TABLE windows ADD COLUMN " COLUMN_KINDS ";"
			     "ALTER TABLE windows ADD COLUMN " COLUMN_ASKER ";" FROM_4;
/* And of version 4, which says neither an application's version nor what a window stands for, and
 * sends none anywhere. */
static const char from_4[] = FROM_4;

/* What makes this version of a file of another; NULL of one that cannot be. */
static const char *tables_from(uint64_t version)
{
	static const char *const from[DATABASE_VERSION] = {tables, [3] = from_3, [4] = from_4};

	return version < DATABASE_VERSION ? from[version] : NULL;
}

/* In one transaction: a file has a version whole. */
static int make_tables(sqlite3 *db, const char *sql, struct err *err)
{
	char numbers[96];
	int r = sql_execute(db, "BEGIN IMMEDIATE", "write to the database of windows", err);

	(void)snprintf(numbers, sizeof(numbers),
		       "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		       APPLICATION_ID, DATABASE_VERSION);
	if (r == 0)
		r = sql_execute(db, sql, "make the tables of the database of windows", err);
	if (r == 0)
		r = sql_execute(db, numbers, "make the tables of the database of windows", err);
	if (r < 0)
		(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); /* There may be none. */
	return r;
}

/* An empty file has neither number. */
static int check_version(uint64_t id, uint64_t version, struct err *err)
{
	if (id != APPLICATION_ID && (id != 0 || version != 0))
		return err_set(err, EBADMSG, "the database of windows is somebody else's file");
	if (version > DATABASE_VERSION)
		return err_set(err, EPROTONOSUPPORT,
			       "the database of windows has version %llu, made by a later jxperfd; "
			       "this one knows %d",
			       (unsigned long long)version, DATABASE_VERSION);
	if (version != 0 && version < DATABASE_EARLIEST)
		return err_set(err, EPROTO,
			       "the database of windows has version %llu, made by an earlier "
			       "jxperfd; this one knows %d",
			       (unsigned long long)version, DATABASE_VERSION);
	return 0;
}

/* All that the tables are, as text; to be freed with sqlite3_free. */
static int describe(sqlite3 *db, char **text, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db,
			    "SELECT group_concat(sql, ';') FROM"
			    " (SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name)",
			    &s, err);

	if (r == 0)
		r = sql_row(s, err);
	if (r < 0)
		return r;
	*text = sqlite3_mprintf("%s", sqlite3_column_text(s, 0));
	return *text ? 0 : err_set(err, ENOMEM, "out of memory");
}

/* What a new file's tables are. */
static int describe_new(char **text, struct err *err)
{
	sqlite3 *db = NULL;
	int r = sqlite3_open(":memory:", &db) == SQLITE_OK
		    ? 0
		    : err_set(err, ENOMEM, "out of memory for a database");

	if (r == 0)
		r = sql_execute(db, tables, "make tables in memory", err);
	if (r == 0)
		r = describe(db, text, err);
	(void)sqlite3_close(db); /* No statement is left, so it is not busy. */
	return r;
}

static int check_tables(sqlite3 *db, struct err *err)
{
	char *found = NULL, *expected = NULL;
	int r = describe_new(&expected, err);

	if (r == 0)
		r = describe(db, &found, err);
	if (r == 0 && strcmp(found, expected) != 0)
		r = err_set(err, EBADMSG, "the tables of the database of windows are not ours");
	sqlite3_free(found);
	sqlite3_free(expected);
	return r;
}

static bool has(sqlite3 *db, const char *column, const char *table)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	char question[96];

	(void)snprintf(question, sizeof(question), "SELECT %s FROM main.%s", column, table);
	return sql_prepare(db, question, &s, NULL) == 0;
}

/* What is wrong with it shows in what can be read, and nothing is written to it: what it has not
 * got is in views of this connection, whose names go before the tables'. Whether it has it, it says
 * itself, since its version may be what is damaged. */
static int see_as_ours(sqlite3 *db, struct err *err)
{
	static const struct {
		const char *name, *value;
	} later[] = {{"kinds", "0"}, {"asker", "0"}, {"version", "''"}, {"weight_s", "0"}};
	char view[256] = "CREATE TEMP VIEW windows AS SELECT *";
	size_t length = strlen(view), before = length;
	int r = 0;

	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (!has(db, later[i].name, "windows"))
			length += (size_t)snprintf(view + length, sizeof(view) - length,
						   ", %s AS %s", later[i].value, later[i].name);
	(void)snprintf(view + length, sizeof(view) - length, " FROM main.windows");
	if (length > before)
		r = sql_execute(db, view, "read the database of windows", err);
	if (r == 0 && !has(db, "destination", "queue"))
		r = sql_execute(db,
				"CREATE TEMP VIEW queue AS"
				" SELECT '' AS destination, 0 AS number WHERE 0",
				"read the database of windows", err);
	return r;
}

int schema_prepare(sqlite3 *db, enum database_use use, struct err *err)
{
	uint64_t id = 0, version = 0;
	struct err ignored;
	int r;

	if ((r = sql_execute(db, connection_settings, "open the database of windows", err)) < 0 ||
	    (r = sql_number(db, "PRAGMA application_id", &id, err)) < 0 ||
	    (r = sql_number(db, "PRAGMA user_version", &version, err)) < 0)
		return r;
	if (use == DATABASE_SALVAGE)
		return see_as_ours(db, err);
	r = check_version(id, version, err);
	if (r < 0)
		return r;
	if (use == DATABASE_READ)
		return version == DATABASE_VERSION
			   ? 0
			   : err_set(err, EPROTONOSUPPORT,
				     "the database of windows is not ours yet");
	r = sql_execute(db, file_settings, "open the database of windows", err);
	/* One that has this version's tables has a damaged number. */
	if (r == 0 && version != DATABASE_VERSION)
		r = make_tables(db, check_tables(db, &ignored) == 0 ? "" : tables_from(version),
				err);
	return r == 0 ? check_tables(db, err) : r;
}
