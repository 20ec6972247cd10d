// The command palette: every page of the rail, what this page can do, and feeds and
// subscriptions by their names.
import { dialog, show as open } from './dialogs.js';

let box = null;
let all = [];
let feeds = [];
let turn = 0;
let timer = 0;
let found = [];
let selected = 0;

async function named(path, to) {
  const answer = await fetch(path, { headers: { Accept: 'application/json' } });
  return answer.ok ? (await answer.json()).map((r) => ({ words: r.name || r.url, kind: to.kind, href: to.path + r.id })) : [];
}

// The server looks among all feeds, however many there are.
async function search() {
  const mine = (turn += 1);
  const wanted = box.querySelector('input').value.trim();
  const path = `/data_feeds?limit=12${wanted ? `&q=${encodeURIComponent(wanted.slice(0, 200))}` : ''}`;
  const now = await named(path, { kind: 'feed', path: '/ui/feeds/' });
  if (mine !== turn) return;
  feeds = now;
  show(found[selected]);
}

function here() {
  const pages = [...document.querySelectorAll('.rail li a, .rail-link')].map((a) => ({ words: a.firstChild.textContent.trim(), kind: 'page', href: a.href }));
  const doable = [...document.querySelectorAll('.actions a.button, .actions button, .tabs a')].filter((e) => e.offsetParent)
    .map((e) => ({ words: e.textContent.trim(), kind: 'this page', press: e }));
  return [...pages, { words: 'New feed', kind: 'page', href: '/ui/feeds/new' }, { words: 'New subscription', kind: 'page', href: '/ui/subscriptions/new' }, { words: 'Audit log', kind: 'page', href: '/ui/audit' }, ...doable];
}

// show lists what fits, with the choice where it was if that is still there.
function show(chosen) {
  const input = box.querySelector('input');
  const wanted = input.value.trim().toLowerCase();
  const fits = (c) => c.words.toLowerCase().includes(wanted);
  found = [...all.filter(fits).slice(0, 12), ...feeds].slice(0, 16);
  const at = Math.max(0, found.findIndex((c) => chosen && c.words === chosen.words && c.href === chosen.href));
  box.querySelector('p').hidden = found.length > 0;
  box.querySelector('ul').replaceChildren(...found.map((c, i) => {
    const item = document.createElement('li');
    const words = document.createElement('span');
    const kind = document.createElement('small');
    words.textContent = c.words;
    kind.textContent = c.kind;
    item.append(words, kind);
    item.id = `command-${i}`;
    item.setAttribute('role', 'option');
    item.addEventListener('click', () => choose(c));
    return item;
  }));
  select(at);
}

function select(at) {
  const items = [...box.querySelectorAll('li')];
  for (const [i, item] of items.entries()) item.setAttribute('aria-selected', i === at);
  box.querySelector('input').setAttribute('aria-activedescendant', items[at]?.id ?? '');
  items[at]?.scrollIntoView({ block: 'nearest' });
  selected = at;
}

function choose(c) {
  box.close();
  if (c.press) c.press.click();
  else location.href = c.href;
}

function make() {
  box = dialog('Go to', 'palette');
  box.innerHTML = '<input type="text" placeholder="Go to a page, feed or subscription" aria-label="Go to" role="combobox" aria-expanded="true" aria-controls="commands" autocomplete="off"><ul id="commands" role="listbox" aria-label="Found"></ul><p class="hint" role="status" hidden>Nothing is called so.</p>';
  document.body.append(box);
  const input = box.querySelector('input');
  input.addEventListener('input', () => {
    feeds = feeds.filter((f) => f.words.toLowerCase().includes(input.value.trim().toLowerCase()));
    show();
    clearTimeout(timer);
    timer = setTimeout(search, 100);
  });
  input.addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown') select(Math.min(found.length - 1, selected + 1));
    else if (e.key === 'ArrowUp') select(Math.max(0, selected - 1));
    else if (e.key === 'Enter') { if (found[selected]) choose(found[selected]); } else return;
    e.preventDefault();
  });
}

export function palette() {
  if (!document.querySelector('.rail')) return;
  if (!box) make();
  all = here();
  box.querySelector('input').value = '';
  show();
  if (!box.open) open(box);
  search();
  named('/events/subscriptions?limit=200', { kind: 'subscription', path: '/ui/subscriptions/' }).then((more) => {
    all = [...all, ...more];
    show(found[selected]);
  });
}
