// The command palette: every page of the rail, what this page can do, and feeds and
// subscriptions by their names.
let box = null;
let all = [];

async function named(path, to) {
  const answer = await fetch(path, { headers: { Accept: 'application/json' } });
  return answer.ok ? (await answer.json()).map((r) => ({ words: r.name || r.url, kind: to.kind, href: to.path + r.id })) : [];
}

function here() {
  const pages = [...document.querySelectorAll('.rail li a, .rail-link')].map((a) => ({ words: a.firstChild.textContent.trim(), kind: 'page', href: a.href }));
  const doable = [...document.querySelectorAll('.actions a.button, .actions button, .tabs a')].filter((e) => e.offsetParent)
    .map((e) => ({ words: e.textContent.trim(), kind: 'this page', press: e }));
  return [...pages, { words: 'New feed', kind: 'page', href: '/ui/feeds/new' }, { words: 'New subscription', kind: 'page', href: '/ui/subscriptions/new' }, { words: 'Audit log', kind: 'page', href: '/ui/audit' }, ...doable];
}

function show() {
  const wanted = box.querySelector('input').value.toLowerCase();
  const list = box.querySelector('ul');
  const found = all.filter((c) => c.words.toLowerCase().includes(wanted)).slice(0, 12);
  list.replaceChildren(...found.map((c, i) => {
    const item = document.createElement('li');
    const words = document.createElement('span');
    const kind = document.createElement('small');
    words.textContent = c.words;
    kind.textContent = c.kind;
    item.append(words, kind);
    item.id = `command-${i}`;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', i === 0);
    item.addEventListener('click', () => choose(c));
    return item;
  }));
  box.querySelector('input').setAttribute('aria-activedescendant', found.length ? 'command-0' : '');
  box.found = found;
}

function choose(c) {
  box.close();
  if (c.press) c.press.click();
  else location.href = c.href;
}

function step(by) {
  const items = [...box.querySelectorAll('li')];
  const at = items.findIndex((i) => i.getAttribute('aria-selected') === 'true');
  const next = items[Math.max(0, Math.min(items.length - 1, at + by))];
  if (!next) return;
  items[at].setAttribute('aria-selected', false);
  next.setAttribute('aria-selected', true);
  box.querySelector('input').setAttribute('aria-activedescendant', next.id);
}

function make() {
  box = document.createElement('dialog');
  box.className = 'palette';
  box.setAttribute('aria-label', 'Go to');
  box.innerHTML = '<input type="text" placeholder="Go to a page, feed or subscription" aria-label="Go to" role="combobox" aria-expanded="true" aria-controls="commands" autocomplete="off"><ul id="commands" role="listbox" aria-label="Found"></ul>';
  document.body.append(box);
  const input = box.querySelector('input');
  input.addEventListener('input', show);
  input.addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown') step(1);
    else if (e.key === 'ArrowUp') step(-1);
    else if (e.key === 'Enter') {
      const at = [...box.querySelectorAll('li')].findIndex((i) => i.getAttribute('aria-selected') === 'true');
      if (box.found[at]) choose(box.found[at]);
    } else return;
    e.preventDefault();
  });
}

export function palette() {
  if (!document.querySelector('.rail')) return;
  if (!box) make();
  all = here();
  box.querySelector('input').value = '';
  show();
  box.showModal();
  Promise.all([named('/data_feeds?limit=200', { kind: 'feed', path: '/ui/feeds/' }), named('/events/subscriptions?limit=200', { kind: 'subscription', path: '/ui/subscriptions/' })])
    .then((more) => { all = [...all, ...more.flat()]; show(); });
}
