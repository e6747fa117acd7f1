// Who has sent how much to whom: at most 64 rows and columns, each for some neighbouring ranks.
function showCommunication(sent, ranks) {
  const rows = Math.ceil(ranks / sent.ranks_in_row), each = Math.ceil(rows / 64) * sent.ranks_in_row, count = Math.ceil(ranks / each);
  const cells = new Map(), name = row => (each === 1 ? `${row}` : `${row * each}-${Math.min((row + 1) * each, ranks) - 1}`);
  for (const [from, to, messages, b] of sent.sent) {
    const [y, x] = [from, to].map(row => Math.floor((row * sent.ranks_in_row) / each));
    const cell = cells.get(y * count + x) ?? { from: y, to: x, messages: 0, bytes: 0 };
    cell.messages += messages;
    cell.bytes += b;
    cells.set(y * count + x, cell);
  }
  add("h2", "Who sends to whom");
  const list = add("ul");
  for (const [model, what] of Object.entries(sent.contains)) add("li", `${model}: ${what}.`, list);
  if (!cells.size) { add("p", "Of that, there was nothing."); return; }
  const all = [...cells.values()], most = largest(all.map(cell => cell.bytes), 1), least = Math.max(1, all.reduce((a, cell) => Math.min(a, cell.bytes), most));
  const sides = add("div"), left = add("div", undefined, sides), right = add("div", undefined, sides), total = sum(all.map(cell => cell.bytes)) || 1;
  sides.className = "sides";
  left.className = "matrix";
  const strength = b => 0.12 + (0.88 * Math.log(Math.max(b, least) / least)) / (Math.log(most / least) || 1);
  add("small", `to ranks ${name(0)} ... ${name(count - 1)}`, left);
  const picture = heat(count * count, count, 440, i => (cells.has(i) ? strength(cells.get(i).bytes) : null),
    i => `from ${name(cells.get(i).from)} to ${name(cells.get(i).to)}: ${cells.get(i).messages} messages, ${bytes(cells.get(i).bytes)}`, left);
  picture.setAttribute("aria-label", "bytes from ranks (rows) to ranks (columns)");
  shape(picture, "rect", { x: 0.5, y: 0.5, width: count * Math.min(440 / count, 40) - 1, height: count * Math.min(440 / count, 40) - 1, style: "fill:none;stroke:var(--soft)" });
  add("small", `From rows, the first at the top, to columns${each > 1 ? `, each of ${each} ranks` : ""}. The stronger, the more bytes, from ${bytes(least)} to ${bytes(most)} on a logarithmic scale; empty: nothing.`, left);
  all.sort((a, b) => b.bytes - a.bytes || a.from - b.from || a.to - b.to);
  table(all.slice(0, 10), [["from ranks", cell => name(cell.from)], ["to ranks", cell => name(cell.to)], ["messages", cell => cell.messages], ["bytes", cell => bytes(cell.bytes)],
    ["share", cell => percent(cell.bytes / total), cell => cell.bytes / total]], right);
}
function showJobs(jobs) {
  add("h2", "Jobs");
  const end = largest(jobs.map(job => job.end_s ?? job.begin_s ?? 0));
  const span = (cell, job) => {
    const picture = shape(cell, "svg", { viewBox: "0 0 196 13", class: "share" });
    shape(picture, "rect", { x: 0.5, y: 0.5, width: 195, height: 12, class: "frame" });
    if (job.begin_s !== undefined)
      shape(picture, "rect", { x: 0.5 + (195 * job.begin_s) / end, y: 2, width: Math.max(1, (195 * ((job.end_s ?? end) - job.begin_s)) / end), height: 9, style: "fill:rgb(var(--bar))" });
  };
  table(jobs, [["job", job => job.name], ["ranks", job => `${job.first_rank}-${job.first_rank + job.ranks - 1}`], ["begin", job => time(job.begin_s)], ["end", job => time(job.end_s)],
    ["simulated time", job => time(job.simulated_s)], ["when", () => "", null, span], ["state", job => job.state + (job.exit_status ? `, status ${job.exit_status}` : "") + (job.reason ? `, rank ${job.failed_rank}: ${job.reason}` : ""), null, "text"],
    ["phases", job => job.phases.map(phase => `${phase.phase} (${phase.model}) ${time(phase.simulated_s)}`).join(", "), null, "text"]]);
}
function showStates(states) {
  add("h2", "Where ranks are at the end");
  table(states, [["ranks", s => s.ranks], ["how many", s => s.count ?? 1], ["state", s => s.state, null, "text"], ["call", s => [s.call, s.with].filter(Boolean).join(" "), null, "text"],
    ["model", s => s.model], ["at", s => s.site, null, "text"], ["waits for", s => (s.waits_for || []).join("; "), null, "text"]]);
  add("small", "Outside of MPI: the call is the last one. Of ranks that are at one place, what the first of them waits for.");
}
// The picture that the simulator has drawn, if the network is one that it can draw.
function showLinks() {
  const drawn = document.getElementById("links").content, place = add("div");
  if (!drawn.firstElementChild) { place.remove(); return; }
  place.className = "links";
  place.append(drawn);
  if (run.jobs) colourJobs(place, run.jobs);
  if (place.querySelector(".routes")) {
    add("small", (place.querySelector("circle") ? "Circles: hosts, with the links that only they use. " : "Frames: the hosts of a zone. They and their own links are left out, because there are many. ") +
      "Above: links of several hosts, joined as routes cross them. Each is the thicker, the larger the share of the run in which its bytes use it.");
    return;
  }
  add("small", `Squares: routers. ${place.querySelector("circle") ? "Circles: nodes. " : "Nodes and their links are left out, because there are many. "}` +
    (run.network ? "Each direction of a link is a line: the thicker, the larger the share of the run in which its bytes use it." : ""));
}
// Of each node the jobs that it has: a colour and a letter of the first, and + where there are more.
function colourJobs(place, jobs) {
  const colours = ["#e69f00", "#56b4e9", "#36b98f", "#f0e442", "#6f9fe8", "#ee8052", "#cc79a7", "#b5b5b5"], on = new Map(), list = add("ul");
  const letters = i => (i >= 26 ? letters(Math.floor(i / 26) - 1) : "") + String.fromCharCode(65 + (i % 26));
  const mark = (picture, i, x, y, more) => write(picture, letters(i) + more, { x, y: y + 3, "text-anchor": "middle", style: "font-size:8px;fill:#000" });
  list.className = "classes";
  jobs.forEach((job, i) => {
    job.hosts.forEach((host, rank) => on.set(host, (on.get(host) ?? new Map()).set(i, [...(on.get(host)?.get(i) ?? []), rank])));
    const item = add("li", undefined, list), picture = shape(item, "svg", { viewBox: "0 0 24 15" });
    shape(picture, "circle", { cx: 12, cy: 7.5, r: 7, style: `fill:${colours[i % 8]};stroke:var(--ink)` });
    mark(picture, i, 12, 7.5, "");
    item.append(`${job.name} on ${new Set(job.hosts).size} hosts`);
  });
  for (const circle of place.querySelectorAll("circle")) {
    const title = circle.querySelector("title"), there = on.get(title.textContent.split(", host ")[1]);
    if (!there) continue;
    const first = [...there.keys()][0];
    circle.setAttribute("r", 7);
    circle.style.fill = colours[first % 8];
    mark(circle.parentNode, first, Number(circle.getAttribute("cx")), Number(circle.getAttribute("cy")), there.size > 1 ? "+" : "");
    title.textContent += [...there].map(([i, ranks]) => `; job ${jobs[i].name}: rank ${ranks.join(", ")}`).join("");
  }
}
function showSample(sample, took) {
  add("h2", `Estimate for all ${sample.fine}`);
  add("p", `Estimated from ${sample.simulated} of ${sample.units} units (${sample.found}), ` +
    `seed ${sample.seed}. ${sample.reached ? "" : `The goal of ${percent(sample.goal)} is not reached. `}${sample.cheap_s === null ? "" : `All ${sample.cheap} takes ${time(sample.cheap_s)}.`}` +
    (sample.verify ? ` Verified: ${time(sample.verify.true_s)}, ${sample.verify.inside ? "inside" : "OUTSIDE"} the interval.` : ""));
  const sides = add("div");
  sides.className = "sides";
  table(sample.phases, [["phase", p => p.phase], [`estimate for ${sample.fine}`, p => time(p.estimate_s), p => p.estimate_s / sample.estimate_s], [sample.cheap, p => time(p.cheap_s)]], add("div", undefined, sides));
  table(sample.strata, [["stratum", s => s.name], ["units", s => s.units], ["drawn", s => s.drawn], ["estimate", s => time(s.estimate_s), s => s.estimate_s / sample.estimate_s],
    ["standard error", s => time(s.se_s)], [`over ${sample.cheap}`, s => Number(s.ratio.toPrecision(4))]], add("div", undefined, sides));
  add("small", `Processor time: ${time(sample.paid_cpu_s)}${sample.cost_ratio === null ? "" : `, ${percent(sample.cost_ratio)} of what all ${sample.fine} would cost`}. What follows is of the run that took ${time(took)}. Again:`);
  add("pre", sample.command);
}
