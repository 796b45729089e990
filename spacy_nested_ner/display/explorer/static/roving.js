// One mention of a drawing is a stop of the Tab key. Arrow keys go from it to the others, of which there may be many.

export const headsIn = (root) => [...root.querySelectorAll("[data-start]")];

export function startRoving(root) {
  root.addEventListener("keydown", onKey);
  root.addEventListener("focusin", ({ target }) => {
    if (target.matches("[data-start]")) stopAt(root, target);
  });
  stopAt(root, headsIn(root)[0]);
  return root;
}

export function stopAt(root, head) {
  for (const each of root.querySelectorAll('[data-start][tabindex="0"]')) each.tabIndex = -1;
  if (head) head.tabIndex = 0;
}

function onKey(event) {
  const root = event.currentTarget;
  const all = headsIn(root);
  const place = all.indexOf(event.target);
  if (place < 0) return;
  const right = event.target.closest("[dir]")?.dir === "rtl" ? -1 : 1;
  const next = {
    ArrowRight: place + right, ArrowDown: place + 1, ArrowLeft: place - right, ArrowUp: place - 1, Home: 0, End: all.length - 1,
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  if (!all[next]) return;
  // The size of what has not been on the screen yet is estimated: a browser that scrolls page and frame at once misses it.
  all[next].focus({ preventScroll: true });
  scrollTo(root, all[next]);
  all[next].scrollIntoView({ block: "nearest" });
}

// In the frame of a long text; the page stays where it is.
export function scrollTo(root, element) {
  if (!element) return;
  const [inner, outer] = [element.getBoundingClientRect(), root.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) root.scrollTop += inner.top - outer.top - outer.height / 3;
}
