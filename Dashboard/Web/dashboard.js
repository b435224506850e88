"use strict";
// Every text of a user reaches the page by textContent, by fillText, or by setAttribute of data-title. Nothing builds markup.
const $ = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const zooms = [10, 30, 60, 300, 900, 3600];
const stateNames = {
  queue: ["running", "ready", "waiting", "done", "failed", "cancelled"],
  durable: ["running", "ready", "waiting", "scheduled", "done", "failed", "crashed", "discarded", "cancelled"],
  report: ["running", "waiting", "done", "failed", "skipped", "cancelled"],
};
const reasonNames = {
  dependencies: "for other operations", conditions: "for conditions", resources: "for resources", key: "for the limit of a key",
  rateLimit: "for the rate limit", barrier: "for a barrier", suspended: "because the queue is suspended",
  limitZero: "because the limit is 0", paused: "paused", delay: "for the end of a delay", group: "for their group",
  ownReadiness: "for their own readiness", slot: "for a slot",
};
const model = {
  sources: [], current: null, tab: "operations", cursor: 0, cursors: [], text: "", state: "", zoom: 1, history: {},
  chosen: new Set(), detail: null, timeline: null, busy: new Set(), focus: -1,
};

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") node.addEventListener("click", value);
    else if (key === "text") node.textContent = value;
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.filter(child => child != null));
  return node;
}
function svg(name, attributes = {}, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value != null) node.setAttribute(key, value);
  if (text != null) node.textContent = text;
  return node;
}
function put(node, text) { if (node.textContent !== text) node.textContent = text; }
function duration(seconds) {
  if (seconds == null) return "";
  if (seconds < 0) return "−" + duration(-seconds);
  if (seconds < 1) return Math.round(seconds * 1000) + " ms";
  if (seconds < 60) return seconds.toFixed(1) + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min " + Math.floor(seconds % 60) + " s";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h " + Math.floor(seconds % 3600 / 60) + " min";
  return Math.floor(seconds / 86400) + " d " + Math.floor(seconds % 86400 / 3600) + " h";
}
function number(value) { return value == null ? "–" : Number(value).toLocaleString("en-US"); }
function rate(value) { return value == null ? "–" : value < 10 ? value.toFixed(1) : number(Math.round(value)); }

let messageTimer;
function say(text) {
  $("message").textContent = text;
  $("message").hidden = false;
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => { $("message").hidden = true; }, 5000);
}
async function get(path, parameters) {
  const response = await fetch(path + "?" + new URLSearchParams(parameters), { cache: "no-store" });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}
async function steer(parameters) {
  try {
    const response = await fetch("/api/steer", {
      method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ source: model.current, ...parameters }).toString().replaceAll("%2C", ","),
    });
    if (!response.ok) throw new Error((await response.text()).trim());
    const changed = (await response.json()).changed;
    say(parameters.ids ? "Done for " + changed + (changed === 1 ? " operation." : " operations.") : "Done.");
    model.chosen.clear();
    load();
  } catch (error) { say("Not done: " + error.message); }
}
// One request of a kind at a time: a slow server gets no second one.
async function once(kind, body) {
  if (model.busy.has(kind)) return;
  model.busy.add(kind);
  // A request without a response is no news: the connection is shown as lost.
  try { await body(); } catch (error) { if (!(error instanceof TypeError)) put($("range"), error.message); } finally { model.busy.delete(kind); }
}
const total = item => item.done + item.failed + item.skipped + item.cancelled + item.waiting + item.running;
// A record of the past has neither queues nor times.
const hasQueues = item => item.kind === "durable" || item.kind === "report" && item.tabs.length > 1;
const source = () => model.sources.find(source => source.id === model.current);

function showSources() {
  const list = $("sources");
  while (list.children.length > model.sources.length) list.lastChild.remove();
  model.sources.forEach((item, index) => {
    let entry = list.children[index];
    if (!entry) {
      entry = element("li", {}, element("button", { type: "button", onclick: event => choose(event.currentTarget.dataset.id) },
        element("span", { class: "name" }), element("span", { class: "small" }), element("span", { class: "alert" })));
      list.append(entry);
    }
    const button = entry.firstChild;
    button.dataset.id = item.id;
    button.setAttribute("aria-current", item.id === model.current);
    put(button.children[0], item.gone ? "released queue" : item.name);
    put(button.children[1], item.gone ? "" : item.ended ? number(total(item)) + " operations" : number(item.running) + " running, " + (item.ready ? number(item.ready) + " ready, " : "") + number(item.waiting) + " waiting");
    put(button.children[2], item.kind === "report" && item.ended ? (item.failed ? number(item.failed) + " failed" : "ended") : item.stall ? "stalled" : item.suspended ? "suspended" : item.failed ? number(item.failed) + " failed" : "");
  });
}
function choose(id) {
  if (model.current === id) return;
  Object.assign(model, { current: id, cursor: 0, cursors: [], timeline: null, state: "", tab: "operations" });
  model.chosen.clear();
  $("state").replaceChildren();
  $("controls").replaceChildren();
  $("rows").replaceChildren();
  showAll();
  load();
}
function showNumbers(item) {
  const isReport = item.kind === "report";
  const values = [["running", number(item.running)], ...(isReport ? [] : [["ready", number(item.ready)]]), ["waiting", number(item.waiting)],
    ["done", number(item.done)], ["failed", number(item.failed), item.failed > 0],
    ...(isReport ? [["skipped", number(item.skipped)]] : []), ["cancelled", number(item.cancelled)]];
  if (isReport) {
    if (item.ran != null) values.push([item.ended ? "took" : "running for", duration(item.ran)]);
    if (!item.ended) values.push(["time left", item.left == null ? "unknown" : "≈ " + duration(item.left)]);
  } else values.push(["oldest", item.oldest == null ? "–" : (item.oldestAtLeast ? "≥ " : "") + duration(item.oldest)]);
  if (item.kind === "queue") {
    values.push(["starts a second", rate(item.rate)], ["limit", String(item.limit)]);
    if (item.limitPerKey != null) values.push(["limit of each key", number(item.limitPerKey)]);
    if (item.capacity != null) values.push(["capacity", number(item.capacity)]);
  }
  const list = $("numbers");
  while (list.children.length > values.length) list.lastChild.remove();
  values.forEach(([title, value, isBad], index) => {
    const entry = list.children[index] || list.appendChild(element("div", {}, element("dt"), element("dd")));
    entry.className = isBad ? "bad" : "";
    put(entry.children[0], title);
    put(entry.children[1], value);
  });
}
function showSpark(item) {
  const spark = $("spark");
  spark.toggleAttribute("hidden", item.kind !== "queue");
  const points = model.history[item.id] || [];
  const top = Math.max(1, ...points);
  const step = 300 / Math.max(points.length - 1, 1);
  const path = points.map((value, index) => (index ? "L" : "M") + (index * step).toFixed(1) + " " + (37 - 34 * value / top).toFixed(1));
  const line = spark.firstChild || spark.appendChild(svg("path"));
  line.setAttribute("d", path.join(""));
}
function showControls(item) {
  const controls = $("controls");
  controls.hidden = !item.steering || item.kind !== "queue";
  if (controls.hidden) return;
  if (!controls.children.length) {
    const limit = element("input", { type: "number", min: 0, max: 1000000, id: "limit", "aria-label": "New limit", placeholder: "limit" });
    controls.append(
      element("button", { type: "button", id: "suspend", onclick: () => steer({ action: source().suspended ? "resume" : "suspend" }) }),
      limit, element("button", { type: "button", id: "set-limit", text: "Set limit", onclick: () => steer({ action: "limit", value: limit.value }) }));
  }
  put($("suspend"), item.suspended ? "Resume" : "Suspend");
}
function showTabs(item) {
  const names = item.tabs || (item.kind === "durable" ? ["operations", "queues", "workers", "schedules", "timeline"] : ["operations", "timeline", "graph"]);
  const tabs = $("tabs");
  if (tabs.dataset.names !== names.join()) {
    tabs.dataset.names = names.join();
    tabs.replaceChildren(...names.map(name => element("button", {
      type: "button", role: "tab", id: "tab-" + name, "aria-controls": "view-" + name,
      text: name[0].toUpperCase() + name.slice(1), onclick: () => { model.tab = name; showTabs(source()); load(); },
    })));
  }
  for (const view of document.querySelectorAll("[role=tabpanel]")) view.hidden = view.id !== "view-" + model.tab;
  for (const tab of tabs.children) {
    const isSelected = tab.id === "tab-" + model.tab;
    tab.setAttribute("aria-selected", isSelected);
    tab.tabIndex = isSelected ? 0 : -1;
  }
}
function showAll() {
  const item = source();
  if (!item) return;
  showSources();
  put($("title"), item.gone ? "released queue" : item.name);
  const notice = item.stall || item.notice;
  $("stall").hidden = !notice;
  if (notice) put($("stall"), notice);
  $("incomplete").hidden = !item.incomplete;
  if (item.incomplete) {
    put($("incomplete"), "More operations started than the page records, so done, failed and cancelled leave some out. Running, waiting and starts are complete.");
  }
  if (item.gone) return;
  showNumbers(item);
  showSpark(item);
  showControls(item);
  const reasons = (item.reasons || []).map(([reason, count]) => number(count) + " wait " + (reasonNames[reason] || reason));
  const list = $("reasons");
  while (list.children.length > reasons.length) list.lastChild.remove();
  reasons.forEach((text, index) => put(list.children[index] || list.appendChild(element("li")), text));
  showTabs(item);
  if (!$("state").children.length) {
    $("state").replaceChildren(element("option", { value: "", text: "all" }), ...stateNames[item.kind].map(name => element("option", { value: name, text: name })));
  }
  if (item.kind === "durable") showStore(item);
}
function table(titles, rows) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...titles.map(title => element("th", { text: title })))),
    element("tbody", {}, ...rows.map(cells => element("tr", {}, ...cells.map((cell, index) => cell instanceof Node
      ? element("td", { "data-title": titles[index] }, cell) : element("td", { "data-title": titles[index], text: cell }))))));
}
// Replaced only when the text differs, so that focus and selection stay.
function fill(id, titles, rows) {
  const node = $(id);
  const text = JSON.stringify(rows.map(cells => cells.map(cell => cell instanceof Node ? cell.textContent : cell)));
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.replaceChildren(rows.length ? table(titles, rows) : element("p", { class: "hint", text: "none" }));
}
function showStore(item) {
  fill("queues", ["queue", "counts", "limit", "oldest ready", "state"].concat(item.steering ? ["change"] : []), item.queues.map(queue => {
    const cells = [queue.name, queue.counts.map(([state, count]) => number(count) + " " + state).join(", "),
      queue.limit == null ? "none" : number(queue.limit), duration(queue.oldest && Math.round(queue.oldest)), queue.suspended ? "suspended" : "active"];
    if (item.steering) {
      cells.push(element("button", { type: "button", text: queue.suspended ? "Resume" : "Suspend",
        onclick: () => steer({ action: queue.suspended ? "resume" : "suspend", queue: queue.name }) }));
    }
    return cells;
  }));
  fill("workers", ["worker", "running", "lease ends in", "queues"],
    item.workers.map(worker => [worker.name, number(worker.running), duration(Math.round(worker.lease)), worker.queues]));
  fill("schedules", ["schedule", "cron", "operation", "queue", "next in"],
    item.schedules.map(schedule => [schedule.name, schedule.cron, schedule.operation, schedule.queue, duration(Math.round(schedule.next))]));
}

function load() {
  const item = source();
  if (!item || item.gone) return;
  if (model.tab === "operations") once("operations", loadRows);
  if (model.tab === "timeline") once("timeline", loadTimeline);
  if (model.tab === "graph") once("graph", loadGraph);
  if (item.kind === "report" && !item.ended && $("detail").open) once("detail", followDetail);
}
async function loadRows() {
  const [id, cursor, text, state] = [model.current, model.cursor, model.text, model.state];
  const page = await get("/api/operations", { source: id, text, state, cursor });
  if (id !== model.current || cursor !== model.cursor || text !== model.text || state !== model.state) return setTimeout(load);
  model.page = page;
  const item = source();
  const titles = [...(item.steering ? [""] : []), "name", "state", "time", ...(hasQueues(item) ? ["queue"] : []), "why, or error"];
  const head = $("head");
  if (head.dataset.titles !== titles.join()) {
    head.dataset.titles = titles.join();
    head.replaceChildren(...titles.map(title => element("th", { text: title, scope: "col" })));
    $("rows").replaceChildren();
  }
  const body = $("rows");
  while (body.children.length > page.rows.length) body.lastChild.remove();
  page.rows.forEach((row, index) => showRow(body.children[index] || body.appendChild(makeRow(item)), row, item));
  const count = page.rows.length;
  put($("range"), count === 0 ? "no operations" : page.total == null ? count + " operations"
    : number(page.first + 1) + "–" + number(page.first + count) + " of " + number(page.total));
  $("previous").disabled = !model.cursors.length;
  $("next").disabled = page.next == null;
  showSelection(item);
}
function makeRow(item) {
  const cells = [element("td", { class: "name" }, element("button", { type: "button", onclick: event => openDetail(event.currentTarget.dataset.id) })),
    element("td", {}, element("span", { class: "state" })), element("td", { class: "time" }),
    ...(hasQueues(item) ? [element("td", { "data-title": "queue" })] : []), element("td", { class: "note" }, element("span"))];
  if (item.steering) {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      if (box.checked) model.chosen.add(box.dataset.id); else model.chosen.delete(box.dataset.id);
      showSelection(source());
    });
    cells.unshift(element("td", {}, box));
  }
  return element("tr", {}, ...cells);
}
function showRow(node, row, item) {
  const cells = [...node.children];
  if (item.steering) {
    const box = cells.shift().firstChild;
    box.dataset.id = row.id;
    box.checked = model.chosen.has(row.id);
    if (box.getAttribute("aria-label") !== "Select " + row.name) box.setAttribute("aria-label", "Select " + row.name);
  }
  cells[0].firstChild.dataset.id = row.id;
  put(cells[0].firstChild, row.name);
  cells[1].firstChild.className = "state " + row.state;
  put(cells[1].firstChild, row.state);
  put(cells[2], duration(row.seconds));
  if (hasQueues(item)) put(cells[3], row.queue);
  put(cells[cells.length - 1].firstChild, row.note || "");
}
function actions(item, ids) {
  const act = (text, parameters, isDanger) => element("button", { type: "button", text, class: isDanger ? "danger" : null,
    onclick: () => { $("detail").close(); steer({ ids: ids().join(","), ...parameters }); } });
  const priority = element("select", { "aria-label": "Priority" }, element("option", { value: "", text: "Priority…" }),
    ...[["2", "very high"], ["1", "high"], ["0", "normal"], ["-1", "low"], ["-2", "very low"]].map(([value, text]) => element("option", { value, text })));
  priority.addEventListener("change", () => { if (priority.value) { $("detail").close(); steer({ ids: ids().join(","), action: "priority", value: priority.value }); } });
  const list = [act("Cancel", { action: "cancel" }, true), priority];
  if (item.kind === "durable") {
    const target = element("input", { "aria-label": "Queue to move to", placeholder: "queue", size: 8 });
    list.push(act("Retry", { action: "retry" }), act("Discard", { action: "discard" }, true), target,
      element("button", { type: "button", text: "Move", onclick: () => { $("detail").close(); steer({ ids: ids().join(","), action: "move", value: target.value }); } }));
  }
  return list;
}
function showSelection(item) {
  const bar = $("selection");
  bar.hidden = !item.steering || !model.chosen.size;
  if (bar.dataset.source !== item.id) {
    bar.dataset.source = item.id;
    bar.replaceChildren(element("span"), ...actions(item, () => [...model.chosen]));
  }
  put(bar.firstChild, model.chosen.size + " selected");
}

async function openDetail(id) {
  const item = source();
  model.detail = id;
  try {
    showDetail(item, id, await get("/api/operation", { source: item.id, id }));
    if (!$("detail").open) $("detail").showModal();
    const output = $("detail-body").querySelector("pre");
    if (output) output.scrollTop = output.scrollHeight;
  } catch (error) { say("The operation has left the queue, or the server does not answer."); }
}
// An open detail of a running operation follows its output and its times. The rest is replaced only if it differs, so that focus stays.
async function followDetail() {
  const [item, id] = [source(), model.detail];
  const detail = await get("/api/operation", { source: item.id, id });
  if (item.id !== model.current || id !== model.detail || !$("detail").open) return;
  const output = $("detail-body").querySelector("pre");
  if (model.detailKey !== detailKey(detail)) {
    const top = output && output.scrollTop + output.clientHeight < output.scrollHeight - 4 ? output.scrollTop : null;
    showDetail(item, id, detail);
    const next = $("detail-body").querySelector("pre");
    if (next) next.scrollTop = top == null ? next.scrollHeight : top;
    return;
  }
  (detail.facts || []).filter(([, seconds]) => seconds != null).forEach(([, seconds], index) => {
    const node = $("detail-body").querySelectorAll("dd[data-fact]")[index];
    if (node) put(node, duration(seconds));
  });
  if (!output || output.textContent === detail.output) return;
  const isAtEnd = output.scrollTop + output.clientHeight >= output.scrollHeight - 4;
  output.textContent = detail.output;
  if (isAtEnd) output.scrollTop = output.scrollHeight;
}
function detailKey(detail) {
  return JSON.stringify({ ...detail, facts: (detail.facts || []).map(([title, value]) => [title, value != null]), output: !detail.output });
}
function showDetail(item, id, detail) {
  model.detailKey = detailKey(detail);
  put($("detail-title"), detail.name);
  const list = element("dl");
  const add = (title, value, attributes = {}) => {
    if (value == null || value === "") return;
    list.append(element("dt", { text: title }), value instanceof Node ? element("dd", attributes, value) : element("dd", { ...attributes, text: value }));
  };
  add("state", detail.state);
  add(item.kind === "queue" ? "type" : "queue", detail.type);
  add("why", detail.explanation);
  for (const [title, seconds] of detail.facts || []) add(title, duration(seconds), { "data-fact": true });
  for (const [title, text] of detail.texts || []) add(title, text);
  if (detail.dependents) add("waited for by", number(detail.dependents) + (detail.dependents === 1 ? " operation" : " operations"));
  add("error", detail.error);
  add("note", detail.note);
  add("input", detail.input);
  if (detail.dependencies && detail.dependencies.length) {
    add("depends on", element("ul", {}, ...detail.dependencies.map(one => element("li", {}, element("button", {
      type: "button", text: one.name + " (" + one.state + ")", onclick: () => openDetail(one.id) })))));
    if (detail.dependencyCount > detail.dependencies.length) add("", "and " + number(detail.dependencyCount - detail.dependencies.length) + " more");
  }
  if (detail.attempts && detail.attempts.length) {
    add("attempts", table(["outcome", "took", "worker", "error"], detail.attempts.map(one => [one.outcome, duration(one.seconds), one.worker, one.error || ""])));
  }
  if (detail.output) add("output", element("pre", { class: "output", tabindex: 0, "aria-label": "Output", text: detail.output }));
  $("detail-body").replaceChildren(list);
  $("detail-controls").replaceChildren(...(item.steering ? actions(item, () => [id]) : []));
}

async function loadTimeline() {
  const id = model.current;
  const answer = await get("/api/timeline", { source: id, seconds: zooms[model.zoom] });
  if (id !== model.current) return;
  model.timeline = answer;
  drawTimeline();
}
function drawTimeline() {
  const canvas = $("timeline");
  const line = model.timeline;
  if (!line || model.tab !== "timeline") return;
  const style = getComputedStyle(document.documentElement);
  const color = name => style.getPropertyValue("--" + name).trim() || style.getPropertyValue("--ready").trim();
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const shown = Math.min(line.lanes, 60);
  const height = Math.max(80, shown * 20 + 30);
  canvas.style.height = height + "px";
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.font = "11px system-ui, sans-serif";
  const x = time => width - (line.now - time) / line.seconds * width;
  for (let part = 1; part < 5; part += 1) {
    context.fillStyle = color("line");
    context.fillRect(width * part / 5, 0, 1, height - 18);
    context.fillStyle = color("muted");
    context.fillText("−" + duration(line.seconds * (5 - part) / 5), width * part / 5 + 3, height - 5);
  }
  model.boxes = [];
  for (const bar of line.bars) {
    if (bar.lane >= 60) continue;
    const left = Math.max(0, x(bar.start));
    const box = { bar, left, top: bar.lane * 20 + 2, width: Math.max(2, x(bar.end) - left) };
    model.boxes.push(box);
    context.fillStyle = color(bar.state);
    context.fillRect(box.left, box.top, Math.max(1, box.width - 1), 16);
    if (box.width > 30) {
      context.save();
      context.beginPath();
      context.rect(box.left, box.top, box.width - 3, 16);
      context.clip();
      context.fillStyle = color("on-accent");
      context.fillText(bar.name, box.left + 4, box.top + 12);
      context.restore();
    }
  }
  const chosen = model.boxes[model.focus];
  if (chosen) {
    context.strokeStyle = color("text");
    context.lineWidth = 2;
    context.strokeRect(chosen.left, chosen.top, chosen.width, 16);
  }
  put($("span"), "the last " + duration(line.seconds) + ", " + number(line.bars.length) + " operations" + (line.lanes > 60 ? ", the first 60 of " + number(line.lanes) + " lanes" : ""));
  canvas.setAttribute("aria-label", "Timeline of " + line.bars.length + " operations. Arrow keys choose a bar, Enter opens it, plus and minus zoom.");
}
function describeBar(box) {
  put($("bar"), box ? box.bar.name + ": " + box.bar.state + ", " + duration(box.bar.end - box.bar.start) : "");
}
function zoom(step) {
  model.zoom = Math.min(zooms.length - 1, Math.max(0, model.zoom + step));
  model.focus = -1;
  load();
}

async function loadGraph() {
  const id = model.current;
  const graph = await get("/api/graph", { source: id });
  if (id !== model.current) return;
  const text = JSON.stringify(graph);
  if (model.graphText === text) return;
  model.graphText = text;
  const [width, height, gapX, gapY] = [170, 28, 60, 12];
  const rows = [];
  const places = graph.nodes.map(node => {
    const row = rows[node.level] = (rows[node.level] || 0) + 1;
    return { x: 10 + node.level * (width + gapX), y: 10 + (row - 1) * (height + gapY) };
  });
  const canvas = $("graph");
  canvas.replaceChildren();
  canvas.setAttribute("width", 20 + (Math.max(0, ...graph.nodes.map(node => node.level)) + 1) * (width + gapX) - gapX);
  canvas.setAttribute("height", 20 + Math.max(1, ...rows.map(row => row || 0)) * (height + gapY));
  for (const [from, to] of graph.edges) {
    const [a, b] = [places[from], places[to]];
    const isCritical = graph.nodes[from].critical && graph.nodes[to].critical && graph.nodes[to].level - graph.nodes[from].level === 1;
    canvas.append(svg("path", { class: isCritical ? "critical" : null,
      d: `M${a.x + width} ${a.y + 14}C${a.x + width + 30} ${a.y + 14} ${b.x - 30} ${b.y + 14} ${b.x} ${b.y + 14}` }));
  }
  graph.nodes.forEach((node, index) => {
    const group = svg("g", { class: (node.critical ? "critical " : "") + (node.id ? "link" : ""), transform: `translate(${places[index].x} ${places[index].y})` });
    const label = (node.count > 1 ? number(node.count) + " × " : "") + node.name;
    group.append(svg("title", {}, label + ": " + node.state), svg("rect", { width, height, rx: 5 }),
      svg("circle", { cx: 12, cy: 14, r: 5, class: node.state, fill: "currentColor" }),
      svg("text", { x: 24, y: 18 }, label.length > 21 ? label.slice(0, 20) + "…" : label));
    if (node.id) {
      group.setAttribute("tabindex", 0);
      group.setAttribute("role", "button");
      group.addEventListener("click", () => openDetail(node.id));
      group.addEventListener("keydown", event => { if (event.key === "Enter") openDetail(node.id); });
    }
    canvas.append(group);
  });
  put($("graph-note"), number(graph.operations) + " operations, the longest chain has " + number(graph.critical)
    + (graph.nodes.length < graph.operations ? "; similar operations are folded into " + number(graph.nodes.length) + " nodes" : ""));
}

function connect() {
  const stream = new EventSource("/api/events");
  stream.addEventListener("state", event => {
    const begin = performance.now();
    const { sources } = JSON.parse(event.data);
    model.sources = sources;
    for (const item of sources) {
      const points = model.history[item.id] = model.history[item.id] || [];
      points.push(item.rate || 0);
      if (points.length > 300) points.shift();
    }
    model.hasEnded = false;
    $("connection").className = "live";
    put($("connection"), sources.length ? "live" : "live, but the program has added no queue");
    if (!source() && sources.length) choose(sources[0].id); else showAll();
    load();
    model.cost = performance.now() - begin;
    document.documentElement.dataset.frames = Number(document.documentElement.dataset.frames || 0) + 1;
    document.documentElement.dataset.cost = model.cost.toFixed(2);
  });
  // The server waits for the last requests of the page, and not longer than until the page closes the stream.
  stream.addEventListener("end", async () => {
    model.hasEnded = true;
    const isIdle = async () => { while (model.busy.size) await new Promise(done => setTimeout(done, 10)); };
    await isIdle();
    load();
    await isIdle();
    stream.close();
    showLoss();
    setTimeout(connect, 2000);
  });
  stream.addEventListener("error", () => {
    showLoss();
    // A refused connection ends the stream for good in some browsers.
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
  });
}

function showLoss() {
  $("connection").className = "lost";
  put($("connection"), model.hasEnded ? "the program has ended" : "connection lost, trying again");
}

function begin() {
  // The token is in a cookie now. Without this, it would stay in the history, and in a copied address.
  if (location.search) history.replaceState(null, "", "/");
  $("filter").addEventListener("submit", event => event.preventDefault());
  $("text").addEventListener("input", () => { Object.assign(model, { text: $("text").value, cursor: 0, cursors: [] }); load(); });
  $("state").addEventListener("change", () => { Object.assign(model, { state: $("state").value, cursor: 0, cursors: [] }); load(); });
  $("next").addEventListener("click", () => { model.cursors.push(model.cursor); model.cursor = model.page.next; load(); });
  $("previous").addEventListener("click", () => { model.cursor = model.cursors.pop() || 0; load(); });
  $("closer").addEventListener("click", () => zoom(-1));
  $("farther").addEventListener("click", () => zoom(1));
  $("detail-close").addEventListener("click", () => $("detail").close());
  $("tabs").addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const tabs = [...$("tabs").children];
    const next = step && tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    if (next) { next.click(); next.focus(); }
  });
  $("timeline").addEventListener("keydown", event => {
    const boxes = model.boxes || [];
    if (event.key === "+" || event.key === "=") return zoom(-1);
    if (event.key === "-") return zoom(1);
    if (event.key === "Enter" && boxes[model.focus]) return openDetail(boxes[model.focus].bar.id);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !boxes.length) return;
    event.preventDefault();
    model.focus = (model.focus + step + boxes.length) % boxes.length;
    describeBar(boxes[model.focus]);
    drawTimeline();
  });
  const boxAt = event => (model.boxes || []).find(box => event.offsetX >= box.left && event.offsetX <= box.left + box.width
    && event.offsetY >= box.top && event.offsetY <= box.top + 16);
  $("timeline").addEventListener("mousemove", event => describeBar(boxAt(event)));
  $("timeline").addEventListener("click", event => { const box = boxAt(event); if (box) openDetail(box.bar.id); });
  window.addEventListener("resize", drawTimeline);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTimeline);
  connect();
}
begin();
