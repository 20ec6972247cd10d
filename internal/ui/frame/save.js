// Forms with a save bar: it names what changed, and leaving asks before it is lost.
const form = document.querySelector('form[data-saved]');

function changed() {
  const fields = [...form.elements].filter((f) => f.name && f.type !== 'hidden' && f.type !== 'submit' && !f.disabled
    && !(f.id === 'yaml' && form.elements.from?.value === 'form')); // the YAML follows the form
  let n = 0;
  for (const f of fields) {
    const was = f.type === 'checkbox' || f.type === 'radio' ? f.checked !== f.defaultChecked
      : f.tagName === 'SELECT' ? f.selectedIndex !== Math.max([...f.options].findIndex((o) => o.defaultSelected), 0) : f.value !== f.defaultValue;
    f.classList.toggle('changed', was);
    if (was && !(f.type === 'radio' && !f.checked)) n += 1;
  }
  const order = [...form.querySelectorAll('[name="column"]')].map((f) => f.value).join();
  form.dataset.order ??= order;
  return n + (order !== form.dataset.order ? 1 : 0);
}

export function saving() {
  if (!form) return;
  const bar = form.querySelector('.save-bar');
  if (!bar) return;
  const words = bar.querySelector('span');
  const save = bar.querySelector('[value="save"]');
  const discard = bar.querySelector('a');
  if (!save || !discard) return; // a key that can only read
  const idle = words.textContent;
  const given = bar.hasAttribute('data-changes');
  let sent = false;
  if (given) bar.dataset.dirty = 1;
  const show = () => {
    const n = changed();
    if (given && n === 0) return;
    words.textContent = n ? `${n} unsaved change${n === 1 ? '' : 's'}.` : bar.dataset.idle ?? idle;
    save.disabled = n === 0;
    discard.hidden = n === 0;
    bar.dataset.dirty = n;
  };
  form.addEventListener('input', show);
  form.addEventListener('submit', () => { sent = true; });
  discard.addEventListener('click', () => { sent = true; });
  addEventListener('beforeunload', (e) => { if (!sent && Number(bar.dataset.dirty)) e.preventDefault(); });
  document.addEventListener('keydown', (e) => {
    if (e.key !== 's' || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    if (!save.disabled) form.requestSubmit(save);
  });
  show();
}
