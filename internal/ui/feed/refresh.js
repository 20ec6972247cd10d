// Follows a refresh that runs, and shows the page anew when it has ended.
const facts = document.querySelector('[data-refresh]');

async function follow() {
  const answer = await fetch(facts.dataset.refresh, { headers: { Accept: 'application/json' } });
  if (!answer.ok) return;
  const { data } = await answer.json();
  if (data.endedAt) return location.reload();
  for (const at of facts.querySelectorAll('[data-live]')) at.textContent = data[at.dataset.live].toLocaleString('en').replaceAll(',', '\u202f');
  setTimeout(follow, 1000);
}
setTimeout(follow, 500);
