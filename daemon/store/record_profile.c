#include "daemon/store/record_parts.h"

#include <errno.h>
#include <string.h>

#include "proto/limits.h"

/* ---------------------------------------------------------------- packing */

static int pack_methods(struct arena *a, const struct cct *t, Jxp__StoredProfile *m)
{
	if (!RECORD_COLUMN(a, m, method_class, t->method_count) ||
	    !RECORD_COLUMN(a, m, method_name, t->method_count) ||
	    !RECORD_COLUMN(a, m, method_file, t->method_count))
		return -ENOMEM;
	for (size_t i = 0; i < t->method_count; i++) {
		m->method_class[i] = t->methods[i].class_name;
		m->method_name[i] = t->methods[i].name;
		m->method_file[i] = t->methods[i].file;
	}
	return 0;
}

static int pack_nodes(struct arena *a, const struct cct *t, Jxp__StoredProfile *m)
{
	if (!RECORD_COLUMN(a, m, node_parent, t->node_count) ||
	    !RECORD_COLUMN(a, m, node_method, t->node_count) ||
	    !RECORD_COLUMN(a, m, node_bci, t->node_count) ||
	    !RECORD_COLUMN(a, m, node_line, t->node_count) ||
	    !RECORD_COLUMN(a, m, node_tier, t->node_count) ||
	    !RECORD_COLUMN(a, m, node_certainty, t->node_count))
		return -ENOMEM;
	for (size_t i = 0; i < t->node_count; i++) {
		m->node_parent[i] = t->nodes[i].parent;
		m->node_method[i] = t->nodes[i].method;
		m->node_bci[i] = t->nodes[i].bci;
		m->node_line[i] = t->nodes[i].line;
		m->node_tier[i] = t->nodes[i].tier;
		m->node_certainty[i] = t->nodes[i].certainty;
	}
	return 0;
}

static int pack_locations(struct arena *a, const struct locations *l, Jxp__StoredProfile *m)
{
	if (!RECORD_COLUMN(a, m, location_kind, l->count) ||
	    !RECORD_COLUMN(a, m, location_class, l->count) ||
	    !RECORD_COLUMN(a, m, location_field, l->count) ||
	    !RECORD_COLUMN(a, m, location_declared_in, l->count) ||
	    !RECORD_COLUMN(a, m, location_type, l->count))
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++) {
		m->location_kind[i] = l->list[i].kind;
		m->location_class[i] = l->list[i].class_name;
		m->location_field[i] = l->list[i].field;
		m->location_declared_in[i] = l->list[i].declared_in;
		m->location_type[i] = l->list[i].type;
	}
	return 0;
}

/* What pairs got later than the rest. */
static int pack_places(struct arena *a, const struct profile *p, Jxp__StoredProfile *m)
{
	size_t count = p->pair_count;

	if (!RECORD_COLUMN(a, m, pair_location, count) ||
	    !RECORD_COLUMN(a, m, pair_cpu_ns, count) ||
	    !RECORD_COLUMN(a, m, pair_cpu_squares, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->pair_location[i] = p->pairs[i].location;
		m->pair_cpu_ns[i] = p->pairs[i].cpu.ns;
		m->pair_cpu_squares[i] = p->pairs[i].cpu.squares;
	}
	return 0;
}

static int pack_pairs(struct arena *a, const struct profile *p, Jxp__StoredProfile *m)
{
	size_t count = p->pair_count;

	if (!RECORD_COLUMN(a, m, pair_kind, count) || !RECORD_COLUMN(a, m, pair_region, count) ||
	    !RECORD_COLUMN(a, m, pair_watch_node, count) ||
	    !RECORD_COLUMN(a, m, pair_trap_node, count) ||
	    !RECORD_COLUMN(a, m, pair_watch_instruction, count) ||
	    !RECORD_COLUMN(a, m, pair_trap_instruction, count) ||
	    !RECORD_COLUMN(a, m, pair_count, count) ||
	    !RECORD_COLUMN(a, m, pair_wasteful_count, count) ||
	    !RECORD_COLUMN(a, m, pair_checked_bytes, count) ||
	    !RECORD_COLUMN(a, m, pair_wasteful_bytes, count) ||
	    !RECORD_COLUMN(a, m, pair_wasteful_squares, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct pair *pair = &p->pairs[i];

		m->pair_kind[i] = pair->kind;
		m->pair_region[i] = pair->region;
		m->pair_watch_node[i] = pair->watch_node;
		m->pair_trap_node[i] = pair->trap_node;
		m->pair_watch_instruction[i] = pair->watch_instruction;
		m->pair_trap_instruction[i] = pair->trap_instruction;
		m->pair_count[i] = pair->count;
		m->pair_wasteful_count[i] = pair->wasteful_count;
		m->pair_checked_bytes[i] = pair->checked_bytes;
		m->pair_wasteful_bytes[i] = pair->wasteful_bytes;
		m->pair_wasteful_squares[i] = pair->wasteful_squares;
	}
	return 0;
}

static void pack_totals(Jxp__StoredTotals *m, Jxp__Kind kind, bool jvm, const struct totals *t)
{
	jxp__stored_totals__init(m);
	m->kind = kind;
	m->jvm = jvm;
	m->count = t->count;
	m->wasteful_count = t->wasteful_count;
	m->checked_bytes = t->checked_bytes;
	m->wasteful_bytes = t->wasteful_bytes;
	m->sum_squares = t->sum_squares;
	m->wasteful_cpu_ns = t->wasteful_cpu.ns;
	m->wasteful_cpu_squares = t->wasteful_cpu.squares;
	m->cpu_ns = t->cpu.ns;
	m->cpu_squares = t->cpu.squares;
}

static int pack_regions(struct arena *a, const struct profile *p, Jxp__StoredProfile *m)
{
	size_t count = PAIR_KINDS * PROFILE_REGIONS;
	Jxp__StoredTotals *totals = record_allocate(a, count, sizeof(*totals));

	if (!totals || !RECORD_COLUMN(a, m, region_totals, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		Jxp__Kind kind = pair_kinds[i / PROFILE_REGIONS].kind;
		size_t region = i % PROFILE_REGIONS;

		pack_totals(&totals[i], kind, false, &p->kinds[kind].regions[region]);
		totals[i].region = (Jxp__Region)region;
		m->region_totals[i] = &totals[i];
	}
	return 0;
}

static int pack_kinds(struct arena *a, const struct profile *p, Jxp__StoredProfile *m)
{
	size_t count = 2 * PAIR_KINDS;
	Jxp__StoredTotals *totals = record_allocate(a, count, sizeof(*totals));

	if (!totals || !RECORD_COLUMN(a, m, totals, count))
		return -ENOMEM;
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;

		pack_totals(&totals[2 * i], kind, false, &p->kinds[kind].application);
		pack_totals(&totals[2 * i + 1], kind, true, &p->kinds[kind].jvm);
	}
	for (size_t i = 0; i < count; i++)
		m->totals[i] = &totals[i];
	return 0;
}

int record_pack_profile(struct arena *a, const struct profile *p, Jxp__StoredProfile *m)
{
	int r;

	jxp__stored_profile__init(m);
	m->strings.data = (uint8_t *)p->strings.bytes;
	m->strings.len = p->strings.used;
	r = pack_methods(a, &p->cct, m);
	if (r == 0)
		r = pack_nodes(a, &p->cct, m);
	if (r == 0)
		r = pack_pairs(a, p, m);
	if (r == 0)
		r = pack_kinds(a, p, m);
	if (r == 0)
		r = pack_regions(a, p, m);
	if (r == 0)
		r = pack_locations(a, &p->locations, m);
	if (r == 0)
		r = pack_places(a, p, m);
	return r;
}

/* ---------------------------------------------------------------- unpacking */

bool record_has_text(const struct profile *p, uint32_t id)
{
	return id == 0 || (id < p->strings.used && p->strings.bytes[id - 1] == '\0' &&
			   p->strings.bytes[id] != '\0');
}

bool record_has_node(const struct profile *p, uint32_t id)
{
	return id <= p->cct.node_count;
}

bool record_has_location(const struct profile *p, uint32_t id)
{
	return id <= p->locations.count;
}

bool record_has_method(const struct profile *p, uint32_t id)
{
	return id <= p->cct.method_count;
}

/* Whoever adds what was interned once, in the order of then, gets the ids of then; else these are
 * not the tables of a profile. */
static int expect(int r, uint32_t id, size_t expected)
{
	if (r == -ENOMEM)
		return r;
	return r < 0 || id != expected ? -EBADMSG : 0;
}

static int unpack_strings(const ProtobufCBinaryData *bytes, struct profile *p)
{
	const char *texts = (const char *)bytes->data;
	size_t at = 1;

	if (bytes->len == 0)
		return 0;
	if (bytes->len == 1 || texts[0] != '\0' || texts[bytes->len - 1] != '\0')
		return -EBADMSG;
	while (at < bytes->len) {
		uint32_t id = 0;
		int r = strings_intern(&p->strings, texts + at, &id);

		r = expect(r, id, at);
		if (r < 0)
			return r;
		at += strlen(texts + at) + 1;
	}
	return 0;
}

static int unpack_methods(const Jxp__StoredProfile *m, struct profile *p)
{
	size_t count = m->n_method_class;
	int r = 0;

	if (m->n_method_name != count || m->n_method_file != count)
		return -EBADMSG;
	for (size_t i = 0; i < count && r == 0; i++) {
		struct cct_method method = {m->method_class[i], m->method_name[i],
					    m->method_file[i]};
		uint32_t id = 0;

		if (!record_has_text(p, method.class_name) || !record_has_text(p, method.name) ||
		    !record_has_text(p, method.file))
			return -EBADMSG;
		r = cct_add_method(&p->cct, &method, &id);
		r = expect(r, id, i + 1);
	}
	return r;
}

static int unpack_nodes(const Jxp__StoredProfile *m, struct profile *p)
{
	size_t count = m->n_node_parent;
	int r = 0;

	if (m->n_node_method != count || m->n_node_bci != count || m->n_node_line != count ||
	    m->n_node_tier != count || (m->n_node_certainty && m->n_node_certainty != count))
		return -EBADMSG;
	for (size_t i = 0; i < count && r == 0; i++) {
		struct cct_node node = {.parent = m->node_parent[i],
					.method = m->node_method[i],
					.bci = m->node_bci[i],
					.line = m->node_line[i],
					.tier = (uint16_t)m->node_tier[i]};
		uint32_t certainty = m->n_node_certainty ? m->node_certainty[i] : CERTAINTY_NONE;
		uint32_t id = 0;

		if (!record_has_node(p, node.parent) || !record_has_method(p, node.method) ||
		    m->node_tier[i] > JXP__TIER__TIER_NATIVE || certainty >= CERTAINTY_VALUES)
			return -EBADMSG;
		node.certainty = (uint8_t)certainty;
		r = cct_add_node(&p->cct, &node, &id);
		r = expect(r, id, i + 1);
	}
	return r;
}

static int unpack_locations(const Jxp__StoredProfile *m, struct profile *p)
{
	size_t count = m->n_location_kind;
	int r = 0;

	if (m->n_location_class != count || m->n_location_field != count ||
	    m->n_location_declared_in != count || m->n_location_type != count)
		return -EBADMSG;
	for (size_t i = 0; i < count && r == 0; i++) {
		struct location location = {m->location_kind[i], m->location_class[i],
					    m->location_field[i], m->location_declared_in[i],
					    m->location_type[i]};
		uint32_t id = 0;

		if (location.kind > JXP__LOCATION__KIND__STACK ||
		    !record_has_text(p, location.class_name) ||
		    !record_has_text(p, location.field) ||
		    !record_has_text(p, location.declared_in) || !record_has_text(p, location.type))
			return -EBADMSG;
		r = locations_add(&p->locations, &location, &id);
		r = expect(r, id, i + 1);
	}
	return r;
}

/* All of them, or, in a record of before, none. */
static bool place_columns_match(const Jxp__StoredProfile *m)
{
	size_t count = m->n_pair_location;

	return (count == 0 || count == m->n_pair_kind) && m->n_pair_cpu_ns == count &&
	       m->n_pair_cpu_squares == count;
}

static bool pair_columns_match(const Jxp__StoredProfile *m)
{
	size_t count = m->n_pair_kind;

	return m->n_pair_region == count && m->n_pair_watch_node == count &&
	       m->n_pair_trap_node == count && m->n_pair_watch_instruction == count &&
	       m->n_pair_trap_instruction == count && m->n_pair_count == count &&
	       m->n_pair_wasteful_count == count && m->n_pair_checked_bytes == count &&
	       m->n_pair_wasteful_bytes == count && m->n_pair_wasteful_squares == count &&
	       place_columns_match(m);
}

static bool cpu_is_valid(const struct cpu_sums *cpu)
{
	return record_is_sum(cpu->ns) && record_is_sum(cpu->squares) &&
	       (cpu->ns > 0) == (cpu->squares > 0);
}

static bool pair_is_valid(const struct profile *p, const struct pair *pair)
{
	return pair_kind_find((Jxp__Kind)pair->kind) && pair->region < JXP__REGION__REGION_JVM &&
	       record_has_node(p, pair->watch_node) && record_has_node(p, pair->trap_node) &&
	       record_has_text(p, pair->watch_instruction) &&
	       record_has_text(p, pair->trap_instruction) && pair->wasteful_count <= pair->count &&
	       pair->wasteful_bytes <= pair->checked_bytes &&
	       record_has_location(p, pair->location) && cpu_is_valid(&pair->cpu);
}

static int unpack_pairs(const Jxp__StoredProfile *m, struct profile *p)
{
	int r = 0;

	if (!pair_columns_match(m))
		return -EBADMSG;
	for (size_t i = 0; i < m->n_pair_kind && r == 0; i++) {
		struct pair pair = {.watch_node = m->pair_watch_node[i],
				    .trap_node = m->pair_trap_node[i],
				    .watch_instruction = m->pair_watch_instruction[i],
				    .trap_instruction = m->pair_trap_instruction[i],
				    .kind = (uint8_t)m->pair_kind[i],
				    .region = (uint8_t)m->pair_region[i],
				    .count = m->pair_count[i],
				    .wasteful_count = m->pair_wasteful_count[i],
				    .checked_bytes = m->pair_checked_bytes[i],
				    .wasteful_bytes = m->pair_wasteful_bytes[i],
				    .wasteful_squares = m->pair_wasteful_squares[i]};

		if (m->n_pair_location > 0) {
			pair.location = m->pair_location[i];
			pair.cpu = (struct cpu_sums){m->pair_cpu_ns[i], m->pair_cpu_squares[i]};
		}

		if (m->pair_kind[i] >= KIND_VALUES ||
		    m->pair_region[i] >= JXP__REGION__REGION_JVM || !pair_is_valid(p, &pair))
			return -EBADMSG;
		r = profile_add_pair(p, &pair);
		r = expect(r, (uint32_t)p->pair_count, i + 1);
	}
	return r;
}

/* into: of the profile's totals. */
static int unpack_totals(const Jxp__StoredTotals *m, struct totals *into)
{
	struct totals t = {.count = m->count,
			   .wasteful_count = m->wasteful_count,
			   .checked_bytes = m->checked_bytes,
			   .wasteful_bytes = m->wasteful_bytes,
			   .sum_squares = m->sum_squares,
			   .wasteful_cpu = {m->wasteful_cpu_ns, m->wasteful_cpu_squares},
			   .cpu = {m->cpu_ns, m->cpu_squares}};

	if (t.wasteful_count > t.count || t.wasteful_bytes > t.checked_bytes ||
	    (t.checked_bytes > 0) != (t.sum_squares > 0) || !cpu_is_valid(&t.wasteful_cpu) ||
	    !cpu_is_valid(&t.cpu))
		return -EBADMSG;
	*into = t;
	return 0;
}

static int unpack_kind(const Jxp__StoredTotals *m, struct profile *p)
{
	if (!pair_kind_find(m->kind))
		return -EBADMSG;
	return unpack_totals(m, m->jvm ? &p->kinds[m->kind].jvm : &p->kinds[m->kind].application);
}

static int unpack_region(const Jxp__StoredTotals *m, struct profile *p)
{
	if (!pair_kind_find(m->kind) || (unsigned)m->region >= PROFILE_REGIONS)
		return -EBADMSG;
	return unpack_totals(m, &p->kinds[m->kind].regions[m->region]);
}

int record_unpack_profile(const Jxp__StoredProfile *m, struct profile *p)
{
	int r = unpack_strings(&m->strings, p);

	if (r == 0)
		r = unpack_methods(m, p);
	if (r == 0)
		r = unpack_nodes(m, p);
	if (r == 0)
		r = unpack_locations(m, p);
	if (r == 0)
		r = unpack_pairs(m, p);
	for (size_t i = 0; i < m->n_totals && r == 0; i++)
		r = unpack_kind(m->totals[i], p);
	for (size_t i = 0; i < m->n_region_totals && r == 0; i++)
		r = unpack_region(m->region_totals[i], p);
	return r;
}
