/* An HTTP client in a test, of a server that runs in the test's own loop. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_HTTP_CLIENT_H
#define JXPERF_TESTS_UNIT_SUPPORT_HTTP_CLIENT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/fd.h"

#define GET(path, more) "GET " path " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" more "\r\n"

/* address: "127.0.0.1:PORT". */
static int http_client_connect(const char *address)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* Sends a request and reads until the server closes. The answer is valid until the next one. */
static const char *http_client_ask(uv_loop_t *loop, const char *address, const char *request)
{
	static char answer[16384];
	int fd = http_client_connect(address);
	size_t used = 0;
	ssize_t n = 1;

	assert_int_equal(fd_write_all(fd, request, strlen(request)), 0);
	assert_int_equal(fd_set_nonblocking(fd, true), 0);
	while (n != 0 && used < sizeof(answer) - 1) {
		(void)uv_run(loop, UV_RUN_NOWAIT);
		n = read(fd, answer + used, sizeof(answer) - 1 - used);
		if (n > 0)
			used += (size_t)n;
	}
	answer[used] = '\0';
	(void)close(fd);
	return answer;
}

#endif
