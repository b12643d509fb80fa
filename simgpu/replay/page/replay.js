"use strict";
// The page of a replay. All of its data is in the element with the id "data"; every text of it
// is set by textContent, so that nothing in it is ever markup or code.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const LANES = 32;
  const state = { at: 0, lanes: data.warps.map(() => 0), cell: null };

  // ---- Elements ----

  function make(tag, options = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "text") element.textContent = value;
      else if (name === "class") element.className = value;
      else if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }
  const byId = (id) => document.getElementById(id);
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const triple = ([x, y, z]) => (z ? `(${x},${y},${z})` : `(${x},${y})`);
  const hasLane = (mask, lane) => ((mask >>> lane) & 1) === 1;
  function lanesOf(mask) {
    const lanes = [];
    for (let lane = 0; lane < LANES; ++lane) if (hasLane(mask, lane)) lanes.push(lane);
    return lanes;
  }
  /// "lanes 0-3 and 8"
  function lanesText(mask) {
    const runs = [];
    for (const lane of lanesOf(mask)) {
      const last = runs[runs.length - 1];
      if (last && last[1] === lane - 1) last[1] = lane;
      else runs.push([lane, lane]);
    }
    if (runs.length === 1 && runs[0][0] === 0 && runs[0][1] === LANES - 1) return "all lanes";
    const words = runs.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`));
    return `${lanesOf(mask).length === 1 ? "lane" : "lanes"} ${words.join(", ")}`;
  }

  // ---- Values ----

  /// Of all lanes of a mask, in order, as the page's writer packs them.
  function unpack(packed, count) {
    if (packed.v) return packed.v.map((one) => BigInt("0x" + one));
    const first = BigInt("0x" + packed.b);
    const step = packed.d ? BigInt("0x" + packed.d) : 0n;
    const values = [];
    for (let i = 0; i < count; ++i) values.push(BigInt.asUintN(64, first + step * BigInt(i)));
    return values;
  }
  const scratch = new DataView(new ArrayBuffer(8));
  function half(bits) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
  }
  function numberText(value, digits) {
    if (Object.is(value, -0)) return "-0";
    if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
    return String(Number(value.toPrecision(digits)));
  }
  function valueText(bits, type) {
    switch (type) {
      case "predicate": return bits ? "true" : "false";
      case "f16": return numberText(half(Number(bits & 0xffffn)), 4);
      case "f32": scratch.setUint32(0, Number(bits & 0xffffffffn)); return numberText(scratch.getFloat32(0), 7);
      case "f64": scratch.setBigUint64(0, bits); return numberText(scratch.getFloat64(0), 12);
      case "s32": return BigInt.asIntN(32, bits).toString();
      case "u32": return BigInt.asUintN(32, bits).toString();
      case "s64": return BigInt.asIntN(64, bits).toString();
      case "u64": return bits.toString();
      default: return "0x" + bits.toString(16);
    }
  }

  // ---- Where things are ----

  /// Without its folders, unless another file has the same name.
  const baseName = (name) => name.slice(name.lastIndexOf("/") + 1);
  function fileName(index) {
    const file = data.files[index];
    if (!file || !file.name) return "unknown source";
    const alike = data.files.filter((one) => one.name && baseName(one.name) === baseName(file.name));
    return alike.length > 1 ? file.name : baseName(file.name);
  }
  function placeText(index) {
    const place = data.places[index];
    return place ? `${fileName(place.file)}:${place.line}` : "unknown source line";
  }
  const launchOf = (warpIndex) => data.blocks[data.warps[warpIndex].block].launch;
  const kernelText = (launch) => launch.kernel.replaceAll("(anonymous namespace)::", "");
  /// "earlier launch, scale": of two launches, which.
  const launchText = (index) => `${index === 0 ? "earlier" : "later"} launch, ${kernelText(data.launches[index])}`;
  const sentence = (text) => text[0].toUpperCase() + text.slice(1);
  function warpText(index) {
    const words = `block ${triple(data.blocks[data.warps[index].block].index)}, warp ${data.warps[index].warp}`;
    return data.launches.length > 1 ? `${launchText(launchOf(index))}, ${words}` : words;
  }
  function threadText(warpIndex, lane) {
    const [bx, by] = data.launches[launchOf(warpIndex)].block;
    const thread = data.warps[warpIndex].warp * LANES + lane;
    return triple([thread % bx, Math.floor(thread / bx) % by, Math.floor(thread / bx / by)]);
  }
  const SIZES = { char: 1, bool: 1, half: 2, short: 2, float: 4, int: 4, unsigned: 4, double: 8, long: 8, size_t: 8 };
  const TYPES = { half: "f16", float: "f32", double: "f64", int: "s32", unsigned: "u32", long: "s64", size_t: "u64" };
  const arraysOf = (launch) => (launch.arrays.length
    ? launch.arrays
    : launch.shared_bytes ? [{ name: "shared memory", offset: 0, bytes: launch.shared_bytes, element: "", extents: [] }] : []);
  const arrays = data.launches.map(arraysOf); // of each launch
  const elementBytes = (array) => SIZES[array.element] || 4;
  function elementText(array, element) {
    if (!array.extents.length) return `${array.name}[${element}]`;
    const indices = [];
    let rest = element;
    for (let i = array.extents.length; i-- > 0;) {
      indices.unshift(rest % array.extents[i]);
      rest = Math.floor(rest / array.extents[i]);
    }
    return array.name + indices.map((index) => `[${index}]`).join("");
  }
  function sharedText(offset, launch) {
    const array = arrays[launch].find((one) => offset >= one.offset && offset < one.offset + one.bytes);
    if (!array) return `shared memory, byte ${offset}`;
    const size = elementBytes(array);
    if (!array.element) return `${array.name}, byte ${offset - array.offset}`;
    const rest = (offset - array.offset) % size;
    return elementText(array, Math.floor((offset - array.offset) / size)) + (rest ? `, byte ${rest} of it` : "");
  }
  function globalText(access, address, launch) {
    const allocation = data.allocations[access.allocation];
    if (!allocation) return `address 0x${address.toString(16)}`;
    const { name, element } = allocation.of_launch[launch];
    const size = BigInt(SIZES[element] || 0);
    if (size && address % size === 0n) return `${name}[${address / size}]`;
    return `byte ${address} of ${name || allocation.label || "an allocation"} (${allocation.bytes} bytes)`;
  }
  function addressText(access, address, launch) {
    if (access.space === "shared") return sharedText(Number(address), launch);
    if (access.space === "local") return `the thread's local memory, byte ${address}`;
    return globalText(access, address, launch);
  }
  const VERBS = { load: "reads", store: "writes", atomic: "updates atomically", copy: "starts an asynchronous copy to", arrival: "has the bytes of its asynchronous copy in" };
  const writes = (access) => access.action === "store" || access.action === "atomic" || access.action === "arrival";
  const reads = (access) => access.action === "load" || access.action === "atomic";

  for (const step of data.steps) {
    for (const access of step.accesses) access.addresses = unpack(access.at, lanesOf(access.lanes).length);
  }
  const addressOf = (access, lane) =>
    hasLane(access.lanes, lane) ? access.addresses[lanesOf(access.lanes).indexOf(lane)] : undefined;

  // ---- What all steps up to one have made of registers and shared memory ----

  function takeValues(registers, list, marksNew) {
    for (const one of list) {
      const key = one.name >= 0 ? `name ${one.name}` : `register ${one.reg}`;
      let row = registers.get(key);
      if (!row) registers.set(key, row = { name: one.name, reg: one.reg, type: one.type, lanes: new Array(LANES), fresh: 0 });
      if (row.type === "unknown") row.type = one.type;
      const values = unpack(one.values, lanesOf(one.lanes).length);
      lanesOf(one.lanes).forEach((lane, i) => { row.lanes[lane] = values[i]; });
      if (marksNew) row.fresh |= one.lanes;
    }
  }
  function takeStores(memory, list) {
    for (const one of list) {
      for (let i = 0; i * 2 < one.bytes.length; ++i) {
        memory.set(one.first + i, { value: parseInt(one.bytes.substr(2 * i, 2), 16), warp: one.warp, place: one.place });
      }
    }
  }
  function stateAt(number) {
    const warps = data.warps.map((warp) => ({ registers: new Map(), step: null, index: -1 }));
    const memories = data.blocks.map((block) => { const memory = new Map(); takeStores(memory, block.shared); return memory; });
    data.warps.forEach((warp, i) => takeValues(warps[i].registers, warp.registers, false));
    data.steps.slice(0, number + 1).forEach((step, i) => {
      const warp = warps[step.warp];
      const memory = memories[data.warps[step.warp].block];
      for (const row of warp.registers.values()) row.fresh = 0;
      takeValues(warp.registers, step.before, false);
      takeStores(memory, step.others);
      takeValues(warp.registers, step.registers, true);
      takeStores(memory, step.shared);
      for (const name of step.unknown) warp.registers.delete(`name ${name}`);
      warp.step = step;
      warp.index = i;
    });
    return { warps, memories };
  }

  // ---- The parts of the page ----

  function markOf(stepIndex) {
    return data.marks.filter((mark) => mark.step === stepIndex);
  }

  function lanesStrip(warpIndex, step) {
    const strip = make("div", { class: "lanes", role: "group", "aria-label": "Lanes of the warp" });
    for (let lane = 0; lane < LANES; ++lane) {
      const exited = step ? hasLane(step.exited, lane) : false;
      const active = step ? hasLane(step.active, lane) && !exited : false;
      const kind = exited ? "exited" : active ? "active" : "inactive";
      const cell = make("button", {
        class: `lane ${kind}${lane === state.lanes[warpIndex] ? " chosen" : ""}`,
        type: "button",
        tabindex: lane === state.lanes[warpIndex] ? "0" : "-1",
        "aria-pressed": String(lane === state.lanes[warpIndex]),
        "aria-label": `Lane ${lane}, thread ${threadText(warpIndex, lane)}, ${kind}`,
        title: `lane ${lane}, thread ${threadText(warpIndex, lane)}: ${kind}`,
        text: String(lane),
        on: { click: () => choose(warpIndex, lane) },
      });
      strip.append(cell);
    }
    return strip;
  }

  function sourcePane(step, isNow) {
    const pane = make("div", { class: "source", tabindex: "0", role: "region", "aria-label": "Source" });
    const place = step ? data.places[step.place] : undefined;
    if (!place) {
      pane.append(make("p", { class: "soft", text: step ? "The source line is not known; build with -lineinfo." : "Not begun yet." }));
      return pane;
    }
    for (const call of place.calls) {
      pane.append(make("p", { class: "soft call", text: `in ${call.function || "a function"}, called at ${call.file}:${call.line}` }));
    }
    const file = data.files[place.file];
    if (!file || !file.lines.length) {
      pane.append(make("p", { class: "soft", text: `${placeText(step.place)}; its text is not at hand.` }));
      return pane;
    }
    const reach = 7;
    const list = make("ol", { start: String(Math.max(file.first, place.line - reach)) });
    file.lines.forEach((text, i) => {
      const number = file.first + i;
      if (Math.abs(number - place.line) > reach) return;
      const line = make("li", { class: number === place.line ? (isNow ? "current now" : "current") : "" },
        make("code", { text: text || " " }));
      if (number === place.line) line.setAttribute("aria-current", "step");
      list.append(line);
    });
    list.style.counterReset = `line ${Math.max(file.first, place.line - reach) - 1}`;
    pane.append(list);
    return pane;
  }

  function accessList(step, stepIndex) {
    const list = make("ul", { class: "accesses" });
    if (!step) return list;
    const marks = markOf(stepIndex);
    const chosen = state.lanes[step.warp];
    const most = 8;
    const isShown = (i) => i < most || marks.some((one) => one.access === i);
    step.accesses.forEach((access, i) => {
      if (!isShown(i)) return;
      const mark = marks.find((one) => one.access === i);
      const lane = mark ? mark.lane : hasLane(access.lanes, chosen) ? chosen : lanesOf(access.lanes)[0];
      const words = `lane ${lane} ${VERBS[access.action]} ${addressText(access, addressOf(access, lane), launchOf(step.warp))}`;
      const more = lanesOf(access.lanes).length > 1 ? ` (of ${lanesText(access.lanes)})` : "";
      list.append(make("li", { class: mark ? "of-finding" : "", text: (mark ? "◆ " : "") + words + more }));
    });
    const hidden = step.accesses.filter((access, i) => !isShown(i)).length;
    if (hidden) list.append(make("li", { class: "soft", text: `and ${hidden} more of this line` }));
    for (const mark of marks.filter((one) => one.access < 0)) {
      list.append(make("li", { class: "of-finding", text: `◆ lane ${mark.lane}: the finding is here` }));
    }
    return list;
  }

  function valuesTable(rows, caption, chosen) {
    const table = make("table", {}, make("caption", { text: caption }));
    const head = make("tr", {}, make("th", { scope: "col", text: "name" }), make("th", { scope: "col", class: "picked", text: `lane ${chosen}` }));
    for (let lane = 0; lane < LANES; ++lane) head.append(make("th", { scope: "col", class: lane === chosen ? "chosen" : "", text: String(lane) }));
    table.append(make("thead", {}, head));
    const body = make("tbody");
    for (const row of rows) {
      const cellText = (lane) => (row.lanes[lane] === undefined ? "" : valueText(row.lanes[lane], row.type));
      const line = make("tr", { class: row.fresh ? "fresh" : "" },
        make("th", { scope: "row", text: row.name >= 0 ? data.names[row.name] : `r${row.reg}` }),
        make("td", { class: "picked", text: cellText(chosen) }));
      for (let lane = 0; lane < LANES; ++lane) {
        const marks = (lane === chosen ? "chosen " : "") + (hasLane(row.fresh, lane) ? "new" : "");
        line.append(make("td", { class: marks, text: cellText(lane) }));
      }
      body.append(line);
    }
    table.append(body);
    return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, table);
  }

  const opened = new Map(); // by warp, once somebody has chosen
  function registerTables(warpIndex, warp) {
    const rows = [...warp.registers.values()];
    const named = rows.filter((row) => row.name >= 0).sort((a, b) => a.name - b.name);
    const others = rows.filter((row) => row.name < 0).sort((a, b) => a.reg - b.reg);
    const parts = [];
    if (named.length) parts.push(valuesTable(named, "Variables", state.lanes[warpIndex]));
    if (others.length) {
      const details = make("details", { on: { toggle: () => opened.set(warpIndex, details.open) } },
        make("summary", { text: `${plural(others.length, "register")} without a name in the source` }));
      details.open = opened.has(warpIndex) ? opened.get(warpIndex) : !named.length;
      details.append(valuesTable(others, "Registers", state.lanes[warpIndex]));
      parts.push(details);
    }
    return parts;
  }

  function sharedCell(array, memory, element, size, marks, cells) {
    const first = array.offset + element * size;
    let bits = 0n;
    let known = true;
    let last = null;
    for (let i = size; i-- > 0;) {
      const byte = memory.get(first + i);
      if (!byte) { known = false; continue; }
      bits = (bits << 8n) | BigInt(byte.value);
      last = byte;
    }
    const kind = marks.get(first) || "";
    const text = known ? valueText(bits, TYPES[array.element] || "unknown") : "·";
    const name = array.element ? elementText(array, element) : `${array.name}, bytes ${element * size}-${element * size + size - 1}`;
    const who = last && last.warp >= 0 ? `last written by warp ${last.warp} at ${placeText(last.place)}` : "not written yet";
    const what = kind ? `; ${kind.includes("written") ? "written" : ""}${kind.includes("read") ? (kind.includes("written") ? " and read" : "read") : ""} in this step` : "";
    const words = `${name} = ${known ? text : "unknown"}, ${who}${what}`;
    const key = `${array.name} ${element}`;
    const cell = make("td", { class: kind + (state.cell === key ? " chosen" : ""), text, title: words,
      on: { click: () => { state.cell = key; show(); } } });
    if (state.cell === key) cells.words = words;
    return cell;
  }

  /// Elements of an array that this step, and the finding, touches.
  function touched(blockIndex, step, array) {
    const marks = new Map();
    const size = elementBytes(array);
    const note = (address, bytes, kind) => {
      for (let at = Number(address); at < Number(address) + bytes; ++at) {
        if (at < array.offset || at >= array.offset + array.bytes) continue;
        const first = array.offset + Math.floor((at - array.offset) / size) * size;
        const old = marks.get(first) || "";
        if (!old.includes(kind)) marks.set(first, `${old} ${kind}`.trim());
      }
    };
    if (step && data.warps[step.warp].block === blockIndex) {
      for (const access of step.accesses.filter((one) => one.space === "shared")) {
        for (const address of access.addresses) {
          if (writes(access) || access.action === "copy") note(address, access.bytes, "written");
          if (reads(access)) note(address, access.bytes, "read");
        }
      }
    }
    for (const mark of data.marks) {
      const of = data.steps[mark.step];
      const access = of.accesses[mark.access];
      if (!access || access.space !== "shared" || data.warps[of.warp].block !== blockIndex) continue;
      note(addressOf(access, mark.lane), access.bytes, "of-finding");
    }
    return marks;
  }

  function arrayGrid(blockIndex, memory, step, array) {
    const size = elementBytes(array);
    const count = Math.floor(array.bytes / size);
    const columns = array.extents.length > 1 ? array.extents[array.extents.length - 1] : Math.min(16, count);
    const rows = Math.ceil(count / columns);
    const marks = touched(blockIndex, step, array);
    const mostCells = 1024;
    const most = Math.max(1, Math.floor(mostCells / columns));
    let from = 0;
    if (rows > most) {
      const seen = [...marks.keys()].map((at) => Math.floor((at - array.offset) / size / columns));
      const centre = seen.length ? Math.min(...seen) : 0;
      from = Math.max(0, Math.min(centre - 2, rows - most));
    }
    const to = Math.min(rows, from + most);
    const caption = array.element
      ? `${array.element} ${array.name}${array.extents.map((extent) => `[${extent}]`).join("")}` : `${array.name} (${array.bytes} bytes)`;
    const cells = {};
    const table = make("table", { class: "memory" }, make("caption", { text: caption }));
    const head = make("tr", {}, make("th"));
    for (let column = 0; column < columns; ++column) head.append(make("th", { scope: "col", text: String(column) }));
    table.append(make("thead", {}, head));
    const body = make("tbody");
    for (let row = from; row < to; ++row) {
      const line = make("tr", {}, make("th", { scope: "row", text: String(array.extents.length > 1 ? row : row * columns) }));
      for (let column = 0; column < columns && row * columns + column < count; ++column) {
        line.append(sharedCell(array, memory, row * columns + column, size, marks, cells));
      }
      body.append(line);
    }
    table.append(body);
    const box = make("div", {}, make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Shared memory: ${caption}` }, table));
    if (from > 0 || to < rows) box.append(make("p", { class: "soft", text: `Rows ${from} to ${to - 1} of ${rows} are shown.` }));
    if (cells.words) box.append(make("p", { class: "picked-cell", "aria-live": "polite", text: cells.words }));
    return box;
  }

  function roleOf(warpIndex) {
    const numbers = data.marks.map((mark, i) => (data.steps[mark.step].warp === warpIndex ? i : -1)).filter((i) => i >= 0);
    if (data.marks.length < 2 || data.warps.length < 2 || numbers.length !== 1) return "";
    if (data.launches.length > 1) return "";
    return numbers[0] === 0 ? ": the earlier access" : ": the later access";
  }

  // ---- Showing a step ----

  const panes = [];
  function build() {
    const kernels = [...new Set(data.launches.map(kernelText))].join(" and ");
    document.title = `Replay of ${kernels}`;
    byId("kernel").textContent = kernels;
    byId("title").textContent = data.title;
    const finding = byId("finding");
    if (data.code) finding.append(make("strong", { text: `${data.code} ` }));
    finding.append(make("span", { text: data.message }));
    for (const line of data.lines) byId("lines").append(make("li", { text: line }));
    const sizes = data.launches.map((launch, i) => (data.launches.length > 1 ? `${sentence(launchText(i))}: ` : "") +
      `grid ${launch.grid.join(" × ")}, block ${launch.block.join(" × ")}. `);
    byId("facts").textContent = sizes.join("") + data.notes.join(" ");
    const parameters = byId("parameters");
    data.launches.forEach((launch, i) => {
      if (!launch.parameters.length) return;
      if (data.launches.length > 1) parameters.append(make("h3", { text: sentence(launchText(i)) }));
      const list = make("dl");
      for (const one of launch.parameters) list.append(make("dt", { text: one.name }), make("dd", { text: one.value }));
      parameters.append(list);
    });
    byId("parameters-box").hidden = data.launches.every((launch) => !launch.parameters.length);
    data.warps.forEach((warp, i) => {
      const pane = make("section", { class: "side", "aria-label": warpText(i) });
      byId("sides").append(pane);
      panes.push(pane);
    });
    byId("sides").classList.toggle("two", data.warps.length > 1);
    const slider = byId("slider");
    slider.max = String(Math.max(0, data.steps.length - 1));
    slider.addEventListener("input", () => go(Number(slider.value)));
    byId("first").addEventListener("click", () => go(0));
    byId("back").addEventListener("click", () => go(state.at - 1));
    byId("on").addEventListener("click", () => go(state.at + 1));
    byId("last").addEventListener("click", () => go(data.steps.length - 1));
    byId("previous-access").addEventListener("click", () => jump(-1));
    byId("next-access").addEventListener("click", () => jump(1));
    document.addEventListener("keydown", onKey);
    for (const mark of data.marks) state.lanes[data.steps[mark.step].warp] = mark.lane;
    if (!data.marks.length) byId("previous-access").hidden = byId("next-access").hidden = true;
  }

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const keys = {
      ArrowLeft: () => go(state.at - 1), ArrowUp: () => go(state.at - 1),
      ArrowRight: () => go(state.at + 1), ArrowDown: () => go(state.at + 1),
      Home: () => go(0), End: () => go(data.steps.length - 1),
      n: () => jump(1), p: () => jump(-1),
      "[": () => turn(LANES - 1), "]": () => turn(1),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }

  function go(number) {
    state.at = Math.max(0, Math.min(number, data.steps.length - 1));
    show();
  }
  /// To the next access of the finding, or the one before; round at the ends.
  function jump(way) {
    const steps = [...new Set(data.marks.map((mark) => mark.step))].sort((a, b) => a - b);
    if (!steps.length) return;
    const next = way > 0 ? steps.find((step) => step > state.at) : steps.slice().reverse().find((step) => step < state.at);
    state.at = next !== undefined ? next : way > 0 ? steps[0] : steps[steps.length - 1];
    const mark = data.marks.find((one) => one.step === state.at);
    if (mark) state.lanes[data.steps[state.at].warp] = mark.lane;
    show();
  }
  function choose(warpIndex, lane) {
    state.lanes[warpIndex] = lane;
    const hadFocus = panes[warpIndex].contains(document.activeElement);
    show();
    if (hadFocus) panes[warpIndex].querySelector(".lane.chosen").focus();
  }
  /// Another lane of the warp that is at this step.
  function turn(by) {
    if (!data.steps.length) return;
    const warp = data.steps[state.at].warp;
    choose(warp, (state.lanes[warp] + by) % LANES);
  }

  function showSide(i, warp, isNow) {
    const pane = panes[i];
    pane.classList.toggle("now", isNow);
    const scrolls = [...pane.querySelectorAll(".wide")].map((one) => one.scrollLeft);
    pane.replaceChildren();
    pane.append(make("h2", { text: `${sentence(warpText(i))}${roleOf(i)}` }));
    const step = warp.step;
    let where = "has not begun";
    if (step) {
      const leftOut = leftOutBefore(warp.index);
      where = `${placeText(step.place)} · ${lanesText(step.active & ~step.exited)} · ${plural(step.interval, "barrier")} passed` +
        (step.barrier ? " · at a barrier" : "") + (leftOut ? ` · ${plural(leftOut, "step")} left out before` : "");
    }
    pane.append(make("p", { class: "where", text: where }), lanesStrip(i, step), sourcePane(step, isNow), accessList(step, warp.index));
    pane.append(...registerTables(i, warp));
    [...pane.querySelectorAll(".wide")].forEach((one, k) => { one.scrollLeft = scrolls[k] || 0; });
  }
  function leftOutBefore(index) {
    const step = data.steps[index];
    for (let i = index; i-- > 0;) {
      if (data.steps[i].warp === step.warp) return step.number - data.steps[i].number - 1;
    }
    return step.number;
  }

  function show() {
    if (!data.steps.length) {
      byId("status").textContent = "Nothing was recorded.";
      return;
    }
    const step = data.steps[state.at];
    const now = stateAt(state.at);
    now.warps.forEach((warp, i) => showSide(i, warp, i === step.warp));
    const shared = byId("shared");
    const scrolls = [...shared.querySelectorAll(".wide")].map((one) => one.scrollLeft);
    shared.replaceChildren();
    data.blocks.forEach((block, i) => {
      if (!arrays[block.launch].length) return;
      const words = `block ${triple(block.index)}`;
      const heading = data.launches.length > 1 ? `${launchText(block.launch)}, ${words}` : words;
      if (data.blocks.length > 1) shared.append(make("h3", { text: sentence(heading) }));
      for (const array of arrays[block.launch]) shared.append(arrayGrid(i, now.memories[i], step, array));
    });
    [...shared.querySelectorAll(".wide")].forEach((one, k) => { one.scrollLeft = scrolls[k] || 0; });
    byId("shared-box").hidden = data.blocks.every((block) => !arrays[block.launch].length);
    const slider = byId("slider");
    slider.value = String(state.at);
    const words = `Step ${state.at + 1} of ${data.steps.length}: ${warpText(step.warp)}, ${placeText(step.place)}` +
      (markOf(state.at).length ? ", an access of the finding" : "");
    slider.setAttribute("aria-valuetext", words);
    byId("status").textContent = words;
    for (const [id, off] of [["first", state.at === 0], ["back", state.at === 0],
      ["on", state.at + 1 === data.steps.length], ["last", state.at + 1 === data.steps.length]]) {
      byId(id).disabled = off;
    }
  }

  build();
  // Two launches run one after the other: both accesses are there with the later one.
  if (data.launches.length > 1 && data.marks.length) state.at = Math.max(...data.marks.map((mark) => mark.step));
  show();
})();
