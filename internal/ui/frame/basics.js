// What every page does, those of the portal too: times in the visitor's zone, copying, forms.
import { clip } from './clipboard.js';
import { dialogs } from './dialogs.js';

document.documentElement.classList.add('scripted');

export function showTimes(root = document) {
  for (const t of root.querySelectorAll('time[data-time]')) {
    const at = new Date(t.dateTime);
    t.title = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }) + ', ' + t.dateTime;
    if (t.dataset.time === 'exact') t.textContent = local(at);
    else if (t.dataset.time === 'second') t.textContent = local(at).slice(11);
    else if (t.dataset.time === 'clock') t.textContent = clock(at);
    else if (t.dataset.time === 'day') t.textContent = day(at);
    else if (t.dataset.time === 'moment') t.textContent = `${day(at)} ${clock(at)}`;
    else t.textContent = relative(at, t.dataset.time);
  }
}

function two(n) { return String(n).padStart(2, '0'); }

function clock(at) { return `${two(at.getHours())}:${two(at.getMinutes())}`; }

function day(at) { return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' }); }

export function local(at) {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

function relative(at, kind) {
  const s = Math.floor((kind === 'until' ? at - Date.now() : Date.now() - at) / 1000);
  if (s < 1) return 'now';
  const words = s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400 ? `${Math.floor(s / 3600)} h`
    : s < 60 * 86400 ? count(Math.floor(s / 86400), 'day') : s < 730 * 86400 ? count(Math.floor(s / 86400 / 30), 'month') : count(Math.floor(s / 86400 / 365), 'year');
  return kind === 'until' ? `in ${words}` : `${words} ago`;
}

function count(n, thing) { return `${n} ${thing}${n === 1 ? '' : 's'}`; }

// toast says that something was done. Errors stand where they belong.
export function toast(words) {
  document.querySelector('.toast')?.remove();
  const box = document.createElement('div');
  box.className = 'toast';
  box.setAttribute('role', 'status');
  box.textContent = words;
  document.body.append(box);
  setTimeout(() => box.remove(), 6000);
}

// announce tells readers of screens what changed.
export function announce(words) {
  let box = document.getElementById('announced');
  if (!box) {
    box = document.createElement('div');
    box.id = 'announced';
    box.className = 'unseen';
    box.setAttribute('role', 'status');
    document.body.append(box);
  }
  box.textContent = words;
}

async function copy(button) {
  const of = button.dataset.copyOf && document.getElementById(button.dataset.copyOf);
  const text = of ? of.value ?? of.textContent : button.dataset.copy;
  await clip(text);
  const was = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = was; }, 2000);
}

document.addEventListener('click', (e) => {
  const button = e.target.closest('[data-copy],[data-copy-of]');
  if (button) return copy(button);
  const menu = e.target.closest('[data-menu]');
  if (menu) {
    const shown = document.getElementById('rail-body').classList.toggle('shown');
    menu.setAttribute('aria-expanded', shown);
    return;
  }
  const reveal = e.target.closest('[data-reveal]');
  if (reveal) {
    const field = document.getElementById(reveal.dataset.reveal);
    field.type = field.type === 'password' ? 'text' : 'password';
    reveal.textContent = field.type === 'password' ? 'Show' : 'Hide';
    return;
  }
  const tab = e.target.closest('.code [role="tab"]');
  if (tab) {
    history.replaceState(null, '', `#${tab.getAttribute('aria-controls')}`);
    return choose(tab);
  }
  for (const open of document.querySelectorAll('details.menu-box[open]')) if (!open.contains(e.target)) open.open = false;
  // The whole row opens, and what stands in it still works by itself.
  const row = e.target.closest('tr[data-href]');
  if (row && !e.defaultPrevented && !e.target.closest('a,button,form,input') && !String(getSelection())) location.href = row.dataset.href;
});

function choose(tab) {
  for (const t of tab.closest('.bar').querySelectorAll('[role="tab"]')) {
    t.setAttribute('aria-selected', t === tab);
    document.getElementById(t.getAttribute('aria-controls')).hidden = t !== tab;
  }
  const button = tab.closest('.bar').querySelector('[data-copy-of]');
  if (button) button.dataset.copyOf = tab.getAttribute('aria-controls');
}

// A form that was sent says so, and is not sent twice.
document.addEventListener('submit', (e) => {
  const button = e.submitter;
  if (!button || e.defaultPrevented || !button.dataset.busy) return;
  setTimeout(() => { button.disabled = true; button.textContent = button.dataset.busy; });
});
addEventListener('pageshow', (e) => { if (e.persisted) location.reload(); });

// What a choice makes needless is not shown.
function switched() {
  for (const part of document.querySelectorAll('[data-when]')) {
    const [name, ...values] = part.dataset.when.split(' ');
    const field = document.querySelector(`[name="${name}"][data-switch]`);
    part.hidden = !field || !values.includes(field.value);
  }
}
document.addEventListener('change', switched);
document.addEventListener('switch', switched);

// What is chosen in a filter counts at once.
document.addEventListener('change', (e) => {
  if (e.target.matches('[data-submit]')) e.target.form.requestSubmit();
  // A choice on which the rest of a form depends: the page comes again with what was filled in.
  if (e.target.matches('[data-get]')) location.search = new URLSearchParams(new FormData(e.target.form));
});

// What was chosen in a row that scrolls is seen, however narrow the window.
for (const tab of document.querySelectorAll('.tabs [aria-current], .steps [aria-current], .chips [aria-current]')) {
  const row = tab.closest('.tabs, .steps, .chips');
  row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
}

// A page that a form has led to has an address that can be reloaded.
const posted = document.body.dataset.posted;
if (posted) history.replaceState(null, '', posted);

const said = document.querySelector('.toast');
if (said) {
  setTimeout(() => said.remove(), 6000);
  const here = new URL(location.href);
  here.searchParams.delete('did');
  here.searchParams.delete('test');
  history.replaceState(null, '', here);
}
for (const tab of document.querySelectorAll('.code [role="tab"][aria-selected="true"]')) choose(tab);
const meant = location.hash && document.querySelector(`.code [role="tab"][aria-controls="${CSS.escape(location.hash.slice(1))}"]`);
if (meant) choose(meant);
showTimes();
setInterval(showTimes, 15000);
const wrong = document.querySelector('.wrong');
(wrong?.querySelector('[aria-invalid="true"]') ?? wrong?.querySelector('input:not([type=hidden]), select, textarea'))?.focus();
switched();
dialogs();
