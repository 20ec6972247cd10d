// Shows what becomes of a file before anything is kept, and makes the feed.
import { toast } from './frame.js';

const $ = (id) => document.getElementById(id);
const form = document.querySelector('.drop');
const feed = form.dataset.feed;
const types = ['text', 'integer', 'decimal', 'number', 'boolean', 'date', 'timestamp', 'json'];
let file = null;
let options = {};
let retyped = {};
let turn = 0;
let made = {};
let handle = null;
let sending = null;

function formatOf(name) {
  const ext = name.toLowerCase().replace(/\.(gz|zst)$/, '').split('.').pop();
  if (ext === 'zip') return '';
  if (ext === 'jsonl') return 'ndjson';
  if (ext === 'tab') return 'tsv';
  return ['tsv', 'xlsx', 'xlsm', 'xlsb', 'xls', 'ods', 'json', 'ndjson', 'xml', 'parquet', 'arrow'].includes(ext) ? ext : 'csv';
}

function query(more) {
  const q = new URLSearchParams(more);
  const format = options.format ?? formatOf(file.name);
  if (format) q.set('format', format);
  for (const [name, value] of Object.entries(options)) if (value !== '' && name !== 'format') q.set(name, value);
  const columns = Object.entries(retyped).map(([sourceName, as]) => ({ sourceName, ...as }));
  if (columns.length) q.set('columns', JSON.stringify(columns));
  return q;
}

// ask asks with the file, which the server holds for a while after it was looked at: it is
// sent again only where the server has let it go.
async function ask(method, path, q, once) {
  if (handle && Date.parse(handle.expiresAt) > Date.now()) {
    const held = new URLSearchParams(q);
    held.set('preview', handle.id);
    const r = await send(method, `${path}?${held}`, once && `${once}-held`, null);
    if (r.status !== 404) return r;
    handle = null;
  }
  return send(method, `${path}?${q}`, once, file);
}

// showSending shows how much of the file has gone, with a way to stop it.
function showSending(share) {
  const box = $('sending');
  box.hidden = share === 1;
  if (box.hidden) return;
  if (form.hidden) $('upload-error').before(box); // where the file was chosen before
  $('sent').value = share;
  $('sent-share').textContent = `${Math.floor(share * 100)} % sent`;
}

// send sends the file, and says how much of it has gone.
function send(method, url, once, body) {
  return new Promise((resolve, reject) => {
    const r = new XMLHttpRequest();
    r.open(method, url);
    if (body) r.setRequestHeader('Content-Type', formatOf(file.name) === '' ? 'application/zip' : 'application/octet-stream');
    if (body) r.setRequestHeader('Content-Disposition', `attachment; filename*=utf-8''${encodeURIComponent(file.name)}`);
    if (once) r.setRequestHeader('Idempotency-Key', once);
    const ended = (then) => { sending = null; showSending(1); then(); };
    r.upload.onprogress = (e) => { if (e.lengthComputable) showSending(e.loaded / e.total); };
    r.onload = () => ended(() => resolve(r));
    r.onerror = () => ended(() => reject(new Error('The connection was lost. Nothing was stored. The file is still chosen; try again.')));
    r.onabort = () => ended(() => reject(new Error('Canceled. Nothing was stored. The file is still chosen; try again.')));
    sending = body && r;
    r.send(body);
  });
}

// exactly reads JSON and keeps the digits of numbers, where the browser tells them.
function exactly(text) {
  return JSON.parse(text, (_, value, context) => (typeof value === 'number' && context?.source ? new Number_(context.source) : value));
}
class Number_ { constructor(text) { this.text = text; } valueOf() { return Number(this.text); } toString() { return this.text; } }

function fail(problem) {
  const box = $('upload-error');
  box.hidden = !problem;
  if (!problem) return;
  const faults = (problem.errors ?? []).map((e) => `${e.parameter ? `${e.parameter}: ` : ''}${e.detail}`);
  // An archive of several files: which one is meant is for people to say.
  if (!form.hidden && problem.errors?.some((e) => e.parameter === 'entry')) { $('entry-box').hidden = false; $('entry').focus(); }
  box.lastElementChild.textContent = [faults.length ? '' : problem.detail, ...faults].join(' ').trim() + (problem.requestId ? ` Request id ${problem.requestId}.` : '');
}

function problemOf(r) {
  try { return JSON.parse(r.responseText); } catch { return { detail: `The server returned ${r.status}.` }; }
}

async function preview() {
  const mine = ++turn;
  $('upload-file').textContent = `${file.name}, ${size(file.size)}. Reading…`;
  try {
    const r = await ask('POST', '/data_feeds/preview', query({ type: 'dataUpload' }));
    if (mine !== turn) return;
    if (r.status !== 200) {
      if (r.status === 401) return location.reload();
      $('upload-file').textContent = `${file.name}, ${size(file.size)}.`;
      const problem = problemOf(r);
      handle = problem.handle ?? handle; // what is refused is held, too
      return fail(problem);
    }
    fail(null);
    const found = exactly(r.responseText).data;
    handle = found.handle ?? handle;
    show(found);
  } catch (e) {
    if (mine !== turn) return;
    $('upload-file').textContent = `${file.name}, ${size(file.size)}.`;
    fail({ detail: e.message });
    const again = element('button', { class: 'button small', type: 'button' }, 'Try again');
    again.onclick = () => { fail(null); preview(); };
    $('upload-error').lastElementChild.append(' ', again);
    again.focus();
  }
}

function size(n) {
  for (const unit of ['B', 'kB', 'MB', 'GB']) { if (n < 1000 || unit === 'GB') return `${unit === 'B' ? n : n.toFixed(1)}\u202f${unit}`; n /= 1000; }
}

function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) if (v !== undefined && v !== false) e.setAttribute(k, v === true ? '' : v);
  e.append(...children);
  return e;
}

function show(data) {
  const first = $('wizard').hidden;
  form.hidden = true;
  $('wizard').hidden = $('upload-actions').hidden = false;
  if (!feed) $('upload-title').textContent = 'Check the columns';
  if (first && $('feed-name')) $('feed-name').value = file.name.replace(/\.[a-z0-9]+$/i, '').replaceAll('_', ' ');
  const notes = data.warnings.length;
  $('upload-sum').textContent = `${Number(data.rowCount)} rows, ${data.columns.length} columns${notes ? `, ${notes} note${notes === 1 ? '' : 's'}` : ''}`;
  $('upload-file').textContent = `${file.name}, ${size(file.size)}. All of it was read; nothing is kept until you make the feed.`;
  $('preview-hint').textContent = `First ${data.rows.length} of ${Number(data.rowCount)} rows, as the feed will have them. Types are inferred from all rows.`;
  showRows(data);
  showNotes(data.warnings, data.columns);
  showReading(data.source.reading ?? {}, data.source);
  if (first) $('make').focus();
}

function showRows({ columns, rows }) {
  const head = element('tr', {}, element('th', { class: 'nr' }, element('span', { class: 'unseen' }, 'Row')));
  const formatted = columns.some((c) => c.format);
  for (const c of columns) {
    const pick = element('select', { 'aria-label': `Type of ${c.name}` }, ...types.map((t) => element('option', { selected: t === c.type }, t)));
    pick.onchange = () => { retyped[c.sourceName] = { type: pick.value }; preview(); };
    head.append(element('th', { class: ['integer', 'decimal', 'number'].includes(c.type) ? 'n' : undefined }, c.name, element('br'), pick, ...(formatted ? [element('small', {}, c.format ?? '\u00a0')] : [])));
  }
  const body = element('tbody');
  rows.forEach((row, i) => {
    const tr = element('tr', {}, element('th', { class: 'nr', scope: 'row' }, String(i + 1)));
    for (const c of columns) {
      const value = row[c.name];
      const numeric = value instanceof Number_ || typeof value === 'number';
      const text = value !== null && typeof value === 'object' && !numeric ? JSON.stringify(value) : String(value).slice(0, 400);
      tr.append(element('td', { class: numeric ? 'n' : undefined }, value === null || value === undefined ? element('i', {}, 'null') : element('bdi', {}, text)));
    }
    body.append(tr);
  });
  $('preview').replaceChildren(element('table', { class: 'grid' }, element('thead', {}, head), body));
}

function showNotes(warnings, columns) {
  $('notes').hidden = !warnings.length;
  $('notes-list').replaceChildren(...warnings.map((w) => {
    const title = element('h3', {});
    if (w.column) title.append(element('code', {}, w.column));
    const words = w.code.replaceAll('-', ' ');
    title.append(element('span', {}, w.column ? words : words[0].toUpperCase() + words.slice(1)), element('span', { class: 'hint mono' }, w.code));
    const box = element('div', { class: 'notice' }, title, element('p', {}, w.detail));
    if (w.examples.length) {
      const rows = w.examples.slice(0, 3).map((e) => element('tr', {}, element('td', {}, e.row ? String(e.row) : `line ${e.line ?? ''}`), element('td', {}, element('bdi', {}, String(e.value).slice(0, 200)))));
      box.append(element('table', {}, element('thead', {}, element('tr', {}, element('th', {}, 'Row'), element('th', {}, 'In the file'))), element('tbody', {}, ...rows)));
    }
    if (w.code === 'ambiguous-date') {
      const ask = element('p', {});
      for (const [value, words] of [['dmy', 'Day first'], ['mdy', 'Month first']]) {
        const b = element('button', { class: 'button small', type: 'button' }, words);
        b.onclick = () => { options.dates = value; preview(); };
        ask.append(b, ' ');
      }
      box.append(ask);
    }
    // Values that keep a column from its type: what becomes of them is for people to say.
    const column = columns.find((c) => c.name === w.column);
    if (w.code === 'mixed-types' && column && !w.detail.includes('dates')) {
      const ask = element('p', {});
      for (const [onMisfit, words] of [['null', 'Decimal; other values become null'], ['reject', 'Decimal; rows with other values are rejected']]) {
        const b = element('button', { class: 'button small', type: 'button' }, words);
        b.onclick = () => { retyped[column.sourceName] = { type: 'decimal', onMisfit }; preview(); };
        ask.append(b, ' ');
      }
      box.append(ask);
    }
    return box;
  }));
}

const known = {
  delimiter: ['Delimiter', [',', ';', 'tab', '|']], quote: ['Quote', ['"', "'", 'none']], header: ['Header row', null],
  encoding: ['Encoding', null], decimal: ['Decimal mark', ['.', ',']], dates: ['Order of dates', ['ymd', 'dmy', 'mdy']],
  nulls: ['Null tokens', null], timezone: ['Time zone of times without an offset', null], path: ['Path of the records', null],
};

function showReading(reading, source) {
  const fields = [];
  if (reading.sheets) {
    const pick = element('select', { id: 'r-sheet' }, ...reading.sheets.map((s) => element('option', { value: Number(s.index), selected: Number(s.index) === Number(options.sheet ?? source.sheet ?? 1) }, `${Number(s.index)}. ${s.name}${s.hidden ? ' (hidden)' : ''}`)));
    pick.onchange = () => { options.sheet = pick.value; preview(); };
    fields.push(element('div', { class: 'field' }, element('label', { for: 'r-sheet' }, 'Sheet'), pick));
  }
  for (const [name, [words, choices]] of Object.entries(known)) {
    const found = reading[name];
    if (!found && name !== 'timezone') continue;
    const value = options[name] ?? String(found?.value ?? '');
    const label = element('label', { for: `r-${name}` }, words, ' ', element('small', {}, found?.by ?? 'assumed'));
    let control;
    if (choices) {
      const all = choices.includes(value) ? choices : [value, ...choices];
      control = element('select', { id: `r-${name}` }, ...all.map((c) => element('option', { value: c, selected: c === value }, c || 'not settled')));
    } else {
      control = element('input', { type: 'text', id: `r-${name}`, value: name === 'nulls' && found?.by !== 'set' ? '' : value, placeholder: name === 'nulls' ? 'the usual ones; or such as n/a,-' : name === 'timezone' ? 'UTC' : '' });
    }
    control.onchange = () => { options[name] = control.value; preview(); };
    fields.push(element('div', { class: 'field' }, label, control));
  }
  const text = element('input', { type: 'checkbox', id: 'r-types', checked: options.types === 'text' });
  text.onchange = () => { options.types = text.checked ? 'text' : ''; preview(); };
  fields.push(element('label', { class: 'check' }, text, 'All columns as text'));
  if (source.entry) {
    const entry = element('input', { type: 'text', id: 'r-entry', class: 'mono', value: source.entry });
    entry.onchange = () => { options.entry = entry.value.trim(); preview(); };
    fields.unshift(element('div', { class: 'field' }, element('label', { for: 'r-entry' }, 'File in the archive'), entry));
  }
  const had = document.activeElement?.id;
  $('reading').replaceChildren(...fields);
  if (had?.startsWith('r-')) $(had)?.focus();
}

function take(chosen) {
  if (!chosen) return;
  file = chosen;
  options = {};
  retyped = {};
  handle = null;
  preview();
}

form.addEventListener('dragover', (e) => { e.preventDefault(); form.classList.add('over'); });
form.addEventListener('dragleave', () => form.classList.remove('over'));
form.addEventListener('drop', (e) => { e.preventDefault(); form.classList.remove('over'); take(e.dataTransfer.files[0]); });
form.addEventListener('submit', (e) => e.preventDefault());
$('entry').addEventListener('change', () => { if (file) { options.entry = $('entry').value.trim(); preview(); } });
$('file').addEventListener('change', () => take($('file').files[0]));
$('reading').addEventListener('submit', (e) => e.preventDefault());
$('as-found').addEventListener('click', () => { options = {}; retyped = {}; preview(); });
$('stop').addEventListener('click', () => sending?.abort());
$('other').addEventListener('click', () => location.reload());
$('make').addEventListener('click', async () => {
  const button = $('make');
  const was = button.textContent;
  button.disabled = true;
  button.textContent = feed ? 'Uploading' : 'Creating';
  const more = {};
  if ($('mode').value) more.mode = $('mode').value;
  const keys = $('key').value.split(',').map((k) => k.trim()).filter(Boolean);
  if (keys.length) more.key = keys.map((k) => `"${k.replaceAll('"', '""')}"`).join(',');
  if (!feed && $('feed-name').value.trim()) more.name = $('feed-name').value.trim();
  // The same once more, such as after a connection that broke, makes nothing more.
  const asked = query({ type: 'dataUpload', ...more });
  if (made.as !== String(asked)) made = { as: String(asked), once: crypto.getRandomValues(new Uint32Array(4)).join('-') };
  try {
    const r = feed ? await ask('PUT', `/data_feeds/${feed}/data`, query(more), '') : await ask('POST', '/data_feeds', asked, made.once);
    if (r.status < 300) {
      toast('Done');
      location.href = `/ui/feeds/${JSON.parse(r.responseText).data.id}?did=${feed ? 'uploaded' : 'made'}`;
      return;
    }
    fail(problemOf(r));
  } catch (e) {
    fail({ detail: e.message });
  }
  button.disabled = false;
  button.textContent = was;
  $('upload-error').scrollIntoView({ block: 'nearest' });
});
