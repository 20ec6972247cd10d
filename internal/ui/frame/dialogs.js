// Dialogs: the focus goes in, stays in, and returns to what opened them. Escape closes all but
// those that show a secret.
const reachable = 'a[href], button:not([disabled]), input:not([disabled], [type="hidden"]), select:not([disabled]), textarea:not([disabled]), summary, [tabindex="0"]';

// show opens a dialog with the focus on one of its parts.
export function show(box, first) {
  const from = document.activeElement;
  box.showModal();
  (first ?? box.querySelector(reachable))?.focus();
  box.addEventListener('close', () => { if (from?.isConnected) from.focus(); }, { once: true });
}

// dialog makes one that has a name and keeps the focus.
export function dialog(name, className) {
  const box = document.createElement('dialog');
  box.className = className;
  box.setAttribute('aria-label', name);
  box.addEventListener('keydown', (e) => {
    if (e.key !== 'Tab') return;
    const all = [...box.querySelectorAll(reachable)].filter((p) => p.offsetParent);
    const end = e.shiftKey ? all[0] : all.at(-1);
    if (document.activeElement !== end && box.contains(document.activeElement)) return;
    e.preventDefault();
    (e.shiftKey ? all.at(-1) : all[0])?.focus();
  });
  box.addEventListener('click', (e) => { if (e.target.closest('[data-close]')) box.close(); });
  return box;
}

function closer(words) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  button.dataset.close = '';
  button.textContent = words;
  return button;
}

function heading(words) {
  const h2 = document.createElement('h2');
  h2.textContent = words;
  return h2;
}

// ask puts a question that is folded on the page into a dialog, and back when it is closed.
function ask(details) {
  const form = details.querySelector('form');
  const words = details.querySelector('summary').textContent;
  const box = dialog(words, 'question');
  const cancel = closer('Cancel');
  form.querySelector('button').before(cancel);
  box.append(heading(words), form);
  details.after(box);
  box.addEventListener('close', () => {
    cancel.remove();
    details.append(form);
    box.remove();
  });
  show(box, cancel); // what cannot be undone is not done by one Enter too many
}

// help shows the page of keys above the page.
async function help(link) {
  try {
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const box = dialog('Keyboard', 'help');
    box.append(heading('Keyboard'), page.querySelector('.keyboard'), page.querySelector('.keyboard + .hint'), closer('Close'));
    if (document.querySelector('dialog.help')) return; // it was asked for twice
    document.body.append(box);
    box.addEventListener('close', () => box.remove());
    show(box, box.querySelector('[data-close]'));
  } catch {
    location.href = link.href;
  }
}

// secret keeps what is shown once before the eyes until it was copied.
function secret(panel) {
  const box = dialog(panel.querySelector('h2').textContent, 'once');
  panel.before(box);
  box.append(panel);
  for (const kind of ['cancel', 'keydown']) box.addEventListener(kind, (e) => { if (kind === 'cancel' || e.key === 'Escape') e.preventDefault(); });
  show(box);
}

export function dialogs() {
  document.addEventListener('click', (e) => {
    const summary = e.target.closest('details > summary');
    if (summary?.nextElementSibling?.matches('form[method="post"]')) {
      e.preventDefault();
      ask(summary.parentNode);
    }
    const keys = e.target.closest('[data-keys]');
    if (keys && !e.ctrlKey && !e.metaKey && !e.shiftKey) {
      e.preventDefault();
      help(keys);
    }
  });
  const panel = document.querySelector('.made-key');
  if (panel) secret(panel);
}
