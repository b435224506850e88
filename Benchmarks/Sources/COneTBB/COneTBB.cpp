#include "COneTBB.h"

#ifdef HAS_ONETBB

#include <deque>
#include <tbb/flow_graph.h>
#include <tbb/task_group.h>

bool onetbb_is_there() { return true; }

void onetbb_run(size_t count, onetbb_work work, const void *context) {
    tbb::task_group group;
    for (size_t number = 0; number < count; number++) group.run([=] { work(context); });
    group.wait();
}

struct onetbb_graph {
    struct node {
        tbb::flow::continue_node<tbb::flow::continue_msg> flow;
        bool has_predecessor = false;

        node(onetbb_graph &graph, unsigned priority)
            : flow(graph.flow, [work = graph.work, context = graph.context](const tbb::flow::continue_msg &message) {
                  work(context);
                  return message;
              }, priority) {}
    };

    const onetbb_work work;
    const void *const context;
    tbb::flow::graph flow;
    /// A deque, because nodes cannot be moved.
    std::deque<node> nodes;

    onetbb_graph(onetbb_work work, const void *context) : work(work), context(context) {}
};

onetbb_graph *onetbb_graph_make(onetbb_work work, const void *context) { return new onetbb_graph(work, context); }

void onetbb_graph_add_node(onetbb_graph *graph, unsigned priority) { graph->nodes.emplace_back(*graph, priority); }

void onetbb_graph_add_edge(onetbb_graph *graph, size_t from, size_t to) {
    tbb::flow::make_edge(graph->nodes[from].flow, graph->nodes[to].flow);
    graph->nodes[to].has_predecessor = true;
}

void onetbb_graph_run(onetbb_graph *graph) {
    for (auto &node : graph->nodes) {
        if (!node.has_predecessor) node.flow.try_put(tbb::flow::continue_msg());
    }
    graph->flow.wait_for_all();
}

void onetbb_graph_destroy(onetbb_graph *graph) { delete graph; }

#else

#include <cstdlib>

bool onetbb_is_there() { return false; }
void onetbb_run(size_t, onetbb_work, const void *) { abort(); }
onetbb_graph *onetbb_graph_make(onetbb_work, const void *) { abort(); }
void onetbb_graph_add_node(onetbb_graph *, unsigned) { abort(); }
void onetbb_graph_add_edge(onetbb_graph *, size_t, size_t) { abort(); }
void onetbb_graph_run(onetbb_graph *) { abort(); }
void onetbb_graph_destroy(onetbb_graph *) { abort(); }

#endif
