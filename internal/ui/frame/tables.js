// Every table can be copied as CSV.
function cellText(cell) {
  const exact = cell.querySelector('time')?.dateTime;
  const text = exact ?? (cell.title || cell.innerText.trim());
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv(table) {
  return [...table.rows].filter((r) => !r.classList.contains('sentence')).map((r) => [...r.cells].map(cellText).join(',')).join('\r\n');
}

export async function copyTable(table, say) {
  if (!table) return;
  await navigator.clipboard.writeText(csv(table));
  say('Copied as CSV');
}

export function tables(say) {
  for (const table of document.querySelectorAll('main table.rows')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet small copy-table';
    button.textContent = 'Copy as CSV';
    button.addEventListener('click', () => copyTable(table, say));
    table.closest('.table-box').after(button);
  }
}
