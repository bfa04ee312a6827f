#include "daemon/http/http_clients.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "daemon/http/exposition.h"

#define PREFIX_BYTES 8 /* of an IPv6 address: what one host can choose from is behind it */

void http_clients_init(struct http_clients *t)
{
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < HTTP_CLIENTS_CAPACITY; i++)
		t->clients[i].fd = -1;
}

/* Addresses that count as one are equal; IPv4 is what it is mapped to in IPv6. */
static void read_address(const struct sockaddr *from, uint8_t address[16])
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *four = (const struct sockaddr_in *)from;

	memset(address, 0, 16);
	if (from->sa_family == AF_INET) {
		address[10] = address[11] = 0xff;
		memcpy(address + 12, &four->sin_addr, 4);
	} else if (from->sa_family == AF_INET6) {
		memcpy(address, &six->sin6_addr,
		       IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) ? 16 : PREFIX_BYTES);
	}
}

static bool is_live(const struct http_client *client)
{
	return client->fd >= 0 && !client->over;
}

static size_t count_of(const struct http_clients *t, const uint8_t address[16])
{
	size_t count = 0;

	for (size_t i = 0; i < HTTP_CLIENTS_CAPACITY; i++)
		count += is_live(&t->clients[i]) && memcmp(t->clients[i].address, address, 16) == 0;
	return count;
}

static size_t count_all(const struct http_clients *t)
{
	size_t count = 0;

	for (size_t i = 0; i < HTTP_CLIENTS_CAPACITY; i++)
		count += is_live(&t->clients[i]);
	return count;
}

/* That of them that has waited longest; address NULL: of the address that has most. */
static struct http_client *find_victim(struct http_clients *t, const uint8_t *address)
{
	struct http_client *victim = NULL;
	size_t most = 0;

	for (size_t i = 0; i < HTTP_CLIENTS_CAPACITY; i++) {
		struct http_client *c = &t->clients[i];
		size_t count = address ? 1 : count_of(t, c->address);

		if (!is_live(c) || (address && memcmp(c->address, address, 16) != 0))
			continue;
		if (count > most || (count == most && c->since_ns < victim->since_ns)) {
			victim = c;
			most = count;
		}
	}
	return victim;
}

static void end(struct http_client *client)
{
	client->over = true;
	(void)shutdown(client->fd, SHUT_RDWR); /* Fails only when the peer was faster. */
}

static void make_way(struct http_clients *t, const uint8_t *address, enum http_refusal why)
{
	end(find_victim(t, address));
	t->refused[why]++;
}

struct http_client *http_clients_add(struct http_clients *t, const struct sockaddr *from, int fd,
				     uint64_t now_ns)
{
	struct http_client *client = http_clients_find(t, -1);
	uint8_t address[16];

	if (!client) {
		t->refused[HTTP_REFUSED_TOTAL]++;
		return NULL;
	}
	read_address(from, address);
	if (count_of(t, address) == HTTP_ADDRESS_MAX)
		make_way(t, address, HTTP_REFUSED_ADDRESS);
	else if (count_all(t) == HTTP_CONNECTIONS_MAX)
		make_way(t, NULL, HTTP_REFUSED_TOTAL);
	*client = (struct http_client){.fd = fd, .since_ns = now_ns};
	memcpy(client->address, address, sizeof(address));
	return client;
}

struct http_client *http_clients_find(struct http_clients *t, int fd)
{
	for (size_t i = 0; i < HTTP_CLIENTS_CAPACITY; i++)
		if (t->clients[i].fd == fd)
			return &t->clients[i];
	return NULL;
}

void http_clients_answered(struct http_client *client, uint64_t now_ns)
{
	client->answered = true;
	client->since_ns = now_ns;
}

void http_clients_closed(struct http_client *client)
{
	client->fd = -1;
}

/* To close one that is between two requests takes nothing from anybody. */
static void expire(struct http_clients *t, struct http_client *client)
{
	end(client);
	t->refused[HTTP_REFUSED_TIME] += !client->answered;
}

uint64_t http_clients_expire(struct http_clients *t, uint64_t now_ns)
{
	uint64_t next_ns = 0;

	for (size_t i = 0; i < HTTP_CLIENTS_CAPACITY; i++) {
		struct http_client *client = &t->clients[i];
		uint64_t end_ns = client->since_ns + HTTP_REQUEST_S * NS_PER_S;

		if (!is_live(client))
			continue;
		if (end_ns <= now_ns)
			expire(t, client);
		else if (next_ns == 0 || end_ns < next_ns)
			next_ns = end_ns;
	}
	return next_ns;
}

static const char *const reasons[HTTP_REFUSALS] = {
    [HTTP_REFUSED_ADDRESS] = "address",
    [HTTP_REFUSED_TOTAL] = "total",
    [HTTP_REFUSED_TIME] = "time",
    [HTTP_REFUSED_DESCRIPTORS] = "descriptors",
};

bool http_clients_tell(struct http_clients *t, char text[HTTP_CLIENTS_TEXT_BYTES])
{
	size_t used = 0;

	for (int i = 0; i < HTTP_REFUSALS; i++) {
		uint64_t count = t->refused[i] - t->told[i];

		if (count > 0)
			used += (size_t)snprintf(text + used, HTTP_CLIENTS_TEXT_BYTES - used,
						 "%s%" PRIu64 " %s", used > 0 ? ", " : "", count,
						 reasons[i]); /* Fits, by its definition. */
		t->told[i] = t->refused[i];
	}
	return used > 0;
}

void http_clients_write(FILE *out, const struct http_clients *t, bool openmetrics)
{
	static const char name[] = "jxperf_http_connections_refused";

	exposition_head(
	    out, openmetrics, EXPOSITION_COUNTER, name,
	    "HTTP connections refused or closed early: too many of one address or in total, no "
	    "request in time, no descriptor left.");
	for (int i = 0; i < HTTP_REFUSALS; i++)
		fprintf(out, "%s_total{reason=\"%s\"} %" PRIu64 "\n", name, reasons[i],
			t->refused[i]);
}
