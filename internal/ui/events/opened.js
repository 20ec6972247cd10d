// Opens an event below its row. The server renders it, as on its own page, whose address the
// list has while it is open.
import { showTimes } from './frame.js';

const tail = document.getElementById('tail');
const list = location.pathname;
let open = null; // the row, and below it what it opened

const linkOf = (row) => row.querySelector('a');
const tell = (what) => tail.dispatchEvent(new Event(what));

async function show(row) {
  drop();
  const mine = open = { row, below: document.createElement('tr') };
  tell('opened');
  try {
    const answer = await fetch(`${row.dataset.href}?part`);
    const part = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (open !== mine) return; // it was closed again
    const cell = document.createElement('td');
    cell.colSpan = row.cells.length;
    cell.className = 'p1';
    cell.append(part.querySelector('.halves'), part.querySelector('.facts'));
    mine.below.className = 'opened';
    mine.below.id = 'opened';
    mine.below.append(cell);
  } catch {
    if (open === mine) location.href = row.dataset.href; // its page says what is wrong
    return;
  }
  row.after(mine.below);
  row.classList.add('open');
  linkOf(row).setAttribute('aria-expanded', 'true');
  linkOf(row).setAttribute('aria-controls', 'opened');
  showTimes(mine.below);
  const at = location.pathname;
  if (at !== row.dataset.href) history[at === list ? 'pushState' : 'replaceState'](null, '', row.dataset.href);
  mine.below.firstChild.scrollIntoView({ block: 'nearest' });
}

// drop takes away what is open, and the focus returns to its row.
function drop() {
  if (!open) return false;
  const { row, below } = open;
  if (below.contains(document.activeElement)) linkOf(row).focus();
  below.remove();
  row.classList.remove('open');
  linkOf(row).removeAttribute('aria-expanded');
  linkOf(row).removeAttribute('aria-controls');
  open = null;
  return true;
}

// shut closes what is open, and reports whether anything was.
export function shut() {
  if (!drop()) return false;
  if (location.pathname !== list) history.back();
  tell('closed');
  return true;
}

tail.addEventListener('click', (e) => {
  const row = e.target.closest('tr[data-href]');
  if (!row?.closest('table').matches('.events-table') || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
  if (!e.target.closest('a') && String(getSelection())) return;
  e.preventDefault();
  if (open?.row === row) shut();
  else show(row);
});
document.addEventListener('keydown', (e) => {
  if (e.key === 'Escape' && !document.querySelector('dialog[open]')) shut();
});
// Back closes, and forward opens again.
addEventListener('popstate', () => {
  const to = location.pathname;
  if (open?.row.dataset.href === to) return;
  if (drop()) tell('closed');
  if (to === list) return;
  const row = tail.querySelector(`.events-table > tbody > tr[data-href="${CSS.escape(to)}"]`);
  if (row) show(row);
  else location.reload();
});
