// The keyboard. Nothing of it works inside a field, but for Escape.
import { palette } from './palette.js';

let going = false;

function typing(e) {
  return e.target.closest?.('input,select,textarea,[contenteditable],dialog') || e.ctrlKey || e.metaKey || e.altKey;
}

// The rows of a list, and not those of what is open in one of them.
function rowsOf() { return [...document.querySelectorAll('table.rows tbody tr[data-href]:not(td tr)')]; }

function step(by) {
  const rows = rowsOf();
  if (!rows.length) return;
  const at = rows.findIndex((r) => r.contains(document.activeElement));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  next.querySelector('a')?.focus();
}

// away closes what is open, and the focus returns to what opened it.
function away(e) {
  for (const open of document.querySelectorAll('details.menu-box[open], details.add-filter[open]')) {
    if (open.contains(document.activeElement)) open.querySelector('summary').focus();
    open.open = false;
  }
  const menu = document.querySelector('[data-menu][aria-expanded="true"]');
  if (menu) { menu.click(); menu.focus(); }
  if (e.target.matches?.('input[type="search"]')) e.target.blur();
}

export function keys() {
  document.addEventListener('keydown', (e) => {
    if (e.key === 'k' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); return palette(); }
    if (e.key === 'Escape') return away(e);
    if (typing(e)) return;
    if (going) {
      going = false;
      const to = document.querySelector(`[data-go="${CSS.escape(e.key)}"]`);
      if (to) { e.preventDefault(); to.click(); }
      return;
    }
    const press = (selector) => { const it = document.querySelector(selector); if (it) { e.preventDefault(); it.click(); } };
    switch (e.key) {
      case 'g': going = true; setTimeout(() => { going = false; }, 1500); break;
      case '/': { const s = document.querySelector('input[type="search"]'); if (s) { e.preventDefault(); s.focus(); s.select(); } break; }
      case 'j': step(1); break;
      case 'k': step(-1); break;
      case 'n': press('[data-key="n"]'); break;
      case 'r': press('[data-key="r"]'); break;
      case '[': press('[data-key="older"]'); break;
      case ']': press('[data-key="newer"]'); break;
      case 'Y': press('[data-copy-rows], .copy-table:not(details .copy-table, td .copy-table)'); break;
      case 'y': press('[data-key="y"]'); break;
      case '?': press('[data-keys]'); break;
    }
  });
}
