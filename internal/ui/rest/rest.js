// Keeps form and YAML in step: whichever was changed last says what the other shows. The
// server does both ways, so there is one understanding of a definition.
const form = document.getElementById('rest');
const yaml = document.getElementById('yaml');
const from = form.elements.from;
let timer = 0;
let turn = 0;

async function step() {
  const mine = (turn += 1);
  const data = new URLSearchParams(new FormData(form));
  data.set('do', from.value === 'yaml' ? 'read' : 'write');
  const answer = await fetch(form.action, { method: 'POST', body: data });
  if (mine !== turn || !answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const fresh = page.getElementById('rest');
  if (from.value === 'form') yaml.value = fresh.elements.yaml.value;
  else for (const e of form.querySelectorAll('#rest-form [name]')) {
    e.value = fresh.elements[e.name].value;
    e.dispatchEvent(new Event('switch', { bubbles: true }));
  }
}

form.addEventListener('input', (e) => {
  from.value = e.target === yaml ? 'yaml' : 'form';
  clearTimeout(timer);
  timer = setTimeout(step, 300);
});

// A stored secret is replaced by an empty field, and kept again by Cancel.
function replace(button) {
  const field = document.getElementById(button.dataset.replace);
  const kept = field.value === '***' && field.hasAttribute('data-kept');
  field.toggleAttribute('data-kept', !kept);
  field.value = kept ? '' : '***';
  field.readOnly = !kept;
  button.textContent = kept ? 'Cancel' : 'Replace';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  if (kept) field.focus();
}
for (const field of form.querySelectorAll('[data-kept]')) field.readOnly = true;
form.addEventListener('click', (e) => { if (e.target.matches('[data-replace]')) replace(e.target); });
if (form.hasAttribute('data-replacing')) {
  const button = [...form.querySelectorAll('[data-replace]')].find((b) => b.offsetParent);
  if (button) replace(button);
}
