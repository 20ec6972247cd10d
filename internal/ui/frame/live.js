// Parts of a page that follow what happens: [data-live] parts are fetched anew when an event
// of their feed comes, or every few seconds. All tabs of a browser share one stream: the
// visible tab that holds a lock reads it and passes it on. No tab that is hidden holds it.
import { announce, showTimes } from './frame.js';

const parts = () => [...document.querySelectorAll('[data-live]')];
const channel = 'BroadcastChannel' in window ? new BroadcastChannel('feedmill-events') : null;
let fetching = false;
let again = false;
let leading = null;

// fresh fetches the page and replaces the parts that are not as they were. One that somebody
// uses stays until they are done.
async function fresh() {
  if (document.hidden || fetching) { again = fetching; return; }
  fetching = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (answer.ok && !answer.redirected) replace(new DOMParser().parseFromString(await answer.text(), 'text/html'));
  } catch { /* the server is away; the next time shows what is new */ }
  setTimeout(() => { fetching = false; if (again) { again = false; fresh(); } }, 1000);
}

// update replaces the rows of a list that are not as they were, and leaves those that were added.
function update(part, now) {
  for (const row of now.querySelectorAll(':scope > tr[data-href]')) {
    const old = part.querySelector(`:scope > tr[data-href="${CSS.escape(row.dataset.href)}"]`);
    if (!old || old.dataset.sent === row.innerHTML || old.contains(document.activeElement)) continue;
    const fresh = row.cloneNode(true);
    fresh.dataset.sent = row.innerHTML;
    old.replaceWith(fresh);
    showTimes(fresh);
  }
}

function replace(page) {
  for (const part of parts()) {
    const now = page.querySelector(`[data-live="${CSS.escape(part.dataset.live)}"]`);
    if (!now) { if ('liveReload' in part.dataset) location.reload(); continue; }
    if (now.innerHTML === part.sent) continue;
    if ('appended' in part.dataset) { update(part, now); continue; }
    const used = part.contains(document.activeElement) && document.activeElement.matches('input, select, textarea, details[open] *');
    if (used || part.querySelector('details[open]')) continue;
    const at = part.contains(document.activeElement) && (document.activeElement.closest('tr')?.dataset.href ?? null);
    const first = part.sent === undefined;
    part.sent = now.innerHTML;
    if (first && part.dataset.liveText === now.textContent) continue;
    const words = now.dataset.liveWords;
    const changed = words !== undefined && words !== part.dataset.liveWords;
    part.replaceChildren(...now.cloneNode(true).childNodes);
    if (words !== undefined) part.dataset.liveWords = words;
    if (at) part.querySelector(`tr[data-href="${CSS.escape(at)}"] a`)?.focus();
    showTimes(part);
    if (changed) announce(words);
  }
}

const concerns = (resource) => parts().some((p) => !p.dataset.liveOf || p.dataset.liveOf === resource);

function heard(event) { if (event.feed && concerns(event.resource)) fresh(); }

// lead reads the stream for all tabs for as long as this one is visible.
function lead() {
  if (leading || !document.querySelector('.rail') || document.hidden || !navigator.locks || !channel) return;
  const ended = new AbortController();
  leading = ended;
  navigator.locks.request('feedmill-events', { signal: ended.signal }, () => new Promise((done) => {
    const seen = new Set(); // a stream that resumes repeats the last minute
    const stream = new EventSource('/events/stream?type=datafeed.source.*');
    stream.addEventListener('event', (e) => {
      if (seen.has(e.lastEventId)) return;
      seen.add(e.lastEventId);
      if (seen.size > 1000) seen.delete(seen.values().next().value);
      let resource = '';
      try { resource = JSON.parse(e.data).resourceId ?? ''; } catch { /* of another release */ }
      const event = { feed: true, resource };
      channel.postMessage(event);
      heard(event);
    });
    ended.end = () => { stream.close(); done(); };
  })).catch(() => {});
}

function follow() {
  leading?.end?.();
  leading?.abort();
  leading = null;
}

export function live() {
  if (!parts().length) return;
  for (const p of parts()) p.dataset.liveText = p.textContent;
  channel?.addEventListener('message', (e) => heard(e.data));
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return follow();
    lead();
    fresh();
  });
  addEventListener('pagehide', follow);
  lead();
  const every = Math.min(...parts().map((p) => Number(p.dataset.liveEvery) || Infinity));
  if (every < Infinity) setInterval(() => fresh(), every * 1000);
}
