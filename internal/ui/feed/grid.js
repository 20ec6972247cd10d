// The table of a feed: it shows the rows at the place that is scrolled to, of
// however many there are, and keeps only those around it.
import { clip } from './clipboard.js';
import { toast } from './frame.js';
import { drawer } from './row.js';

const rowHeight = 32;
const chunk = 200;
const keptChunks = 30;
// Browsers bound how high something can be.
const maxHeight = 8_000_000;
// A clipboard is no place for millions of rows.
const copiedRows = 10_000;

const frame = document.querySelector('[data-grid]');
if (frame) start();

function start() {
  const box = frame.querySelector('.grid-box');
  const space = frame.querySelector('.grid-space');
  const table = frame.querySelector('table');
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const numeric = heads.map((h) => h.classList.contains('n'));
  const total = Number(frame.dataset.total);
  const chunks = new Map();
  let top = Number(frame.dataset.offset);
  let shown = 0;
  let active = frame.dataset.row && total >= Number(frame.dataset.row) ? { row: Number(frame.dataset.row) - 1, column: 0 } : null;
  let anchor = active;
  let placed = -1;
  let kept = 0;

  const beside = drawer({
    frame, total, group, parse: parseCSV, step: (by) => { moveTo(active.row + by); beside.focus(); }, closed: closeRow,
    columns: heads.map((h) => ({ name: h.dataset.name, type: h.dataset.type, format: h.dataset.format, key: 'keyColumn' in h.dataset })),
  });
  const linked = new URL(location.href).searchParams.has('row');

  frame.classList.add('live');
  for (const link of frame.querySelectorAll('.grid-bar a')) link.remove();
  freezeWidths();
  layOut();
  picture();
  if (active && linked) openRow(active.row);
  document.querySelector('[data-copy-rows]').addEventListener('click', copyRows);
  addEventListener('resize', layOut);
  box.addEventListener('scroll', () => {
    if (box.scrollTop === placed) return; // by go, which has drawn
    placed = -1;
    top = rowAt(box.scrollTop);
    draw();
  });
  box.addEventListener('wheel', (e) => {
    if (e.deltaY === 0 || !scaled()) return;
    e.preventDefault();
    go(top + Math.sign(e.deltaY) * Math.max(1, Math.round(Math.abs(e.deltaY) / rowHeight)));
  }, { passive: false });
  box.addEventListener('keydown', onKey);
  body.addEventListener('click', (e) => {
    const nr = e.target.closest('th.nr');
    if (!nr) return;
    active = anchor = { row: top + nr.parentNode.sectionRowIndex, column: active?.column ?? 0 };
    openRow(active.row);
    beside.focus();
  });
  body.addEventListener('mousedown', (e) => {
    const cell = e.target.closest('td');
    if (!cell) return;
    active = { row: top + cell.parentNode.sectionRowIndex, column: cell.cellIndex - 1 };
    if (!e.shiftKey) anchor = active;
    else { e.preventDefault(); box.focus(); } // cells are chosen, and not the text between them
    draw();
  });
  body.addEventListener('mousemove', (e) => {
    const cell = e.target.closest('td');
    if (!cell || !(e.buttons & 1) || !anchor) return;
    active = { row: top + cell.parentNode.sectionRowIndex, column: cell.cellIndex - 1 };
    if (active.row !== anchor.row || active.column !== anchor.column) getSelection().removeAllRanges();
    draw();
  });
  document.addEventListener('copy', (e) => {
    if (!active || document.activeElement !== box || String(getSelection())) return;
    e.clipboardData.setData('text/plain', chosen().map((r) => r.map((c) => c ?? '').join('\t')).join('\n'));
    e.preventDefault();
  });

  // The pictures in the heads come after the rows: those of new data are made first.
  async function picture() {
    try {
      const answer = await fetch(frame.dataset.heads);
      if (!answer.ok || answer.redirected) throw new Error(answer.status);
      const parts = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const found = new Map([...parts.querySelectorAll('[data-column]')].map((p) => [p.dataset.column, p]));
      for (const place of table.querySelectorAll('[data-picture]')) place.replaceChildren(...(found.get(place.dataset.picture)?.childNodes ?? []));
    } catch {
      frame.classList.add('plain');
    }
    layOut();
  }

  function freezeWidths() {
    const widths = [...table.tHead.rows[0].cells].map((c) => Math.min(c.offsetWidth, 360));
    table.tHead.rows[0].cells[0].style.minWidth = `${String(total).length * 8 + 24}px`;
    for (const [i, c] of [...table.tHead.rows[0].cells].entries()) if (i) c.style.minWidth = `${Math.max(widths[i], 80)}px`;
  }

  function height() { return Math.min(total * rowHeight, maxHeight); }
  function scaled() { return total * rowHeight > maxHeight; }
  function last() { return Math.max(0, total - Math.max(1, shown - 2)); }
  function rowAt(scrolled) {
    const room = Math.max(1, space.offsetHeight - box.clientHeight);
    return scaled() ? Math.round(Math.min(1, scrolled / room) * last()) : Math.min(last(), Math.floor(scrolled / rowHeight));
  }

  // The table ends where the window does, with its bar below it, or with its last row.
  function layOut() {
    if (innerWidth > 640) {
      const room = innerHeight - (box.getBoundingClientRect().top + scrollY) - frame.querySelector('.grid-bar').offsetHeight;
      const bar = box.offsetHeight - box.clientHeight;
      box.style.height = `${Math.min(Math.max(420, room), table.tHead.offsetHeight + total * rowHeight + bar)}px`;
    } else {
      box.style.height = '';
    }
    shown = Math.min(total, Math.max(1, Math.ceil((box.clientHeight - table.tHead.offsetHeight) / rowHeight) + 1));
    space.style.height = `${height() + table.tHead.offsetHeight + rowHeight}px`;
    while (body.rows.length > shown) body.lastElementChild.remove();
    while (body.rows.length < shown) addRow();
    go(top);
  }

  function openRow(n) {
    const narrow = !frame.classList.contains('with-drawer');
    beside.open(n, rowOf(n));
    if (narrow) layOut();
    else draw();
  }

  function closeRow() {
    beside.close();
    active = anchor = null;
    layOut();
    box.focus();
  }

  function moveTo(n) {
    const to = Math.max(0, Math.min(total - 1, n));
    active = anchor = { row: to, column: active?.column ?? 0 };
    beside.open(to, rowOf(to));
    if (to < top || to > top + shown - 3) go(to < top ? to : to - shown + 3);
    else draw();
  }

  function addRow() {
    const row = body.insertRow();
    const nr = document.createElement('th');
    nr.className = 'nr';
    nr.scope = 'row';
    row.append(nr);
    for (const n of numeric) { const cell = row.insertCell(); if (n) cell.className = 'n'; }
  }

  function go(to) {
    top = Math.max(0, Math.min(last(), to));
    const room = Math.max(1, space.offsetHeight - box.clientHeight);
    const at = scaled() ? (top / Math.max(1, last())) * room : top * rowHeight;
    if (Math.abs(box.scrollTop - at) > 1) { box.scrollTop = at; placed = box.scrollTop; }
    draw();
  }

  function rowOf(n) { return chunks.get(Math.floor(n / chunk))?.rows?.[n % chunk]; }

  function draw() {
    for (let i = 0; i < body.rows.length; i++) {
      const n = top + i;
      const row = body.rows[i];
      row.hidden = n >= total;
      row.cells[0].textContent = group(n + 1);
      row.classList.toggle('opened', n === beside.row);
      const values = rowOf(n);
      for (let c = 0; c < numeric.length; c++) {
        const cell = row.cells[c + 1];
        const value = values?.[c];
        cell.replaceChildren();
        cell.classList.toggle('coming', !values);
        if (values) {
          const inner = document.createElement(value === null ? 'i' : 'bdi');
          inner.textContent = value === null ? 'null' : value.length > 400 ? `${value.slice(0, 400)}…` : value;
          cell.append(inner);
          cell.title = value && value.length > 30 ? value.slice(0, 2000) : '';
        }
        const range = selection();
        cell.classList.toggle('chosen', !!range && n >= range.top && n <= range.bottom && c >= range.left && c <= range.right);
        cell.classList.toggle('active', !!active && active.row === n && active.column === c);
      }
    }
    frame.querySelector('.place').textContent = total ? `Rows ${group(top + 1)} to ${group(Math.min(total, top + shown))}` : 'No rows';
    sums();
    fetchAround();
    keepPlace();
  }

  // The address says where the table is and which row was chosen, so that it can be passed on.
  function keepPlace() {
    clearTimeout(kept);
    kept = setTimeout(() => {
      const here = new URL(location.href);
      here.searchParams.delete('offset');
      here.searchParams.delete('row');
      if (active) here.searchParams.set('row', active.row + 1);
      else if (top > 0) here.searchParams.set('offset', top);
      if (here.href !== location.href) history.replaceState(null, '', here);
    }, 300);
  }

  async function copyRows() {
    try {
      const answer = await fetch(`${frame.dataset.grid}&limit=${copiedRows}`);
      if (!answer.ok) throw new Error(answer.status);
      await clip(await answer.text());
      toast(total > copiedRows ? `Copied the first ${group(copiedRows)} of ${group(total)} rows; Export has all` : `Copied ${group(total)} row${total === 1 ? '' : 's'} as CSV`);
    } catch {
      frame.querySelector('.cells').textContent = 'Reading the rows failed; nothing was copied. Try again.';
    }
  }

  function fetchAround() {
    const first = Math.floor(top / chunk);
    const until = Math.floor((top + shown + chunk / 2) / chunk);
    for (const [n, c] of chunks) if (c.abort && (n < first - 1 || n > until + 1)) { c.abort.abort(); chunks.delete(n); }
    for (let n = first; n <= until && n * chunk < total; n++) load(n);
    for (const n of chunks.keys()) {
      if (chunks.size <= keptChunks) break;
      if (n < first || n > until) chunks.delete(n);
    }
  }

  async function load(n) {
    if (chunks.has(n)) return;
    const abort = new AbortController();
    chunks.set(n, { abort });
    try {
      const answer = await fetch(`${frame.dataset.grid}&limit=${chunk}&offset=${n * chunk}`, { signal: abort.signal });
      if (answer.status === 401) return location.reload();
      if (!answer.ok) throw new Error(answer.status);
      chunks.set(n, { rows: parseCSV(await answer.text()).slice(1) });
      if (Math.floor(beside.row / chunk) === n) beside.open(beside.row, rowOf(beside.row));
      draw();
    } catch (e) {
      if (e.name === 'AbortError') return;
      frame.querySelector('.cells').textContent = 'Reading the rows failed. Retrying.';
      setTimeout(() => { chunks.delete(n); fetchAround(); }, 2000);
    }
  }

  function selection() {
    if (!active || !anchor) return null;
    return {
      top: Math.min(active.row, anchor.row), bottom: Math.max(active.row, anchor.row),
      left: Math.min(active.column, anchor.column), right: Math.max(active.column, anchor.column),
    };
  }

  function chosen() {
    const range = selection();
    const rows = [];
    if (!range) return rows;
    for (let n = range.top; n <= range.bottom; n++) { const r = rowOf(n); if (r) rows.push(r.slice(range.left, range.right + 1)); }
    return rows;
  }

  function sums() {
    const range = selection();
    const at = frame.querySelector('.cells');
    if (!range) { at.textContent = ''; return; }
    const cells = chosen().flat();
    let words = `${cells.length} cell${cells.length === 1 ? '' : 's'}`;
    if (range.left === range.right && numeric[range.left] && cells.length > 1) {
      const total = exactSum(cells.filter((c) => c !== null));
      if (total !== null) words += `, sum ${total}`;
    }
    at.textContent = words;
  }

  function onKey(e) {
    const page = Math.max(1, shown - 2);
    const steps = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [page, 0], PageUp: [-page, 0] };
    if (e.key === 'Escape') return beside.row < 0 ? (active = anchor = null, draw()) : closeRow();
    if (e.key === 'Enter' && active) { e.preventDefault(); openRow(active.row); return beside.focus(); }
    const ends = { Home: 0, End: total - 1 };
    let to = null;
    if (steps[e.key]) to = active ? { row: active.row + steps[e.key][0], column: active.column + steps[e.key][1] } : { row: top, column: 0 };
    else if (e.key in ends) to = { row: ends[e.key], column: active?.column ?? 0 };
    if (!to) return;
    e.preventDefault();
    active = { row: Math.max(0, Math.min(total - 1, to.row)), column: Math.max(0, Math.min(numeric.length - 1, to.column)) };
    if (!e.shiftKey) anchor = active;
    if (beside.row >= 0) beside.open(active.row, rowOf(active.row));
    if (active.row < top) go(active.row);
    else if (active.row > top + shown - 3) go(active.row - shown + 3);
    else draw();
    body.rows[active.row - top]?.cells[active.column + 1]?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}

function group(n) { return String(n).replace(/\B(?=(\d{3})+$)/g, '\u202f'); }

// exactSum adds decimals as they are written; null where one is in another form.
function exactSum(texts) {
  let scale = 0;
  for (const t of texts) {
    if (!/^-?\d+(\.\d+)?$/.test(t)) return null;
    scale = Math.max(scale, t.split('.')[1]?.length ?? 0);
  }
  let sum = 0n;
  for (const t of texts) {
    const [whole, part = ''] = t.replace('-', '').split('.');
    const value = BigInt(whole + part.padEnd(scale, '0'));
    sum += t.startsWith('-') ? -value : value;
  }
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, '0');
  const text = scale ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits;
  return sum < 0n ? `-${text}` : text;
}

// parseCSV reads rows of texts; null is nothing, and an empty text is in quotes.
export function parseCSV(text) {
  const rows = [];
  let row = [];
  let i = 0;
  while (i < text.length) {
    let value = null;
    if (text[i] === '"') {
      let end = i + 1;
      for (;;) {
        end = text.indexOf('"', end);
        if (text[end + 1] !== '"') break;
        end += 2;
      }
      value = text.slice(i + 1, end).replaceAll('""', '"');
      i = end + 1;
    } else {
      let end = i;
      while (end < text.length && text[end] !== ',' && text[end] !== '\n' && text[end] !== '\r') end++;
      if (end > i) value = text.slice(i, end);
      i = end;
    }
    row.push(value);
    if (text[i] === ',') { i++; if (i === text.length) row.push(null); if (text[i] === '\n' || text[i] === '\r') { row.push(null); } else continue; }
    if (text[i] === '\r') i++;
    if (text[i] === '\n' || i >= text.length) { i++; rows.push(row); row = []; }
  }
  return rows;
}
