// Follows events as they happen. The server renders the rows; when something new has
// happened, or something on its way may have arrived, they are fetched anew.
import { showTimes } from './frame.js';
import { shut } from './opened.js';

const $ = (id) => document.getElementById(id);
const tail = $('tail');
const here = location.href; // the address changes while an event is open
let held = false;
let waiting = 0;
let fetching = false;
let again = false;
let shown = ''; // the rows as they were sent

function say(state, words) {
  $('live').innerHTML = '';
  const badge = document.createElement('span');
  badge.className = `badge ${state}`;
  badge.innerHTML = $('glyph-' + state)?.innerHTML ?? '';
  badge.append(words);
  $('live').append(badge);
}

async function fresh() {
  if (fetching) { again = true; return; }
  fetching = true;
  try {
    const answer = await fetch(here, { headers: { Accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('tail');
    // Rows that are as they were stay: whoever is about to press on one presses on that one.
    if (page && !held && page.innerHTML !== shown) {
      shown = page.innerHTML;
      const at = tail.contains(document.activeElement) && document.activeElement.closest('tr')?.dataset.href;
      tail.replaceChildren(...page.childNodes);
      if (at) tail.querySelector(`tr[data-href="${CSS.escape(at)}"] a`)?.focus();
      showTimes(tail);
    }
  } catch { /* the stream says that the server is gone */ }
  setTimeout(() => { fetching = false; if (again && !held) { again = false; fresh(); } }, 400);
}

// hold stops or follows. Who follows has closed the event that was open: closing follows.
function hold(on, why = 'Held.') {
  if (!on && shut()) return;
  held = on;
  $('hold').setAttribute('aria-pressed', on);
  $('hold').firstChild.textContent = on ? 'Follow ' : 'Hold ';
  $('held').hidden = !on;
  $('held').querySelector('b').textContent = why;
  if (!on) { waiting = 0; $('waiting').textContent = ''; fresh(); }
  say(on ? 'quiet' : 'running', on ? 'Held' : 'Live');
}

const events = new EventSource($('live').dataset.stream);
events.onopen = () => say(held ? 'quiet' : 'running', held ? 'Held' : 'Live');
events.onerror = () => say('warn', 'Connecting');
const seen = new Set(); // a stream that resumes repeats the last minute
events.addEventListener('event', (e) => {
  if (seen.has(e.lastEventId)) return;
  seen.add(e.lastEventId);
  if (seen.size > 5000) seen.delete(seen.values().next().value);
  if (!held) return fresh();
  waiting += 1;
  $('waiting').textContent = `${waiting} newer ${waiting === 1 ? 'event waits' : 'events wait'}.`;
});
setInterval(() => { if (!held && !document.hidden && tail.querySelector('.badge.running, .badge.warn')) fresh(); }, 3000);
tail.addEventListener('opened', () => hold(true, 'Held while an event is open.'));
tail.addEventListener('closed', () => hold(false));
$('hold').addEventListener('click', () => hold(!held));
$('follow').addEventListener('click', () => hold(false));
document.addEventListener('keydown', (e) => {
  if (document.querySelector('dialog[open]')) return; // they are meant for the dialog
  if (e.target.closest('input,select,textarea,button,a,pre')) { if (e.key === 'Escape' && held) hold(false); return; }
  if (e.key === ' ') { e.preventDefault(); hold(!held); }
  if (e.key === 'Escape' && held) hold(false);
});
let top = scrollY;
addEventListener('scroll', () => {
  if (scrollY > 200 && scrollY > top && !held) hold(true); // a page that has become shorter scrolls up by itself
  top = scrollY;
}, { passive: true });
addEventListener('pagehide', () => events.close());
