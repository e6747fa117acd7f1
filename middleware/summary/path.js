// The critical path. Each class of time has a hatching besides its colour: lines, not a pattern, which browsers print as pictures.
const CLASSES = {
  computation: { says: "computation", hatch: () => "" },
  software: { says: "software of MPI", hatch: (w, h) => slanted(w, h, (t, c) => h - (t - c)) },
  collectives: { says: "inside collectives", hatch: (w, h) => slanted(w, h, (t, c) => h - (t - c)) + slanted(w, h, (t, c) => t - c) },
  nic: { says: "NICs and PCIe", hatch: (w, h) => every(3, h).map(y => every(6, w - 1.6, y % 6).map(x => `M${x},${y}h1.6`).join("")).join("") },
  latency: { says: "latency of the network", hatch: (w, h) => every(3, h).map(y => `M0,${y}h${w}`).join("") },
  transfer: { says: "transfer of bytes", hatch: (w, h) => every(3, w).map(x => `M${x},0v${h}`).join("") },
  files: { says: "reading and writing files", hatch: (w, h) => every(6, w).map(x => `M${x},0v${h}`).join("") + every(6, h).map(y => `M0,${y}h${w}`).join("") },
};
function every(step, end, first = 1.5) {
  const list = [];
  for (let at = first; at < end; at += step) list.push(at);
  return list;
}
const slanted = (w, h, y) => every(6, w, 3 - h).map(c => [c, Math.max(c, 0), Math.min(c + h, w)]).filter(([, from, to]) => from < to)
  .map(([c, from, to]) => `M${from.toFixed(1)},${y(from, c).toFixed(1)}L${to.toFixed(1)},${y(to, c).toFixed(1)}`).join("");
const spent = piece => sum(Object.values(piece.spent_s));
const leading = spends => Object.entries(spends).reduce((a, b) => (b[1] > a[1] ? b : a), ["computation", 0]);
const atCall = one => (one.call ? `${one.call}${one.site ? ` at ${one.site}` : ""}` : "the begin of the program");
const shares = (spends, whole) => Object.entries(spends).map(([name, s]) => `${CLASSES[name].says} ${percent(s / whole)}`).join(", ");

// Shares side by side from `x` on, so wide all together.
function stripe(picture, spends, x, y, width, height, title) {
  const whole = sum(Object.values(spends));
  for (const name in CLASSES) {
    const share = spends[name] ? (width * spends[name]) / whole : 0;
    if (share > 0) shape(picture, "rect", { x, y, width: share, height, style: `fill:var(--${name})`, class: "part" }, title ?? `${CLASSES[name].says}: ${time(spends[name])}`);
    if (share > 2) shape(picture, "path", { d: CLASSES[name].hatch(share, height), transform: `translate(${x},${y})`, style: "stroke:var(--paper);stroke-width:1.3;fill:none;pointer-events:none" });
    x += share;
  }
}
function legend(spends, whole) {
  const list = add("ul");
  list.className = "classes";
  for (const name in CLASSES) {
    if (!spends[name]) continue;
    const item = add("li", undefined, list);
    stripe(shape(item, "svg", { viewBox: "0 0 24 15" }), { [name]: 1 }, 0.5, 0.5, 23, 14);
    item.append(`${CLASSES[name].says} ${percent(spends[name] / whole)} (${time(spends[name])})`);
  }
}
// Places by their text: a function that is inlined is one place to the reader.
function places(path) {
  const found = new Map();
  for (const { spent_s, ...one } of path.sites) {
    const name = atCall(one), place = found.get(name) ?? { ...one, spent_s: {} };
    for (const what in spent_s) place.spent_s[what] = (place.spent_s[what] ?? 0) + spent_s[what];
    found.set(name, place);
  }
  return [...found.values()].sort((a, b) => spent(b) - spent(a));
}
const SENT = { nic: "NICs and PCIe, for messages", latency: "latency of messages", transfer: "transfer of bytes" };
// Where most of a class is, and whose it is there.
function where(name, most, sites, pieces) {
  const there = sites.reduce((a, b) => ((b.spent_s[name] ?? 0) > (a?.spent_s[name] ?? 0) ? b : a), undefined), ranks = new Map();
  for (const piece of pieces) if (there && piece.site && atCall(piece.site) === atCall(there)) ranks.set(piece.rank, (ranks.get(piece.rank) ?? 0) + (piece.spent_s[name] ?? 0));
  const [rank, of] = [...ranks].reduce((a, b) => (b[1] > a[1] ? b : a), [-1, 0]);
  const one = of > 0.6 * sum([...ranks.values()]), who = one ? `rank ${rank}` : "several ranks", part = (there?.spent_s[name] ?? 0) / most;
  const whose = SENT[name] ? `${SENT[name]} that ${who} ${one ? "sends" : "send"}` : { computation: `computation of ${who}`, software: `software of MPI on ${who}`, collectives: `inside collectives of ${who}`,
    files: `files that ${who} ${one ? "reads and writes" : "read and write"}` }[name];
  const at = there?.call ? `${name === "computation" ? ", after" : " in"} ${atCall(there)}` : "";
  return part > 0.6 ? whose + at : `${CLASSES[name].says}, the largest part of it (${percent(part)}) ${whose}${at}`;
}
const sited = path => path.pieces.map(piece => ({ ...piece, site: path.sites[piece.place] }));
// What the path is made of most, where, and whose it is.
function pathVerdict(path) {
  const [name, most] = leading(path.spent_s);
  if (!most) return "";
  const share = most / path.end_s, amount = share > 0.95 ? "Nearly all" : share > 0.45 && share < 0.55 ? "Half" : percent(share);
  const link = name === "transfer" && path.links[0], at = link ? link.transfer_s / most : 0;
  return `${amount} of the critical path is ${where(name, most, places(path), sited(path))}.` + (at > 0.4 ? ` ${percent(at)} of the transfer is at link ${link.link}.` : "");
}
// The same for each phase that has a part of it. Neighbouring pieces may be shown as one: then only the class is known.
function showCauses(path, phases, links) {
  const list = path.phases.filter(phase => spent(phase) > 0.05 * path.end_s).sort((a, b) => spent(b) - spent(a)).slice(0, 8);
  if (list.length < 2) return;
  const items = add("ul");
  for (const { phase, model, spent_s } of list) {
    const pieces = sited(path).filter(piece => piece.phase === phase), [name, most] = leading(spent_s), whole = sum(Object.values(spent_s));
    const seen = sum(pieces.map(piece => piece.spent_s[name] ?? 0)), efficiency = phases.find(one => one.phase === phase && one.model === model)?.efficiency;
    const known = Math.abs(seen - most) < 0.1 * most, sites = places({ sites: pieces.filter(piece => piece.site).map(piece => ({ ...piece.site, spent_s: piece.spent_s })) });
    const uneven = name === "computation" && efficiency?.load_balance < 0.8 ? `; load balance ${percent(efficiency.load_balance)}` : "";
    const busy = name === "transfer" && links?.length ? `; the busiest link, ${links[0].link}, ${links[0].utilisation > 1 ? "would be" : "is"} in use for ${time(links[0].utilisation * path.end_s)} ${links[0].utilisation > 1 ? "" : "of the run"}`.trimEnd() : "";
    add("li", `Phase ${phase} (${model}), ${percent(whole / path.end_s)} of the critical path: ${percent(most / whole)} of that is ${known ? where(name, most, sites, pieces) : CLASSES[name].says}${uneven}${busy}.`, items);
  }
}
function timeline(path, ranks) {
  const left = 66, width = 1040, row = ranks <= 24 ? 18 : 432 / ranks, high = row * ranks, bar = Math.max(row - (row > 8 ? 5 : 0), 4);
  const x = s => left + ((width - left - 8) * s) / path.end_s, y = rank => Math.max(rank, 0) * row + (row - bar) / 2 + 4;
  const picture = shape(document.body, "svg", { viewBox: `0 0 ${width} ${(high + 34).toFixed(1)}`, role: "img", "aria-label": "critical path: ranks over time" });
  shape(picture, "rect", { x: left, y: 4, width: width - left - 8, height: high, class: "frame" });
  const every = Math.ceil(ranks / 24);
  for (let rank = 0; rank < ranks; rank += every) write(picture, `${rank ? "" : "rank "}${rank}`, { x: left - 7, y: y(rank) + bar / 2 + 4, "text-anchor": "end", class: "axis" });
  for (let i = 0; i <= 5; i++) {
    const at = (path.end_s * i) / 5;
    shape(picture, "line", { x1: x(at), x2: x(at), y1: 4, y2: high + 8, class: "frame" });
    write(picture, time(at), { x: x(at), y: high + 22, "text-anchor": i ? i < 5 ? "middle" : "end" : "start", class: "axis" });
  }
  let begin = 0, before = null;
  for (const piece of path.pieces) {
    if (before && before.rank !== piece.rank)
      shape(picture, "line", { x1: x(begin), x2: x(begin), y1: y(before.rank) + bar / 2, y2: y(piece.rank) + bar / 2, class: "hop" });
    before = piece;
    const length = spent(piece);
    stripe(picture, piece.spent_s, x(begin), y(piece.rank), Math.max(x(begin + length) - x(begin), 0.01), bar,
      `rank ${piece.rank}, phase ${piece.phase}, ${time(begin)} to ${time(piece.end_s)}: ${shares(piece.spent_s, length)}; in ${atCall({ ...path.sites[piece.place], call: piece.call })}`);
    begin = piece.end_s;
  }
}
function byPlace(rows, heading, whole, parent) {
  const stripes = (cell, row) => {
    const picture = shape(cell, "svg", { viewBox: "0 0 196 13", class: "share" });
    if (spent(row)) stripe(picture, row.spent_s, 0.5, 0.5, Math.max((195 * spent(row)) / whole, 0.5), 12);
  };
  table(rows, [...heading, ["time", row => time(spent(row))], ["share", row => percent(spent(row) / whole)], ["made of", () => "", null, stripes]], parent);
}
// What a message is, in words.
const SIZES = { 256: "up to 256 B", 4096: "up to 4 KiB", 65536: "up to 64 KiB", 1048576: "up to 1 MiB" };
const sizeOf = one => (one.protocol === "none" ? "" : SIZES[one.at_most_bytes] ?? "more than 1 MiB");
const inNetwork = one => one.latency_s + one.transfer_s;
// Links and classes of messages, which both sum up to what the legend says.
function showMessages(path, whole) {
  const most = 10, network = (path.spent_s.latency ?? 0) + (path.spent_s.transfer ?? 0), sides = add("div");
  sides.className = "sides";
  const links = [...path.links, ...path.unseen.map(one => ({ ...one, link: `not seen: ${one.why}` }))].sort((a, b) => inNetwork(b) - inNetwork(a));
  const left = add("div", undefined, sides), right = add("div", undefined, sides);
  table(links.slice(0, most), [["link", one => one.link, null, "text"], ["transfer and waiting", one => time(one.transfer_s)], ["latency", one => time(one.latency_s)],
    ["share of the network's", one => percent(inNetwork(one) / network), one => inNetwork(one) / network]], left);
  const rest = links.length - Math.min(links.length, most) + (path.other_links?.links ?? 0);
  add("small", "Latency is that of each link on the way; bytes and waiting belong to the link where a message waited longest, or else to its slowest one." + (rest ? ` ${rest} more links have the rest.` : ""), left);
  byPlace(path.messages.filter(one => one.protocol !== "none").slice(0, most), [["message of", one => `${one.call} (${one.kind})`], ["protocol", one => one.protocol], ["bytes", sizeOf]], whole, right);
  add("small", "The rest is what ranks do themselves, and time of NICs that no message is known for.", right);
}
function showPath(path, ranks) {
  const whole = path.end_s || 1e-300, most = 10;
  add("h2", "Critical path");
  add("p", path.partial ? `Partial: the path of rank ${path.last_rank}, of which the last date is known: ${time(path.end_s)}. What ranks wait for since then is not in it.` :
    `What the end of rank ${path.last_rank}, the last one, was waiting for, from the begin of the run on. It goes ${path.hops} times from a rank to another; waiting is not in it.`);
  const bar = shape(document.body, "svg", { viewBox: "0 0 1040 40", role: "img", "aria-label": shares(path.spent_s, whole) });
  stripe(bar, path.spent_s, 0.5, 0.5, 1039, 39);
  legend(path.spent_s, whole);
  if (path.what_if) add("p", `What if ${path.what_if.factors}: ${time(path.what_if.predicted_s)} instead of ${time(path.end_s)}, ${percent(path.what_if.predicted_s / whole - 1)}, if messages match in the same order: ${path.what_if.reordered} of ${path.what_if.any_source} that are taken from any source come in another one.`);
  timeline(path, ranks);
  add("small", `The path in ${path.pieces.length} pieces, from rank to rank; rest the pointer on one. Neighbours are shown as one where there are more than 256.`);
  add("h3", "Where");
  byPlace(places(path).slice(0, most), [["in this call of MPI, and computation after it", atCall]], whole);
  add("h3", "Phases and ranks");
  const sides = add("div");
  sides.className = "sides";
  byPlace(path.phases.filter(spent).sort((a, b) => spent(b) - spent(a)).slice(0, most), [["phase", row => row.phase], ["model", row => row.model]], whole, add("div", undefined, sides));
  const busy = [...path.ranks].sort((a, b) => b.spent_s - a.spent_s || a.rank - b.rank).slice(0, most);
  table(busy, [["rank", row => row.rank], ["time", row => time(row.spent_s)], ["share", row => percent(row.spent_s / whole), row => row.spent_s / whole]], add("div", undefined, sides));
  if (path.ranks.length > busy.length) add("small", `The ${busy.length} of ${path.ranks.length} ranks on the path that have most of it.`);
  if (path.messages.some(one => one.protocol !== "none")) {
    add("h3", "Links and messages");
    showMessages(path, whole);
  }
  add("h3", "Longest times of one kind");
  table(path.longest, [["what", one => CLASSES[one.class].says], ["rank", one => one.rank], ["phase", one => one.phase, null, "text"], ["begin", one => time(one.begin_s)],
    ["time", one => time(one.spent_s), one => one.spent_s / whole], ["where", one => `${one.class === "computation" ? "after" : "in"} ${atCall(one)}`, null, "text"]]);
}
