// Events of feeds and other events need a subscription each, which the form says before.
const note = document.querySelector('[data-mixed]');
const form = note?.closest('form');

function mixed() {
  const chosen = [...form.querySelectorAll('[name="events"]:checked')].map((f) => f.value);
  const feeds = chosen.filter((name) => name.startsWith('datafeed.source.')).length;
  note.hidden = feeds === 0 || feeds === chosen.length;
  form.querySelector('.primary').textContent = note.hidden ? 'Subscribe' : 'Create 2 subscriptions';
}
form?.addEventListener('change', mixed);
if (form) mixed();
