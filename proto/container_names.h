/*
 * What a process's container is called, by who runs it: what a window keeps of where its JVM was
 * when it began, and what crosses the broker's socket for that.
 */
#ifndef JXPERF_PROTO_CONTAINER_NAMES_H
#define JXPERF_PROTO_CONTAINER_NAMES_H

#define CONTAINER_ID_BYTES 65 /* 64 hexadecimal digits */
/* Of what Kubernetes calls something: DNS names of 253 at most. */
#define CONTAINER_NAME_BYTES 254

/* All zero is in no container. */
struct container_names {
	char id[CONTAINER_ID_BYTES];
	char namespace[CONTAINER_NAME_BYTES]; /* of its Kubernetes pod; "" where there is none, */
	char pod[CONTAINER_NAME_BYTES];       /* or it is not known */
};

#endif
