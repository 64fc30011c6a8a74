"use strict";
(() => {
  const parts = [...document.querySelectorAll("[data-a]")];
  const byMark = new Map();
  for (const part of document.querySelectorAll("[data-a], [data-e]")) {
    for (const mark of (part.dataset.a ?? part.dataset.e).split(" ")) {
      if (!byMark.has(mark)) byMark.set(mark, []);
      byMark.get(mark).push(part);
    }
  }
  const reasons = new Map();
  for (const reason of document.querySelectorAll("template[data-why]")) {
    reasons.set(reason.dataset.why, reason);
  }
  const why = document.getElementById("why");
  const mostReasons = 60;
  let lit = [];
  let shown = null;
  let held = false;

  const marks = (part) => part.dataset.a.split(" ");
  const linked = (part) => new Set(marks(part).flatMap((mark) => byMark.get(mark)));
  const paneOf = (part) => part.closest(".pane");
  const inPane = (pane) => [...pane.querySelectorAll("[data-a]")];

  function clear() {
    for (const part of lit) part.classList.remove("lit", "now");
    lit = [];
    shown = null;
    why.replaceChildren();
  }

  function show(part) {
    if (part === shown) return;
    clear();
    shown = part;
    lit = [...linked(part)];
    for (const other of lit) other.classList.add("lit");
    part.classList.add("now");
    const found = marks(part).filter((mark) => reasons.has(mark)).slice(0, mostReasons);
    why.replaceChildren(...found.map((mark) => reasons.get(mark).content.cloneNode(true)));
    why.scrollTop = 0;
  }

  // Brings what is lit in the other columns of the same part into sight, without moving the page.
  function reveal(part) {
    const around = part.closest(".part");
    for (const pane of around.querySelectorAll(".panes > .pane")) {
      if (pane === paneOf(part)) continue;
      const first = lit.find((other) => pane.contains(other));
      if (!first) continue;
      const box = pane.getBoundingClientRect();
      const bottom = Math.min(box.bottom, innerHeight - why.offsetHeight);
      const line = first.getBoundingClientRect();
      if (line.top < box.top + 24 || line.bottom > bottom) {
        pane.scrollTop += line.top - box.top - Math.max(30, (bottom - box.top) / 3);
      }
    }
  }

  function select(part) {
    for (let outer = part.closest("details"); outer; outer = outer.parentElement.closest("details")) {
      outer.open = true;
    }
    part.focus({ preventScroll: true });
    part.scrollIntoView({ block: "nearest", inline: "nearest" });
    const hidden = part.getBoundingClientRect().bottom - (innerHeight - why.offsetHeight);
    if (hidden > 0) scrollBy(0, hidden + 12);
  }

  function step(part, by) {
    const pane = inPane(paneOf(part));
    const next = pane[pane.indexOf(part) + by];
    if (next) select(next);
  }

  // The nearest column on that side that has something of this line.
  function across(part, by) {
    const panes = [...part.closest(".part").querySelectorAll(".pane")];
    const others = linked(part);
    for (let at = panes.indexOf(paneOf(part)) + by; panes[at]; at += by) {
      const next = inPane(panes[at]).find((other) => others.has(other));
      if (next) return select(next);
    }
    if (by > 0) {
      // What it became may be in another part of the page.
      const away = parts.find((other) => others.has(other) && other.closest(".part") !== part.closest(".part"));
      if (away) select(away);
    }
  }

  function change(by) {
    const changed = [...document.querySelectorAll(".line.new, .line.old")].filter(
      (line) => !line.previousElementSibling?.matches(".new, .old"),
    );
    if (!changed.length) return;
    const here = document.activeElement.closest(".line") ?? document.querySelector(".line.seen");
    const at = changed.indexOf(here);
    const next = changed[(at + by + changed.length) % changed.length] ?? changed[0];
    here?.classList.remove("seen");
    next.classList.add("seen");
    if (!next.hasAttribute("tabindex")) next.tabIndex = -1;
    select(next);
  }

  document.addEventListener("pointerover", (event) => {
    const part = event.target.closest("[data-a]");
    if (held) return;
    if (part) show(part);
    else if (!event.target.closest("#why")) clear();
  });
  document.addEventListener("focusin", (event) => {
    const part = event.target.closest("[data-a]");
    if (!part) return;
    held = true;
    show(part);
    reveal(part);
  });
  document.addEventListener("click", (event) => {
    const part = event.target.closest("[data-a]");
    if (part) {
      held = true;
      show(part);
      reveal(part);
    } else if (!event.target.closest("#why, summary, a")) {
      held = false;
      clear();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      held = false;
      document.activeElement.blur();
      clear();
      return;
    }
    if (event.key === "n" || event.key === "p") return change(event.key === "n" ? 1 : -1);
    const part = event.target.closest("[data-a]");
    if (!part) return;
    const moves = {
      ArrowDown: () => step(part, 1),
      ArrowUp: () => step(part, -1),
      ArrowRight: () => across(part, 1),
      ArrowLeft: () => across(part, -1),
      Enter: () => ((held = !held), held || clear()),
    };
    if (moves[event.key]) {
      event.preventDefault();
      moves[event.key]();
    }
  });

  // Tab goes from column to column; in each of them the arrows move on.
  for (const pane of document.querySelectorAll(".pane")) {
    const first = pane.querySelector("[data-a]");
    if (first) first.tabIndex = 0;
  }
})();
