// The drawer beside the table: one row with every column, each value whole.
import { clip } from './clipboard.js';
import { announce, toast } from './frame.js';

const foldAfter = 40;
const clampAfter = 400;

function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

function button(words, label) {
  const b = element('button', 'quiet small', words);
  b.type = 'button';
  if (label) b.setAttribute('aria-label', label);
  return b;
}

// pretty lays out JSON text with two spaces. Names, their order and digits stay as they are.
export function pretty(text) {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let out = '';
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  for (const [i, t] of tokens.entries()) {
    if (t === '{' || t === '[') {
      const empty = tokens[i + 1] === '}' || tokens[i + 1] === ']';
      depth += 1;
      out += t + (empty ? '' : line());
    } else if (t === '}' || t === ']') {
      const empty = tokens[i - 1] === '{' || tokens[i - 1] === '[';
      depth -= 1;
      out += (empty ? '' : line()) + t;
    } else out += t === ',' ? `,${line()}` : t === ':' ? ': ' : t;
  }
  return out;
}

// coloured puts JSON text into an element, with names, texts and other values apart.
function coloured(pre, text) {
  const parts = /("(?:[^"\\]|\\.)*")(:?)|(-?\d[\d.eE+-]*|true|false|null)/g;
  let end = 0;
  for (const m of text.matchAll(parts)) {
    pre.append(text.slice(end, m.index));
    pre.append(element('span', m[1] ? (m[2] ? 'json-key' : 'json-text') : 'json-value', m[1] ?? m[3]), m[2] ?? '');
    end = m.index + m[0].length;
  }
  pre.append(text.slice(end));
}

function folded(place, show, hint) {
  const more = button(hint);
  more.addEventListener('click', () => { show(); more.remove(); place.focus?.(); });
  place.after(more);
}

function field(column, value) {
  if (column.type === 'json' && value !== null && value !== '') {
    const row = element('div', 'row-json');
    const dd = element('dd');
    const box = element('div', 'code');
    dd.append(box);
    row.append(element('dt', 'unseen', column.name), dd);
    const bar = element('div', 'bar');
    const copy = button('Copy', `Copy ${column.name}`);
    copy.dataset.copy = value;
    bar.append(element('b', 'mono', column.name), element('span', '', 'json'), copy);
    const pre = element('pre');
    pre.tabIndex = 0;
    const lines = pretty(value).split('\n');
    coloured(pre, lines.slice(0, foldAfter).join('\n'));
    box.append(bar, pre);
    if (lines.length > foldAfter) {
      folded(pre, () => { pre.replaceChildren(); coloured(pre, lines.join('\n')); }, `Show all ${lines.length} lines`);
    }
    return row;
  }
  const row = element('div', 'row-field');
  const dd = element('dd', 'mono');
  const inner = element(value === null ? 'i' : 'bdi', '', value === null ? 'null' : value);
  dd.append(inner);
  if (column.format && value !== null) dd.append(element('small', 'muted', ` ${column.format}`));
  if (value !== null) {
    const copy = button('Copy', `Copy ${column.name}`);
    copy.dataset.copy = value;
    dd.append(copy);
  }
  row.append(element('dt', 'mono', column.name), dd);
  if ((value?.length ?? 0) > clampAfter) {
    inner.classList.add('clamped');
    folded(inner, () => inner.classList.remove('clamped'), 'Show all');
  }
  return row;
}

// drawer makes the drawer of a table. columns are name, type, format and key of each.
export function drawer({ frame, columns, total, group, parse, step, closed }) {
  const box = element('section', 'drawer');
  box.hidden = true;
  box.setAttribute('aria-label', 'Row');
  const head = element('div', 'drawer-head');
  const title = element('h2');
  title.tabIndex = -1;
  const of = element('span', 'hint');
  const up = button('↑', 'Previous row');
  const down = button('↓', 'Next row');
  const close = button('Close');
  head.append(title, of, up, down, close);
  const body = element('div', 'drawer-body');
  body.tabIndex = 0;
  const foot = element('div', 'drawer-foot');
  const json = button('Copy as JSON');
  const hidden = frame.dataset.hidden ? button(`Show ${frame.dataset.hiddenCount}`) : null;
  foot.append(...(hidden ? [hidden] : []), json);
  box.append(head, body, foot);
  frame.querySelector('.grid-box').after(box);
  let shown = -1;
  let drawn = null;

  const one = (format, fields) => `${frame.dataset.grid.replace('format=csv', `format=${format}`)}&limit=1&offset=${shown}${fields ? `&fields=${fields}` : ''}`;
  up.addEventListener('click', () => step(-1));
  down.addEventListener('click', () => step(1));
  close.addEventListener('click', () => closed());
  json.addEventListener('click', async () => {
    try {
      const answer = await fetch(one('json'));
      if (!answer.ok) throw new Error(answer.status);
      await clip((await answer.text()).replace(/^\s*\[\s*|\s*\]\s*$/g, ''));
      toast('Copied the row as JSON');
    } catch {
      announce('Reading the row failed. Nothing was copied. Try again.');
    }
  });
  hidden?.addEventListener('click', async () => {
    try {
      const answer = await fetch(one('csv', frame.dataset.hidden));
      if (!answer.ok) throw new Error(answer.status);
      const [names, values] = parse(await answer.text());
      const list = element('dl', 'row-fields');
      list.append(...names.map((name, i) => field({ name: name ?? '', type: '' }, values[i])));
      body.append(list);
      hidden.hidden = true;
      body.focus(); // the button that had the focus is gone
    } catch {
      announce('Reading the hidden columns failed. Try again.');
    }
  });
  box.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const way = { j: 1, k: -1 }[e.key];
    if (way) { e.preventDefault(); e.stopPropagation(); step(way); }
    if (e.key === 'Escape') { e.preventDefault(); e.stopPropagation(); closed(); }
    if (e.key === 'y') { e.stopPropagation(); copyKey(); }
  });

  async function copyKey() {
    const at = columns.flatMap((c, i) => (c.key ? [i] : []));
    if (!drawn || !at.length) return;
    await clip(at.map((i) => drawn[i] ?? '').join('\t'));
    toast('Copied the key');
  }

  return {
    get row() { return box.hidden ? -1 : shown; },
    open(n, values) {
      if (n === shown && drawn === values && !box.hidden) return;
      const fresh = n !== shown || box.hidden;
      box.hidden = false;
      frame.classList.add('with-drawer');
      [shown, drawn] = [n, values ?? null];
      title.textContent = `Row ${group(n + 1)}`;
      of.textContent = `of ${group(total)}`;
      up.disabled = n === 0;
      down.disabled = n === total - 1;
      if (hidden) hidden.hidden = false;
      if (values) {
        const list = element('dl', 'row-fields');
        list.append(...columns.map((c, i) => field(c, values[i] ?? null)));
        body.replaceChildren(list);
      } else body.replaceChildren(element('p', 'muted', 'Reading the row'));
      if (fresh) { body.scrollTop = 0; announce(`Row ${n + 1} of ${total}`); }
    },
    focus() { title.focus(); },
    close() {
      box.hidden = true;
      frame.classList.remove('with-drawer');
    },
  };
}
