/*
 * What differs between two windows A and B, each one window or many that were merged: for each kind
 * the fractions of both, and rows of what became more and what less.
 *
 * A row is a pair of leaf methods, of the first and of the second access: without lines, bytecodes
 * and callers, so that a new build's line numbers do not make everything different; or the class of
 * an allocation site and the method that allocates. Below one are the contexts, by methods, that
 * carry most of its difference. Methods are met by class and name (daemon/combine/names.h).
 *
 * All kinds, and all rows with enough observations on both sides together, are tested
 * (daemon/combine/share.h), and called different by Holm's procedure: when nothing differs, the
 * chance that anything is called is at most DIFF_LEVEL, as far as the variances are right. That is
 * stricter than the usual 5% because a program's phases make them too small. How often a row was
 * seen in both together says nothing of a difference, so choosing rows by it spoils no test.
 *
 * What is compared is what the machine's code does: a method that was compiled anew may make other
 * accesses for the same source, and then is different.
 *
 * Fractions are of what was checked: where one falls to nothing, the others rise by their part of
 * it. The row that was repaired has the largest difference, and rows are in that order: by the
 * least that the difference may be (the end of its 95% interval next to 0). Before all others come
 * those that explain why their kind's fraction became more or less: what was renamed, moved or
 * compiled anew makes rows that cancel each other.
 *
 * Read-only once made. It takes some 600 bytes for each pair of methods while it is made.
 */
#ifndef JXPERF_DAEMON_COMBINE_DIFF_H
#define JXPERF_DAEMON_COMBINE_DIFF_H

#include "common/err.h"
#include "daemon/combine/difference.h"
#include "daemon/window/result.h"

/* Nothing may change a and b until the diff is released. 0; -EINVAL with the reason when they
 * cannot be compared; -ENOMEM. Nothing is held then. */
int diff_init(struct diff *d, const struct window_result *a, const struct window_result *b,
	      struct err *err);
void diff_release(struct diff *d);

/* Is anything called different? */
bool diff_is_shown(const struct diff *d);

/* The difference of a kind's fraction that would have been called, had all else been alike. */
double diff_visible(const struct diff *d, const struct diff_kind *kind);

#endif
