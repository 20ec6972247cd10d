// Links with [data-more] add the rows of the next page below those that are shown.
import { announce, showTimes } from './frame.js';

const rowsOf = (page, name) => page.querySelector(`[data-rows="${CSS.escape(name)}"]`);
const thin = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f');

async function append(link) {
  const name = link.dataset.more;
  const rows = rowsOf(document, name);
  if (link.ariaBusy === 'true') return;
  link.ariaBusy = 'true';
  let page = null;
  try {
    const answer = await fetch(link.href, { headers: { Accept: 'text/html' } });
    if (answer.ok && !answer.redirected) page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  } catch { /* the browser shows what is wrong with the page */ }
  link.ariaBusy = 'false';
  const more = page && rowsOf(page, name);
  if (!more) { location.href = link.href; return; }
  const added = [...more.children];
  rows.append(...added);
  rows.dataset.appended = '';
  showTimes(rows);
  const shown = document.querySelector(`[data-shown="${CSS.escape(name)}"]`);
  if (shown) shown.textContent = thin(rows.querySelectorAll(':scope > tr:not(.sentence)').length);
  added.find((r) => r.querySelector('a, button, summary'))?.querySelector('a, button, summary').focus();
  announce(`${added.filter((r) => !r.matches('.sentence')).length} more`);
  const next = page.querySelector(`a[data-more="${CSS.escape(name)}"]`);
  if (next) link.href = next.href;
  else link.remove();
}

export function more() {
  document.addEventListener('click', (e) => {
    const link = e.target.closest('a[data-more]');
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || e.button > 0) return;
    e.preventDefault();
    append(link);
  });
}
