// Every table can be copied as CSV, those too that come while the page is shown.
import { clip } from './clipboard.js';

// cellText is what a cell says, exactly: times whole, numbers as digits, ids in full, and nothing
// of what can be pressed.
function cellText(cell) {
  const as = cell.cloneNode(true);
  for (const part of as.querySelectorAll('button, form, details, .on-phone, .unseen')) part.remove();
  for (const part of as.querySelectorAll('svg')) part.replaceWith(part.querySelector('title')?.textContent ?? '');
  for (const part of as.querySelectorAll('time')) part.replaceWith(part.dateTime);
  for (const part of as.querySelectorAll('.mono[title]')) part.replaceWith(part.title);
  for (const part of as.querySelectorAll('br, small, p, li')) part.before(' ');
  let text = as.textContent.trim();
  if (!as.querySelector('bdi')) text = text.replace(/\s+/g, ' ');
  if (cell.classList.contains('n')) text = text.replace(/(?<=\d) (?=\d{3}(\D|$))/g, '');
  if (text === '–' || (as.querySelector('i') && text === 'null')) text = '';
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(table) {
  const head = table.tHead?.rows[0];
  // A column whose head nobody sees holds buttons.
  const kept = (cell) => !head?.cells[cell.cellIndex]?.querySelector(':scope > .unseen:only-child');
  return [...table.rows].filter((r) => !r.matches('.sentence, .opened')).map((r) => [...r.cells].filter(kept).map(cellText).join(',')).join('\r\n');
}

// boxOf is what the button stands below: the table, or what it scrolls in.
function boxOf(table) {
  const box = table.parentElement;
  return box.children.length === 1 ? box : table;
}

function offer(say) {
  for (const table of document.querySelectorAll('main table')) {
    // The rows of a feed have a button of their own, and what a page shows as an example has none.
    if (table.closest('[data-grid], .notice, .flush')) continue;
    const box = boxOf(table);
    if (box.nextElementSibling?.matches('.copy-table')) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet small copy-table';
    button.textContent = 'Copy as CSV';
    button.addEventListener('click', async () => {
      await clip(csv(box.matches('table') ? box : box.querySelector('table')));
      say('Copied as CSV');
    });
    box.after(button);
  }
}

export function tables(say) {
  const main = document.querySelector('main');
  let asked = false;
  new MutationObserver(() => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; offer(say); });
  }).observe(main, { childList: true, subtree: true });
  offer(say);
}
