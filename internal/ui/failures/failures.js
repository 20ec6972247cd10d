// The page of failures: a selection of deliveries with the mouse and the keyboard.
import { clip } from './clipboard.js';
import { announce, toast } from './frame.js';

const bar = document.getElementById('selection');
const boxes = () => [...document.querySelectorAll('[name="delivery"][form="selection"]')];
let last = null;

function chosen() { return boxes().filter((b) => b.checked); }

// shown brings the bar and the boxes that select all into line with the selection.
function shown() {
  const n = chosen().length;
  bar.toggleAttribute('data-none', n === 0);
  bar.querySelector('[data-selected]').textContent = `${n} selected`;
  bar.querySelector('[data-selected-count]').textContent = n;
  for (const all of document.querySelectorAll('[data-select-all]')) {
    const of = boxesOf(all);
    const some = of.filter((b) => b.checked).length;
    all.checked = some > 0 && some === of.length;
    all.indeterminate = some > 0 && some < of.length;
  }
}

function boxesOf(all) { return [...all.closest('table').querySelectorAll('[name="delivery"]')]; }

function clear() {
  for (const b of boxes()) b.checked = false;
  shown();
  announce('Nothing is selected');
}

// group is the row of the group that has the focus.
function group() { return document.activeElement?.closest('tr[data-group]'); }

function pressed(e) {
  if (e.target.closest('input:not([type="checkbox"]), select, textarea, dialog') || e.ctrlKey || e.metaKey || e.altKey) return;
  const at = group();
  const box = document.activeElement?.closest('.inner tr')?.querySelector('[name="delivery"]');
  if (e.key === 'Escape' && chosen().length) clear();
  else if (e.key === 'x' && box) { box.checked = !box.checked; shown(); }
  else if (e.key === 'ArrowRight' && at?.dataset.group === 'closed') at.querySelector('.toggle').click();
  else if (e.key === 'ArrowLeft' && at?.dataset.group === 'open') at.querySelector('.toggle').click();
  else if (e.key === 'r' && chosen().length) bar.requestSubmit(bar.querySelector('.primary'));
  else if (e.key === 'r' && at) at.querySelector('.f-do button, .f-do summary, .f-do a')?.click();
  else return;
  e.preventDefault();
}

document.addEventListener('keydown', pressed);
// What a retry did is said once, and not again after a reload.
const here = new URL(location.href);
for (const name of ['retried', 'refused', 'more']) here.searchParams.delete(name);
if (here.href !== location.href) history.replaceState(null, '', here);
// The focus stays at the group that was opened or closed. The browser clears it when it comes to
// the part of the page that the address names, so it is set after that.
const atGroup = () => document.getElementById(location.hash.slice(1))?.querySelector('.toggle')?.focus({ preventScroll: true });
if (location.hash) {
  if (document.readyState === 'complete') atGroup();
  else addEventListener('load', () => setTimeout(atGroup));
}
if (bar) {
  document.addEventListener('change', (e) => {
    if (e.target.matches('[data-select-all]')) for (const b of boxesOf(e.target)) b.checked = e.target.checked;
    if (e.target.matches('[data-select-all], [name="delivery"]')) shown();
  });
  document.addEventListener('click', (e) => {
    if (!e.target.matches('[name="delivery"]')) return;
    const all = boxes();
    if (e.shiftKey && last && all.includes(last)) {
      const [from, to] = [all.indexOf(last), all.indexOf(e.target)].sort((a, b) => a - b);
      for (const b of all.slice(from, to + 1)) b.checked = e.target.checked;
      shown();
    }
    last = e.target;
  });
  bar.querySelector('[data-clear]').addEventListener('click', clear);
  bar.querySelector('[data-copy-ids]').addEventListener('click', async () => {
    await clip(chosen().map((b) => b.value).join('\n'));
    toast('Copied');
  });
  shown();
}
