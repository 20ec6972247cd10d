// Rows of forms are added and removed without loading the page. The last row of a list is empty.
import { announce } from './frame.js';

function clear(row) {
  row.classList.remove('wrong');
  for (const part of row.querySelectorAll('.message')) part.remove();
  for (const field of row.querySelectorAll('input, select')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-describedby');
    if (field.tagName !== 'SELECT') field.value = '';
    else field.selectedIndex = Math.max(0, [...field.options].findIndex(field.options[0].value ? (o) => o.defaultSelected : (o) => !o.value));
  }
}

function add(list) {
  const row = list.lastElementChild.cloneNode(true);
  clear(row);
  list.append(row);
  row.querySelector('select, input:not([type=hidden])').focus();
  announce('Row added');
}

// remove takes a row away, and leaves one that is empty.
function remove(row) {
  const list = row.parentElement;
  const next = row.nextElementSibling ?? row.previousElementSibling;
  if (next) row.remove();
  else clear(row);
  (next ?? row).querySelector('select, input:not([type=hidden])').focus();
  announce('Row removed');
  list.closest('form')?.dispatchEvent(new Event('input', { bubbles: true }));
}

export function rows() {
  document.addEventListener('click', (e) => {
    const button = e.target.closest('[data-add], [data-remove]');
    if (button?.dataset.add) add(document.getElementById(button.dataset.add));
    else if (button) remove(button.parentElement);
  });
}
