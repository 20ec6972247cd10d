// Enables Save after a change, and says what has changed.
const form = document.querySelector('form[data-changes]');
const save = form?.querySelector('.save-line button');
const said = form?.querySelector('[data-changed]');
const fields = [...(form?.querySelectorAll('input[type="text"]') ?? [])];

function update() {
  const changed = fields.filter((f) => f.value.trim() !== f.defaultValue);
  const wrong = form.querySelector('[aria-invalid]');
  save.disabled = changed.length === 0 && !wrong;
  said.textContent = changed.length === 0 ? '' : 'Changed: ' + changed.map((f) => {
    const name = form.querySelector(`label[for="${f.id}"]`).firstChild.textContent.trim().toLowerCase();
    return `${name}, from ${f.defaultValue || 'empty'} to ${f.value.trim() || 'empty'}`;
  }).join('; ');
}

if (save) {
  form.addEventListener('input', update);
  update();
}
