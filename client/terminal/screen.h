/*
 * A whole terminal that shows lines, in its alternate screen, until somebody has seen enough.
 *
 * By ncurses: it knows what terminals understand, writes only what changed since, which a slow
 * connection thanks it for, cuts at the edge also characters that are two columns wide, and gives
 * the terminal back when it is stopped with ^Z and when it goes on. Six of its functions are more
 * to the point than escapes of our own that some terminal does not know.
 *
 * One per process and one thread; the signals that end it are the caller's. The terminal is as it
 * was after screen_close.
 */
#ifndef JXPERF_CLIENT_TERMINAL_SCREEN_H
#define JXPERF_CLIENT_TERMINAL_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "client/terminal/lines.h"

struct screen;

enum screen_event {
	SCREEN_TIME,    /* it is until_ns */
	SCREEN_RESIZED, /* its width is another */
	SCREEN_END,     /* q was pressed, a signal came, or the terminal is gone */
};

/* On stdin and stdout, which are terminals. NULL where ncurses does not know their type, or without
 * memory. */
struct screen *screen_open(bool colour);
void screen_close(struct screen *s); /* NULL is safe */

/* Shows them from the top. What does not fit is left out; the last line then says so. */
void screen_draw(struct screen *s, const struct lines *l);

/* Waits until that time of the monotonic clock, or for what comes before; signal_fd is readable
 * while a signal waits, which is left there. */
enum screen_event screen_wait(struct screen *s, int signal_fd, uint64_t until_ns);

#endif
