// Forms survive a session that has expired: what was written is kept in the tab, and written
// again after the sign-in. Secrets are not kept.
import { announce } from './frame.js';

const at = (path) => `form ${path}`;

function keep(form) {
  const fields = [...form.elements].filter((f) => f.name && f.name !== 'once' && !['password', 'file', 'submit', 'button'].includes(f.type));
  if (fields.filter((f) => f.type !== 'hidden').length === 0) return;
  const values = fields.map((f) => [f.name, f.type === 'checkbox' || f.type === 'radio' ? `${f.value} ${f.checked}` : f.value]);
  try {
    sessionStorage.setItem(at(location.pathname), JSON.stringify({ action: form.getAttribute('action'), values }));
  } catch { /* too much to keep */ }
}

function restore() {
  const entry = sessionStorage.getItem(at(location.pathname));
  sessionStorage.removeItem('expired');
  if (!entry) return;
  sessionStorage.removeItem(at(location.pathname));
  const { action, values } = JSON.parse(entry);
  const form = [...document.forms].find((f) => f.getAttribute('action') === action);
  if (!form) return;
  const left = new Map();
  for (const [name, value] of values) left.set(name, [...(left.get(name) ?? []), value]);
  for (const f of form.elements) {
    const list = left.get(f.name);
    if (!list?.length || ['password', 'file', 'submit', 'button'].includes(f.type)) continue;
    const value = list.shift();
    if (f.type === 'checkbox' || f.type === 'radio') f.checked = value === `${f.value} true`;
    else f.value = value;
    f.dispatchEvent(new Event('input', { bubbles: true }));
    f.dispatchEvent(new Event('change', { bubbles: true }));
    f.closest('details')?.setAttribute('open', '');
  }
  const note = document.createElement('div');
  note.className = 'note restored';
  note.textContent = 'Your session had expired. The values of the form are restored; enter secrets again, then send the form.';
  form.prepend(note);
  announce(note.textContent);
  form.querySelector('input:not([type=hidden]), select, textarea')?.focus();
}

export function kept() {
  if (document.querySelector('[data-expired]')) sessionStorage.setItem('expired', 'yes');
  else if (document.querySelector('.rail') && sessionStorage.getItem('expired')) restore();
  document.addEventListener('submit', (e) => { if (e.target.method === 'post' && !e.defaultPrevented && document.querySelector('.rail')) keep(e.target); });
}
