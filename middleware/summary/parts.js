// What sections are made of. Every text of the run goes into the page as text: names of phases are the program's.
const SPACE = "http://www.w3.org/2000/svg";
function add(name, text, parent = document.body) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
function shape(parent, name, attributes, title) {
  const element = document.createElementNS(SPACE, name);
  for (const key in attributes) element.setAttribute(key, typeof attributes[key] === "number" ? Number(attributes[key].toFixed(2)) : attributes[key]);
  if (title) shape(element, "title", {}).textContent = title;
  parent.append(element);
  return element;
}
const write = (parent, text, attributes) => { shape(parent, "text", attributes).textContent = text; };
function scaled(value, units, step) {
  let unit = 0;
  while (Math.abs(value) >= step && unit < units.length - 1) { value /= step; unit++; }
  return `${Number(value.toPrecision(4))} ${units[unit]}`;
}
const time = s => s === null || s === undefined ? "-" : s >= 1 || s === 0 ? `${Number(s.toPrecision(4))} s` : scaled(s * 1e9, ["ns", "us", "ms", "s"], 1000);
const bytes = b => scaled(b, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
const percent = x => x === undefined || x === null ? "-" : `${(100 * x).toFixed(1)} %`;
const sum = values => values.reduce((a, b) => a + b, 0);
const largest = (values, least = 1e-300) => values.reduce((a, b) => Math.max(a, b), least);
// `columns`: [heading, cell of a row, share of 1 that a bar shows, "text" or a function that fills the cell]
function table(rows, columns, parent) {
  const wide = add("div", undefined, parent), made = add("table", undefined, wide), head = add("tr", undefined, made);
  wide.className = "wide";
  for (const [heading, , , kind] of columns) add("th", heading, head).className = kind ? "text" : "";
  for (const row of rows) {
    const line = add("tr", undefined, made);
    for (const [, cell, share, kind] of columns) {
      const place = add("td", cell(row) ?? "-", line);
      if (kind) place.className = "text";
      if (kind instanceof Function) kind(place, row);
      if (!share) continue;
      const bar = add("span", undefined, place);
      bar.className = "bar";
      add("i", undefined, bar).style.width = `${(6 * share(row)).toFixed(2)}em`;
    }
  }
}
// Squares, row by row; `dark` of one is 0 to 1.
function heat(count, across, width, dark, title, parent) {
  const size = Math.min(width / across, 40);
  const picture = shape(parent ?? document.body, "svg", { viewBox: `0 0 ${width} ${(Math.ceil(count / across) * size).toFixed(1)}`, role: "img", class: "heat" });
  picture.style.maxWidth = `${width}px`;
  for (let i = 0; i < count; i++) {
    const share = dark(i);
    if (share === null) continue;
    shape(picture, "rect", { x: (i % across) * size, y: Math.floor(i / across) * size, width: size, height: size, "fill-opacity": share,
      "stroke-width": Math.min(1, size / 12) }, title(i));
  }
  return picture;
}
