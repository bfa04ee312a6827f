/*
 * A window's ticks as the tree that an analysis for subsuming methods takes (subsume/tree.h), and
 * that collapsed stacks are written from: by method, whatever line or code a frame was in.
 *
 * Costs are ticks: each counts as one, also where the sampling period changed in the window or a
 * merge weighs windows differently, so that intervals and the coverage are those of what was
 * sampled. The collector's and the compilers' threads, whose CPU time is measured, are roots of
 * their own, "[garbage collector]" and "[compilers]", with as many ticks as that time would have
 * made; the tree's samples have these in them. Ticks without their root frames are counted beside
 * the tree; those of threads without Java code, and those whose stack is not known, are not in it.
 *
 * Who reads the collapsed stacks of such a tree makes the same tree again, node for node: children
 * and methods are numbered in the order in which a walk in preorder meets them.
 */
#ifndef JXPERF_REPORT_CONTENT_CPU_TREE_H
#define JXPERF_REPORT_CONTENT_CPU_TREE_H

#include "profile/window/result.h"
#include "subsume/tree.h"

/* For subsume_tree_release. 0; -ENOSPC where names or nodes are more than a tree takes; -ENOMEM. */
int cpu_tree_init(struct subsume_tree *tree, const struct window_result *w);

#endif
