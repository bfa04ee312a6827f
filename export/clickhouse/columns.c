#include "export/clickhouse/columns.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "export/clickhouse/facts.h"
#include "profile/window/tables.h"

#define ROW_ORDER "app, host, store, window_no, row_no"

#define TABLE(title, profile_table, says)                                                      \
	{                                                                                      \
		.name = (title), .words = (says), .order = ROW_ORDER, .table = (profile_table) \
	}

static struct house_table tables[HOUSE_TABLES] = {
    TABLE("kinds", TABLE_KINDS,
	  "totals of a kind of pairs: of the application, by region, of the JVM"),
    TABLE("pairs", TABLE_PAIRS, "pairs of accesses with the same kind, contexts and place"),
    TABLE("ticks", TABLE_CPU_CONTEXTS, "CPU time by calling context"),
    TABLE("objects", TABLE_SITES, "allocation sites, and accesses to their objects"),
    TABLE("object_accesses", TABLE_SITE_ACCESSES, "from where these are accessed"),
    TABLE("strata", TABLE_STRATA, "accesses to the heap by class and size"),
    TABLE("stratum_sites", TABLE_STRATUM_SITES, "those of them to an allocation site's objects"),
    TABLE("fields", TABLE_CLASS_FIELDS, "accesses to the heap by class and field"),
    TABLE("field_accesses", TABLE_CLASS_ACCESSES, "from where these are accessed"),
    TABLE("numa", TABLE_NUMA_SITES, "accesses to an allocation site's objects by NUMA node"),
    TABLE("loops", TABLE_LOOPS, "hot loops"),
    TABLE("loop_callers", TABLE_LOOP_CONTEXTS, "from where these are called"),
    TABLE("loop_results", TABLE_LOOP_PLACES, "where these have results"),
    TABLE("loop_inputs", TABLE_LOOP_INPUTS,
	  "what their instances go by, and how much of it is the same again"),
    TABLE("sharing", TABLE_SHARING,
	  "which threads access an allocation site's objects: the one that allocated them, or "
	  "others"),
    {.name = "windows",
     .words = "windows: of each, the row that is sent last",
     .order = "app, host, store, window_no",
     .table = PROFILE_TABLES},
    {.name = "contexts",
     .words = "frames of calling contexts, root first, by the hash of them",
     .order = "context, host",
     .table = PROFILE_TABLES},
};

/* ---------------------------------------------------------------- making them */

static struct house_column *add(struct house_table *t, const char *prefix, const char *name,
				enum house_type type, enum house_sum sum)
{
	struct house_column *c = &t->columns[t->count++];

	int size = snprintf(c->name, sizeof(c->name), "%s%s", prefix, name);

	assert(size > 0 && (size_t)size < sizeof(c->name) && t->count <= HOUSE_COLUMNS_MAX);
	c->type = (uint8_t)type;
	c->sum = (uint8_t)sum;
	return c;
}

static void add_facts(struct house_table *t, const struct house_column *facts)
{
	for (; facts->name[0]; facts++) {
		assert(t->count < HOUSE_COLUMNS_MAX);
		t->columns[t->count++] = *facts;
	}
}

struct part {
	const char *suffix;
	enum house_type type;
	enum house_sum sum;
	enum house_part part;
};

static const struct part method_parts[] = {
    {"_class", HOUSE_TEXT, HOUSE_KEY, HOUSE_METHOD_CLASS},
    {"", HOUSE_TEXT, HOUSE_KEY, HOUSE_METHOD_NAME},
    {"_file", HOUSE_TEXT, HOUSE_KEY, HOUSE_METHOD_FILE},
    {0},
};

static const struct part node_parts[] = {
    {"context", HOUSE_HASH, HOUSE_KEY, HOUSE_CONTEXT},
    {"class", HOUSE_TEXT, HOUSE_FACT, HOUSE_NODE_CLASS},   /* The context says it all; */
    {"method", HOUSE_TEXT, HOUSE_FACT, HOUSE_NODE_METHOD}, /* people can read these. */
    {"line", HOUSE_I32, HOUSE_FACT, HOUSE_NODE_LINE},
    {"certainty", HOUSE_U8, HOUSE_MOST, HOUSE_NODE_CERTAINTY},
    {0},
};

static const struct part place_parts[] = {
    {"_kind", HOUSE_U32, HOUSE_KEY, HOUSE_PLACE_KIND},
    {"_class", HOUSE_TEXT, HOUSE_KEY, HOUSE_PLACE_CLASS},
    {"_field", HOUSE_TEXT, HOUSE_KEY, HOUSE_PLACE_FIELD},
    {"_owner", HOUSE_TEXT, HOUSE_KEY, HOUSE_PLACE_OWNER},
    {"_type", HOUSE_TEXT, HOUSE_KEY, HOUSE_PLACE_TYPE},
    {"_offset", HOUSE_U32, HOUSE_LAYOUT, HOUSE_PLACE_OFFSET},
    {"_bytes", HOUSE_U32, HOUSE_LAYOUT, HOUSE_PLACE_BYTES},
    {"_object_bytes", HOUSE_U32, HOUSE_LAYOUT, HOUSE_PLACE_OBJECT_BYTES},
    {0},
};

/* "results.turns" is results_turns, and code[0].ns, an array, code_ns. */
static void flatten(const char *name, char flat[HOUSE_NAME_BYTES])
{
	size_t n = 0;

	for (; *name && n + 1 < HOUSE_NAME_BYTES; name++) {
		if (*name == '[')
			name = strchr(name, ']');
		else
			flat[n++] = *name == '.' ? '_' : *name;
	}
	flat[n] = '\0';
}

static void add_parts(struct house_table *t, const struct house_column *like, const char *prefix,
		      const char *name, const struct part *parts)
{
	for (; parts->suffix; parts++) {
		char full[2 * HOUSE_NAME_BYTES];
		struct house_column *c;

		(void)snprintf(full, sizeof(full), "%s%s", name, parts->suffix); /* Fits. */
		c = add(t, prefix, full, parts->type, parts->sum);
		c->column = like->column;
		c->via = like->via;
		c->table = like->table;
		c->part = (uint8_t)parts->part;
	}
}

static enum house_type type_of(const struct column *c)
{
	static const enum house_type types[] = {
	    [COLUMN_BOOL] = HOUSE_U8,    [COLUMN_U8] = HOUSE_U8,     [COLUMN_U16] = HOUSE_U16,
	    [COLUMN_U32] = HOUSE_U32,    [COLUMN_U64] = HOUSE_U64,   [COLUMN_I32] = HOUSE_I32,
	    [COLUMN_DOUBLE] = HOUSE_F64, [COLUMN_TEXT] = HOUSE_TEXT,
	};

	return types[c->type];
}

/* Bytes of pairs and totals, which a merge weighs by itself (profile/combine/pair_merge.h). */
static bool is_observed(const struct house_column *c)
{
	return (c->table == TABLE_PAIRS || c->table == TABLE_KINDS) &&
	       c->column->role == COLUMN_VALUE;
}

static enum house_sum sum_of(const struct house_table *t, const struct house_column *c)
{
	bool keyed = house_in_key(window_tables[c->table].layout, c->column);

	if (c->via || (t->table != PROFILE_TABLES && keyed))
		return HOUSE_KEY;
	switch (c->column->role) {
	case COLUMN_COUNT:
		return HOUSE_COUNT;
	case COLUMN_SUM:
		return HOUSE_WEIGHTED;
	case COLUMN_SQUARES:
		return HOUSE_SQUARES;
	case COLUMN_MOST:
		return HOUSE_MOST;
	default:
		return HOUSE_FACT;
	}
}

static void add_value(struct house_table *t, const struct house_column *like, const char *prefix,
		      const char *name)
{
	struct house_column *c = add(t, prefix, name, type_of(like->column), sum_of(t, like));

	c->column = like->column;
	c->via = like->via;
	c->table = like->table;
	c->part = HOUSE_VALUE;
	c->array = column_values(like->column) > 1;
	c->weight = like->column->weight;
	if (is_observed(c) && c->sum == HOUSE_FACT) {
		c->sum = strstr(name, "squares") ? HOUSE_SQUARES : HOUSE_WEIGHTED;
		c->weight = HOUSE_WEIGHT_OBSERVATION;
	}
}

/* "node" is the only context of its row, others have names: "watch_node". */
static void add_node(struct house_table *t, const struct house_column *like, const char *prefix,
		     const char *name)
{
	char full[2 * HOUSE_NAME_BYTES];

	(void)snprintf(full, sizeof(full), "%s%.*s", prefix, /* Fits. */
		       (int)(strlen(name) - strlen("node")), name);
	add_parts(t, like, full, "", node_parts);
}

static void add_column(struct house_table *t, const struct house_column *like, const char *prefix)
{
	static const struct part text[] = {{"", HOUSE_TEXT, HOUSE_KEY, HOUSE_STRING}, {0}},
				 class[] = {{"", HOUSE_TEXT, HOUSE_KEY, HOUSE_CLASS}, {0}},
				 kind[] = {{"", HOUSE_TEXT, HOUSE_KEY, HOUSE_KIND}, {0}};
	char name[HOUSE_NAME_BYTES];

	flatten(like->column->name, name);
	if (like->column->role == COLUMN_NAME)
		add_parts(t, like, prefix, name, text);
	else if (like->column->role == COLUMN_CLASS)
		add_parts(t, like, prefix, name, class);
	else if (like->column->role == COLUMN_ID && like->column->table == TABLE_METHODS)
		add_parts(t, like, prefix, name, method_parts);
	else if (like->column->role == COLUMN_ID && like->column->table == TABLE_NODES)
		add_node(t, like, prefix, name);
	else if (like->column->role == COLUMN_ID)
		add_parts(t, like, prefix, name, place_parts);
	else if (t->table == TABLE_PAIRS && strcmp(name, "kind") == 0)
		add_parts(t, like, prefix, name, kind);
	else
		add_value(t, like, prefix, name);
}

/* The key of the row that a position is of. */
static void add_referred(struct house_table *t, const struct column *position)
{
	const struct table_layout *l = window_tables[position->table].layout;
	char prefix[2 * HOUSE_NAME_BYTES];

	(void)snprintf(prefix, sizeof(prefix), "%s_", position->name); /* Fits. */
	for (size_t i = 0; i < l->column_count; i++) {
		const struct house_column like = {
		    .column = &l->columns[i], .via = position, .table = position->table};

		if (house_in_key(l, &l->columns[i]))
			add_column(t, &like, prefix);
	}
}

static void add_layout(struct house_table *t, uint32_t table, const char *prefix)
{
	const struct table_layout *l = window_tables[table].layout;

	for (size_t i = 0; i < l->column_count; i++) {
		const struct house_column like = {.column = &l->columns[i], .table = table};

		if (l->columns[i].role == COLUMN_POSITION)
			add_referred(t, &l->columns[i]);
		else
			add_column(t, &like, prefix);
	}
}

static void make_data(struct house_table *t)
{
	add_facts(t, house_row_facts);
	if (t->table == TABLE_KINDS)
		add_facts(t, house_kind_facts);
	add_layout(t, t->table, "");
	if (t->table == TABLE_SITES)
		add_facts(t, house_site_facts);
}

static void make_windows(struct house_table *t)
{
	add_facts(t, house_window_facts);
	add_layout(t, TABLE_WINDOW, "");
	add_layout(t, TABLE_CPU, "cpu_");
	add_layout(t, TABLE_OBJECTS, "objects_");
	add_layout(t, TABLE_NUMA, "numa_");
	add_layout(t, TABLE_LOOP_SUMS, "loops_");
}

static void make(void)
{
	for (size_t i = 0; i < HOUSE_DATA; i++)
		make_data(&tables[i]);
	make_windows(&tables[HOUSE_WINDOWS]);
	add_facts(&tables[HOUSE_CONTEXTS], house_context_facts);
}

const struct house_table *house_table(size_t number)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make); /* Cannot fail. */
	return &tables[number];
}

size_t house_table_of(uint32_t profile_table)
{
	size_t i = 0;

	while (i < HOUSE_DATA && tables[i].table != profile_table)
		i++;
	return i < HOUSE_DATA ? i : HOUSE_TABLES;
}

/* ---------------------------------------------------------------- what they are */

bool house_in_key(const struct table_layout *l, const struct column *c)
{
	return c->offset < l->key_words * sizeof(uint32_t);
}

const char *house_type_name(const struct house_column *c, char name[HOUSE_TYPE_BYTES])
{
	static const char *const names[HOUSE_TYPES] = {
	    [HOUSE_U8] = "UInt8",     [HOUSE_U16] = "UInt16", [HOUSE_U32] = "UInt32",
	    [HOUSE_U64] = "UInt64",   [HOUSE_I32] = "Int32",  [HOUSE_F64] = "Float64",
	    [HOUSE_TEXT] = "String",  [HOUSE_DATE] = "Date",  [HOUSE_HASH] = "FixedString(16)",
	    [HOUSE_TIME] = "DateTime"};

	(void)snprintf(name, HOUSE_TYPE_BYTES, c->array ? "Array(%s)" : "%s",
		       names[c->type]); /* Fits. */
	return name;
}
