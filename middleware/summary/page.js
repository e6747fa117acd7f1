const run = JSON.parse(document.getElementById("run").textContent);
const program = run.executable.split("/").pop();
document.title = `${program} on ${run.ranks} ranks`;
add("h1", document.title);
// A program may have a phase for each iteration.
const MOST = 100, whole = run.efficiency, all = [...run.phases];
const phases = all.length > MOST ? all.sort((a, b) => b.simulated_s - a.simulated_s).slice(0, MOST) : all;
const explained = phases.filter(phase => phase.efficiency);
function verdict() {
  if (run.sample) return `All ${run.sample.fine} takes ${time(run.sample.estimate_s)} by estimate, from ${time(run.sample.low_s)} to ${time(run.sample.high_s)} at ${percent(run.sample.confidence)}.`;
  const took = `The program took ${time(run.simulated_s)} of simulated time`;
  if (!whole) return took + (run.configuration.analytic_explain ? "." : ". pfrun -explain says what share of it was computation, and what the rest was lost to.");
  if (whole.parallel === 0) return `${took}, all of it communication: computation took no simulated time.`;
  const balance = whole.load_balance <= whole.communication;
  const worst = explained.reduce((a, b) => a.simulated_s * (1 - a.efficiency.parallel) >= b.simulated_s * (1 - b.efficiency.parallel) ? a : b);
  return `${took}; its ranks computed ${percent(whole.parallel)} of that. ` +
    (whole.parallel >= 0.9 ? "Little is lost." : balance ? "Most is lost to uneven computation: some ranks wait for others." : "Most is lost to communication.") +
    (whole.parallel < 0.9 && phases.length > 1 ? ` Phase ${worst.phase} (${worst.model}) loses most.` : "");
}
add("p", `${verdict()} ${run.critical_path ? pathVerdict(run.critical_path) : ""}`).className = "verdict";
if (run.critical_path) showCauses(run.critical_path, phases, run.network?.busiest_links);
if (run.partial) add("p", `Partial, not the whole run: ${run.partial_reason}`).className = "bad";
for (const text of run.warnings || []) add("p", `Warning: ${text}`).className = "bad";
const facts = add("div");
facts.className = "facts";
for (const [value, name] of [[time(run.simulated_s), "simulated"], [run.ranks, "ranks"], [[...new Set(run.phases.map(phase => phase.model))].join(", ") || "-", "models"],
  ...(whole ? [[percent(whole.parallel), "parallel efficiency"], [percent(whole.load_balance), "load balance"], [percent(whole.communication), "communication efficiency"]] : []),
  ...(whole?.transfer !== undefined ? [[percent(whole.serialisation), "serialisation efficiency"], [percent(whole.transfer), "transfer efficiency"]] : []),
  [time(run.wall_clock_s), "wall-clock"]]) {
  const fact = add("div", undefined, facts);
  add("b", value, fact);
  fact.append(name);
}
add("pre", run.command.map(word => /^[\w@%+=:,.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).join(" "));

if (run.sample) showSample(run.sample, run.simulated_s);
if (run.rank_states?.length) showStates(run.rank_states);
if (run.jobs) showJobs(run.jobs);

add("h2", "Phases");
const most = largest(phases.map(phase => phase.simulated_s));
table(phases, [["phase", p => p.phase], ["model", p => p.model], ["simulated time", p => time(p.simulated_s), p => p.simulated_s / most],
  ["calls", p => p.calls], ["messages", p => p.messages], ["bytes", p => bytes(p.bytes)],
  ...(whole ? [["parallel efficiency", p => percent(p.efficiency?.parallel)], ["= load balance", p => percent(p.efficiency?.load_balance)],
    ["x communication", p => percent(p.efficiency?.communication)]] : []),
  ...(whole?.transfer !== undefined ? [["= serialisation", p => percent(p.efficiency?.serialisation)], ["x transfer", p => percent(p.efficiency?.transfer)]] : []),
  ...(whole?.transfer === undefined ? [["simulation overhead", p => time(p.overhead_s)], ["slowdown", p => p.slowdown === null ? "-" : Number(p.slowdown.toPrecision(4))]] : [])]);
add("small", (all.length > MOST ? `The ${MOST} longest of ${all.length}. ` : "") + "Simulated time: the longest that any rank spent there." + (whole ? " Efficiencies as POP defines them: the mean of what ranks compute by the time of the phase; " +
  "load balance: the mean by the most; communication: the most by the time." + (whole.transfer !== undefined ? " Serialisation: the most by the time on an ideal network; transfer: that by the time." : "") : ""));

if (run.critical_path) showPath(run.critical_path, run.ranks);

const ranks = run.rank_times || [];
if (ranks.length) {
  add("h2", "Ranks");
  const end = largest(ranks.map(rank => rank.simulated_s));
  heat(ranks.length, Math.ceil(Math.sqrt(2 * ranks.length)), 640, i => ranks[i].communication_s / end,
    i => `rank ${ranks[i].rank}: computation ${time(ranks[i].computation_s)}, communication and waiting ${time(ranks[i].communication_s)}`);
  add("p", "Ranks in order, left to right; the stronger, the longer in communication and waiting. The five that compute least and most:");
  const sorted = [...ranks].sort((a, b) => a.computation_s - b.computation_s || a.rank - b.rank);
  table(sorted.length > 10 ? [...sorted.slice(0, 5), ...sorted.slice(-5)] : sorted, [["rank", r => r.rank],
    ["computation", r => time(r.computation_s), r => r.computation_s / end], ["communication and waiting", r => time(r.communication_s), r => r.communication_s / end]]);
}
if (run.communication) showCommunication(run.communication, run.ranks);
if (run.network?.busiest_links?.length) {
  const counted = run.network.packets !== undefined, models = new Set(run.phases.map(phase => phase.model));
  add("h2", `Busiest links (${run.network.fabric}, ${run.network.routing})`);
  showLinks();
  table(run.network.busiest_links, [["link", l => l.link], ["in use", l => percent(l.utilisation), l => Math.min(1, l.utilisation)], ...(counted ? [["packets", l => l.packets]] : [["messages", l => l.messages]]),
    ["bytes", l => bytes(l.bytes)], ...(counted ? [["waited for", l => time(l.wait_s)]] : [])]);
  add("small", `What messages of ${counted ? "packet networks" : "model analytic"} use of them${models.size > 1 ? "; other models are not in it" : ""}.` +
    (run.network.busiest_links[0].utilisation > 1 ? " More than 100 %: model analytic does not make these messages wait for the link, which cannot carry them in the time of the run (PARFOCAL_ANALYTIC_SET=\"contention = link\" does, and so does pfrun -model packet)." : ""));
}
if (document.getElementById("links").content.firstElementChild) {
  add("h2", "The machine");
  showLinks();
}
add("h2", "Settings");
add("p", `${run.ranks} ranks on ${run.platform}; ${Object.entries(run.versions).map(([name, version]) => `${name} ${version}`).join(", ")}. ` +
  `Wall-clock ${time(run.wall_clock_s)}, of which start-up ${time(run.startup_s)}. ` +
  (run.interpreter ? `Of the measured computation ${percent(run.interpreter.share)} is the interpreter's. ` : "") + `Exit status ${run.exit_status}.`);
const settings = add("details");
add("summary", "All", settings);
add("pre", Object.entries(run.configuration).map(([name, value]) => `${name}: ${value}`).join("\n"), settings);
