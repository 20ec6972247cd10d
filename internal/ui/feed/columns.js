// The table of columns: types are checked as they are chosen, and rows are moved.
import { announce } from './frame.js';

const form = document.getElementById('columns');
const body = form?.querySelector('tbody');
let turn = 0;

const trialOf = (id) => body.querySelector(`[data-trial="${CSS.escape(id)}"]`);

// check asks the server what the stored values are, and shows what it found under the row.
async function check(id) {
  const mine = (turn += 1);
  const place = trialOf(id);
  place.hidden = false;
  const slow = setTimeout(() => { place.cells[0].textContent = 'Checking every stored value'; }, 300);
  try {
    const data = new URLSearchParams(new FormData(form));
    data.delete(`onMisfit.${id}`);
    data.set('do', 'check');
    const answer = await fetch(form.action, { method: 'POST', body: data });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (mine !== turn) return;
    const fresh = page.querySelector(`[data-trial="${CSS.escape(id)}"]`);
    if (!fresh) throw new Error(answer.status);
    place.cells[0].replaceChildren(...fresh.cells[0].childNodes);
    place.hidden = fresh.hidden;
    announce(place.innerText.split('\n')[0]);
  } catch {
    place.cells[0].textContent = 'The values could not be checked. They are checked again when you save.';
  } finally {
    clearTimeout(slow);
  }
}

function move(row, before) {
  const trial = trialOf(row.dataset.column);
  body.insertBefore(row, before);
  row.after(trial);
  form.dispatchEvent(new Event('input', { bubbles: true }));
}

if (body) {
  body.addEventListener('change', (e) => {
    const row = e.target.closest('[data-column]');
    if (e.target.name?.startsWith('type.')) check(row.dataset.column);
    if (e.target.name?.startsWith('hidden.')) row.classList.toggle('hidden-column', e.target.checked);
    if (e.target.value === 'keep' && e.target.type === 'radio') {
      const id = e.target.closest('[data-trial]').dataset.trial;
      const type = form.elements[`type.${id}`];
      type.value = [...type.options].find((o) => o.defaultSelected)?.value ?? type.value;
      type.dispatchEvent(new Event('change', { bubbles: true }));
      type.focus();
    }
  });
  body.addEventListener('keydown', (e) => {
    if (!e.altKey || !e.target.matches('.handle') || !['ArrowUp', 'ArrowDown'].includes(e.key)) return;
    e.preventDefault();
    const row = e.target.closest('tr');
    const rows = [...body.querySelectorAll('[data-column]')];
    const to = rows.indexOf(row) + (e.key === 'ArrowUp' ? -1 : 1);
    if (to < 0 || to >= rows.length) return;
    move(row, e.key === 'ArrowUp' ? rows[to] : trialOf(rows[to].dataset.column).nextElementSibling);
    e.target.focus();
    announce(`Position ${to + 1} of ${rows.length}`);
  });
  body.addEventListener('pointerdown', (e) => {
    if (!e.target.matches('.handle')) return;
    const row = e.target.closest('tr');
    row.classList.add('dragged');
    const over = (to) => {
      const hit = document.elementFromPoint(to.clientX, to.clientY)?.closest('[data-column]');
      if (!hit || hit === row) return;
      const after = hit.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_PRECEDING;
      move(row, after ? trialOf(hit.dataset.column).nextElementSibling : hit);
    };
    const end = () => { row.classList.remove('dragged'); removeEventListener('pointermove', over); };
    addEventListener('pointermove', over);
    addEventListener('pointerup', end, { once: true });
    e.preventDefault();
    e.target.focus();
  });
}
