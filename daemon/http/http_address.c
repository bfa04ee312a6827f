#include "daemon/http/http_address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cleanup.h"

#define BACKLOG 128

/* Splits "ADDR:PORT" or "[ADDR]:PORT"; the parts must hold HTTP_ADDRESS_BYTES each. */
static int split_address(const char *address, char *host, char *port, struct err *err)
{
	const char *colon = strrchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;
	const char *start = address;

	if (!colon || length == 0 || strlen(address) >= HTTP_ADDRESS_BYTES || colon[1] == '\0' ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return err_set(err, EINVAL,
			       "'%s' is not ADDR:PORT: use an address such as 127.0.0.1:9779",
			       address);
	if (start[0] == '[' && start[length - 1] == ']') {
		start++;
		length -= 2;
	}
	memcpy(host, start, length);
	host[length] = '\0';
	(void)snprintf(port, HTTP_ADDRESS_BYTES, "%s", colon + 1); /* Fits: checked above. */
	return 0;
}

/* The address for bind, to be freed with freeaddrinfo; NULL with the reason when it is not numeric.
 */
static struct addrinfo *resolve(const char *address, struct err *err)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				 .ai_socktype = SOCK_STREAM};
	char host[HTTP_ADDRESS_BYTES], port[HTTP_ADDRESS_BYTES];
	struct addrinfo *list = NULL;

	if (split_address(address, host, port, err) < 0)
		return NULL;
	if (strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	if (strtoul(port, NULL, 10) > UINT16_MAX || getaddrinfo(host, port, &hints, &list) != 0) {
		(void)err_set(err, EINVAL,
			      "'%s' is not a numeric ADDR:PORT: use one such as 127.0.0.1:9779",
			      address); /* Only its text is wanted. */
		return NULL;
	}
	return list;
}

int http_address_check(const char *address, struct err *err)
{
	struct addrinfo *list = resolve(address, err);

	if (!list)
		return -EINVAL;
	freeaddrinfo(list);
	return 0;
}

int http_address_listen(const char *address, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct addrinfo *list = resolve(address, err);
	int one = 1, r = 0;

	if (!list)
		return -EINVAL;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Without it a restart has to wait for old connections to time out; it works on every
	 * TCP socket. */
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		r = err_set_errno(err, errno, "cannot serve http on '%s' (use another --http)",
				  address);
	freeaddrinfo(list);
	return r < 0 ? r : TAKE_FD(fd);
}

void http_address_of(int fd, char text[HTTP_ADDRESS_BYTES])
{
	struct sockaddr_storage name = {0};
	socklen_t size = sizeof(name);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	/* A socket that is bound has a name, and numbers can always be shown. */
	(void)getsockname(fd, (struct sockaddr *)&name, &size);
	(void)getnameinfo((struct sockaddr *)&name, size, host, sizeof(host), port, sizeof(port),
			  NI_NUMERICHOST | NI_NUMERICSERV);
	(void)snprintf(text, HTTP_ADDRESS_BYTES,
		       name.ss_family == AF_INET6 ? "[%.46s]:%.6s" : "%.46s:%.6s", host, port);
}
