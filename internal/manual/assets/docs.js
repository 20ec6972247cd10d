// Search, copy buttons, the remembered language, and the list of headings that follows the scroll.

for (const bar of document.querySelectorAll('.code .bar')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  bar.append(button);
  button.addEventListener('click', async () => {
    const shown = [...button.closest('.code').querySelectorAll('pre')].find((pre) => pre.offsetParent !== null);
    await navigator.clipboard.writeText(shown.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
}

const stored = 'feedmill-docs-language';
const choose = (language) => {
  for (const radio of document.querySelectorAll(`.samples input[value="${CSS.escape(language)}"]`)) radio.checked = true;
};
const before = localStorage.getItem(stored);
if (before) choose(before);
document.addEventListener('change', (event) => {
  if (!event.target.matches('.samples input')) return;
  localStorage.setItem(stored, event.target.value);
  choose(event.target.value);
});

// Tabs of a guide: the chosen language is remembered, and a link to a tab shows it.
for (const tab of document.querySelectorAll('.choice > fieldset input')) {
  if (tab.value === localStorage.getItem('feedmill-docs-guide-language')) tab.checked = true;
  tab.addEventListener('change', () => {
    localStorage.setItem('feedmill-docs-guide-language', tab.value);
    if (location.hash) history.replaceState(null, '', location.pathname);
    for (const other of document.querySelectorAll(`.choice > fieldset input[value="${CSS.escape(tab.value)}"]`)) other.checked = true;
  });
}
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const panel = target && target.closest('.choice > .panel');
  if (!panel) return;
  const panels = [...panel.parentElement.querySelectorAll(':scope > .panel')];
  panel.parentElement.querySelectorAll(':scope > fieldset input')[panels.indexOf(panel)].checked = true;
  target.scrollIntoView();
};
addEventListener('hashchange', reveal);
reveal();

document.querySelector('.side [aria-current]')?.scrollIntoView({ block: 'nearest' });

const menu = document.querySelector('.side details');
if (menu && matchMedia('(max-width: 640px)').matches) menu.open = false;

const links = new Map([...document.querySelectorAll('.here li a')].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
if (links.size > 0) {
  const headings = [...links.keys()].map((id) => document.getElementById(id));
  const follow = () => {
    let now = headings[0];
    for (const h of headings) if (h.getClientRects().length > 0 && h.getBoundingClientRect().top < 120) now = h;
    for (const [id, a] of links) a.classList.toggle('on', id === now.id);
  };
  addEventListener('scroll', follow, { passive: true });
  follow();
}

const box = document.getElementById('q');
const results = document.getElementById('results');
let entries = null;
let found = [];
let at = 0;

const load = async () => {
  entries ??= fetch('/docs/search.json').then((response) => response.json());
  return entries;
};

function score(e, words) {
  const title = e.t.toLowerCase();
  const text = `${e.h ?? ''} ${e.x ?? ''}`.toLowerCase();
  let sum = e.h ? 0 : 3;
  for (const w of words) {
    if (title.startsWith(w)) sum += 12;
    else if (title.includes(w)) sum += 8;
    else if (text.includes(w)) sum += 2;
    else return 0;
  }
  return sum;
}

function show() {
  results.replaceChildren();
  if (found.length === 0) {
    const none = document.createElement('p');
    none.textContent = 'No page has all of these words.';
    results.append(none);
  }
  let group = '';
  found.forEach((e, i) => {
    if (e.g !== group) {
      const h = document.createElement('h3');
      h.textContent = group = e.g;
      results.append(h);
    }
    const a = document.createElement('a');
    a.href = e.p;
    a.textContent = e.t;
    if (e.h) {
      const page = document.createElement('span');
      page.textContent = ` ${e.h}`;
      a.append(page);
    }
    a.classList.toggle('on', i === at);
    results.append(a);
  });
  results.hidden = false;
}

box.addEventListener('focus', load);
box.addEventListener('input', async () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    results.hidden = true;
    return;
  }
  const all = await load();
  const best = all.map((e) => ({ ...e, score: score(e, words) })).filter((e) => e.score > 0).sort((x, y) => y.score - x.score).slice(0, 8);
  const order = [...new Set(best.map((e) => e.g))];
  found = best.sort((x, y) => order.indexOf(x.g) - order.indexOf(y.g));
  at = 0;
  show();
});
box.addEventListener('keydown', (event) => {
  if (results.hidden || found.length === 0) return;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    at = (at + (event.key === 'ArrowDown' ? 1 : found.length - 1)) % found.length;
    show();
  }
});
box.form.addEventListener('submit', (event) => {
  if (results.hidden || found.length === 0) return;
  event.preventDefault();
  location.assign(found[at].p);
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    results.hidden = true;
  } else if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.target.matches('input, textarea, select')) {
    event.preventDefault();
    box.focus();
    box.select();
  }
});
document.addEventListener('click', (event) => {
  if (!event.target.closest('.find')) results.hidden = true;
});

document.documentElement.classList.add('scripted');
