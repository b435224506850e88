// Written by Scripts/dashboard_page from Dashboard/Web. swift-format-ignore-file
/// The files of the page.
enum PageFiles {
    static let html = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Operations</title>
        <link rel="icon" href="/dashboard.svg" type="image/svg+xml">
        <link rel="stylesheet" href="/dashboard.css">
        <script src="/dashboard.js" defer></script>
        </head>
        <body>
        <a class="skip" href="#main">Skip to the operations</a>
        <header>
          <h1>Operations</h1>
          <p id="connection" role="status">connecting</p>
        </header>
        <nav aria-label="Queues"><ul id="sources"></ul></nav>
        <main id="main" tabindex="-1">
          <section aria-labelledby="title">
            <div class="heading">
              <h2 id="title">…</h2>
              <div id="controls" class="controls" hidden></div>
            </div>
            <div id="stall" class="stall" role="alert" hidden></div>
            <p id="incomplete" class="hint" hidden></p>
            <dl id="numbers" class="numbers"></dl>
            <svg id="spark" class="spark" viewBox="0 0 300 40" preserveAspectRatio="none" role="img" aria-label="Starts a second, of the last minutes"></svg>
            <ul id="reasons" class="reasons" aria-label="Reasons for waiting"></ul>
          </section>
          <div class="tabs" role="tablist" aria-label="Views" id="tabs"></div>
          <section id="view-operations" role="tabpanel" aria-labelledby="tab-operations">
            <form id="filter" class="filter">
              <label>Search <input id="text" type="search" autocomplete="off" placeholder="name"></label>
              <label>State <select id="state"></select></label>
              <span id="range" class="hint" role="status"></span>
              <button type="button" id="previous">Previous</button>
              <button type="button" id="next">Next</button>
            </form>
            <div id="selection" class="controls" hidden></div>
            <div class="scroll">
            <table id="operations">
              <thead><tr id="head"></tr></thead>
              <tbody id="rows"></tbody>
            </table>
            </div>
          </section>
          <section id="view-timeline" role="tabpanel" aria-labelledby="tab-timeline" hidden>
            <div class="controls">
              <button type="button" id="closer">Zoom in</button>
              <button type="button" id="farther">Zoom out</button>
              <span id="span" class="hint"></span>
            </div>
            <canvas id="timeline" tabindex="0" role="img" aria-label="Timeline of operations"></canvas>
            <p id="bar" class="hint" role="status"></p>
          </section>
          <section id="view-graph" role="tabpanel" aria-labelledby="tab-graph" hidden>
            <p id="graph-note" class="hint"></p>
            <div class="scroll" tabindex="0" aria-label="Graph of dependencies"><svg id="graph" role="img" aria-label="Graph of dependencies"></svg></div>
          </section>
          <section id="view-queues" role="tabpanel" aria-labelledby="tab-queues" hidden><div class="scroll" id="queues"></div></section>
          <section id="view-workers" role="tabpanel" aria-labelledby="tab-workers" hidden><div class="scroll" id="workers"></div></section>
          <section id="view-schedules" role="tabpanel" aria-labelledby="tab-schedules" hidden><div class="scroll" id="schedules"></div></section>
        </main>
        <dialog id="detail" aria-labelledby="detail-title">
          <h2 id="detail-title"></h2>
          <div id="detail-body"></div>
          <div class="controls"><span id="detail-controls" class="controls"></span><button type="button" id="detail-close">Close</button></div>
        </dialog>
        <p id="message" class="message" role="alert" hidden></p>
        </body>
        </html>

        """#
    static let style = #"""
        :root {
          color-scheme: light dark;
          --page: #f6f7f9; --card: #ffffff; --text: #1b1f24; --muted: #57606a; --line: #d5dae1; --accent: #0b5cad;
          --running: #0b5cad; --ready: #5a6472; --waiting: #7a5200; --done: #1a6b35; --failed: #b3261e; --cancelled: #6b4a9c;
          --alert: #fff1dc; --alert-line: #b36b00; --on-accent: #ffffff;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0f1318; --card: #181e26; --text: #e8ecf1; --muted: #a3aebb; --line: #2f3945; --accent: #6fb1fb;
            --running: #6fb1fb; --ready: #aab4c0; --waiting: #e3b35c; --done: #6fce8d; --failed: #ff8a80; --cancelled: #c5a8f5;
            --alert: #33260e; --alert-line: #d99a2b; --on-accent: #0f1318;
          }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body {
          margin: 0; background: var(--page); color: var(--text); font: 15px/1.45 system-ui, sans-serif;
          display: grid; grid-template-columns: 16rem minmax(0, 1fr); grid-template-rows: auto 1fr; min-height: 100vh;
        }
        header {
          grid-column: 1 / -1; display: flex; align-items: center; justify-content: space-between; gap: 1rem; padding: .6rem 1rem;
          border-bottom: 1px solid var(--line); background: var(--card);
        }
        h1 { font-size: 1.1rem; margin: 0; }
        h2 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
        #connection { margin: 0; color: var(--muted); }
        #connection::before { content: ""; display: inline-block; width: .6em; height: .6em; border-radius: 50%; margin-right: .5em; background: var(--waiting); }
        #connection.live::before { background: var(--done); }
        #connection.lost::before { background: var(--failed); }
        nav { border-right: 1px solid var(--line); padding: 1rem .75rem; }
        nav ul { list-style: none; margin: 0; padding: 0; display: grid; gap: .5rem; }
        nav button { width: 100%; text-align: left; padding: .6rem .75rem; display: grid; gap: .15rem; }
        nav button[aria-current="true"] { border-color: var(--accent); box-shadow: inset 3px 0 0 var(--accent); }
        nav .name { font-weight: 600; overflow-wrap: anywhere; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
        nav .alert { color: var(--failed); font-weight: 600; }
        nav .small, .hint { color: var(--muted); font-size: .87rem; }
        .hint { margin: .4rem 0; overflow-wrap: anywhere; }
        main { padding: 1rem; min-width: 0; outline: none; }
        section { margin-bottom: 1rem; }
        .heading { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; margin-bottom: .75rem; }
        .controls { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
        .numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: .5rem; margin: 0 0 .5rem; }
        .numbers div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .75rem; min-width: 0; }
        .numbers dt { color: var(--muted); font-size: .87rem; }
        .numbers dd { margin: 0; font-size: 1.3rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
        .numbers .bad dd { color: var(--failed); }
        .spark { width: 100%; height: 40px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; display: block; }
        .spark path { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
        .reasons { list-style: none; margin: .5rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem; }
        .reasons li { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .7rem; font-size: .87rem; }
        .stall { background: var(--alert); border: 1px solid var(--alert-line); border-radius: 8px; padding: .6rem .8rem; margin-bottom: .75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
        button, input, select { font: inherit; color: var(--text); background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .3rem .7rem; min-height: 2.1rem; max-width: 100%; }
        input[type=checkbox] { min-height: 0; width: 1.1rem; height: 1.1rem; margin: .15rem 0 0; padding: 0; }
        ::placeholder { color: var(--muted); opacity: 1; }
        #limit { width: 5.5rem; }
        button { cursor: pointer; }
        button:hover:not(:disabled) { border-color: var(--accent); }
        button:disabled { color: var(--muted); cursor: default; }
        button.danger { color: var(--failed); }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .tabs { display: flex; flex-wrap: wrap; gap: .25rem; border-bottom: 1px solid var(--line); margin-bottom: .75rem; }
        .tabs button { border: 0; background: none; border-bottom: 3px solid transparent; border-radius: 0; padding: .4rem .8rem; }
        .tabs button[aria-selected="true"] { border-bottom-color: var(--accent); font-weight: 600; }
        .filter { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; margin-bottom: .5rem; }
        .filter label { display: flex; gap: .4rem; align-items: center; min-width: 0; }
        .filter input { min-width: 0; width: 14rem; }
        #range { margin: 0 0 0 auto; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
        th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
        th { color: var(--muted); font-weight: 600; font-size: .87rem; }
        td.name { min-width: 9rem; }
        td.name button { border: 0; background: none; padding: 0; min-height: 0; text-align: left; color: var(--accent); overflow-wrap: anywhere; }
        td.note { color: var(--muted); overflow-wrap: anywhere; max-width: 48rem; }
        td.note span { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
        td.time { white-space: nowrap; font-variant-numeric: tabular-nums; }
        .state { font-weight: 600; white-space: nowrap; }
        .running { color: var(--running); } .ready { color: var(--ready); } .waiting, .scheduled, .blocked, .signal { color: var(--waiting); }
        .done { color: var(--done); } .failed, .crashed, .discarded { color: var(--failed); } .cancelled, .skipped { color: var(--cancelled); }
        canvas { width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 8px; display: block; margin-top: .5rem; }
        #graph { display: block; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
        #graph rect { fill: var(--page); stroke: var(--line); stroke-width: 1; rx: 5px; }
        #graph .critical rect { stroke: var(--accent); stroke-width: 2.5; }
        #graph text { fill: var(--text); font: 12px system-ui, sans-serif; }
        #graph path { fill: none; stroke: var(--muted); stroke-opacity: .6; }
        #graph path.critical { stroke: var(--accent); stroke-opacity: 1; stroke-width: 2; }
        #graph .link { cursor: pointer; }
        dialog { width: min(46rem, calc(100vw - 1.5rem)); max-height: 90vh; overflow: auto; background: var(--card); color: var(--text); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; }
        dialog::backdrop { background: rgb(0 0 0 / .45); }
        dialog dl { display: grid; grid-template-columns: minmax(7rem, auto) minmax(0, 1fr); gap: .3rem 1rem; }
        dialog .output { margin: 0; max-height: 45vh; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.4 ui-monospace, monospace; background: var(--page); border: 1px solid var(--line); border-radius: 6px; padding: .5rem; }
        dialog dt { color: var(--muted); } dialog dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
        .message { position: fixed; left: 50%; bottom: 1rem; transform: translateX(-50%); background: var(--text); color: var(--page); padding: .5rem 1rem; border-radius: 8px; margin: 0; max-width: calc(100vw - 2rem); }
        .skip { position: absolute; left: -999rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .3rem .6rem; z-index: 2; }
        @media (max-width: 760px) {
          body { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto auto 1fr; }
          nav { border-right: 0; border-bottom: 1px solid var(--line); padding: .6rem; }
          nav ul { grid-auto-flow: column; grid-auto-columns: minmax(9rem, 45%); overflow-x: auto; }
          main { padding: .6rem; }
          .numbers { grid-template-columns: repeat(auto-fill, minmax(6.5rem, 1fr)); }
          #range { margin: 0; width: 100%; }
          table, tbody, tr, td { display: block; width: 100%; }
          thead { display: none; }
          tr { border-bottom: 1px solid var(--line); padding: .35rem 0; }
          td { border: 0; padding: .1rem .6rem; max-width: 100%; }
          td[data-title]::before { content: attr(data-title) ": "; color: var(--muted); }
          .filter label { width: 100%; } .filter input, .filter select { flex: 1; width: auto; }
        }

        """#
    static let script = #"""
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

        """#
    static let icon = #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="9" height="4" x="1" y="1" rx="1" fill="#1a6b35"/><rect width="9" height="4" x="6" y="6" rx="1" fill="#2f81d6"/><rect width="5" height="4" x="3" y="11" rx="1" fill="#b36b00"/></svg>

        """#
}
