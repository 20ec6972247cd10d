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
