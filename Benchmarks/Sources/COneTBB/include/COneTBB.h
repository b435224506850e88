// The functions of oneTBB that the benchmarks need. If the library is missing, only `onetbb_is_there` may be called.
#ifndef C_ONE_TBB_H
#define C_ONE_TBB_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*onetbb_work)(const void *_Nonnull context);

bool onetbb_is_there(void);

/// Runs the work `count` times, each time as a task of one task group, and waits.
void onetbb_run(size_t count, onetbb_work _Nonnull work, const void *_Nonnull context);

/// A flow graph whose nodes all do the same work.
typedef struct onetbb_graph onetbb_graph;

onetbb_graph *_Nonnull onetbb_graph_make(onetbb_work _Nonnull work, const void *_Nonnull context);

/// Adds a node. Nodes are numbered from 0 in the order of adding. Priority 0 is no priority; otherwise the higher one runs
/// first.
void onetbb_graph_add_node(onetbb_graph *_Nonnull graph, unsigned priority);
void onetbb_graph_add_edge(onetbb_graph *_Nonnull graph, size_t from, size_t to);

/// Starts every node without a predecessor, and waits until all nodes have run.
void onetbb_graph_run(onetbb_graph *_Nonnull graph);
void onetbb_graph_destroy(onetbb_graph *_Nonnull graph);

#ifdef __cplusplus
}
#endif

#endif
