// Follows a refresh that runs: what the server shows of it is fetched anew, and the whole page
// when it has ended.
import { showTimes } from './frame.js';

async function follow() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (!page.getElementById('refresh-progress')) return location.reload();
    for (const id of ['refresh-facts', 'refresh-stage', 'refresh-stages', 'refresh-trace']) {
      const part = document.getElementById(id);
      if (part.contains(document.activeElement) || String(getSelection())) continue; // somebody is at it
      part.replaceChildren(...page.getElementById(id).childNodes);
      showTimes(part);
    }
    const done = page.getElementById('refresh-progress').getAttribute('value');
    if (done) document.getElementById('refresh-progress').value = Number(done);
  } catch { /* the server is away for a moment */ }
  setTimeout(follow, 1000);
}
setTimeout(follow, 500);
