// The built-in receiver: a listener of this server whose deliveries come over one
// connection. Each is verified here, as a receiver of yours would, and answered.
const $ = (id) => document.getElementById(id);
const bytes = (text) => new TextEncoder().encode(text);
let listener = null;

async function ask(method, path, body) {
  const answer = await fetch(path, { method, headers: body ? { 'Content-Type': 'application/json' } : {}, body: body && JSON.stringify(body) });
  const text = await answer.text();
  const json = text ? JSON.parse(text) : {};
  if (!answer.ok) throw new Error(json.detail ?? `The server returned ${answer.status}.`);
  return json.data;
}

async function signature(text) {
  const key = await crypto.subtle.importKey('raw', bytes(listener.signingSecret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(text)));
  return [...mac].map((b) => b.toString(16).padStart(2, '0')).join('');
}

function element(name, text, className) {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
}

async function received(d) {
  const good = (await signature(d.body)) === d.headers['x-service-signature'];
  await ask('POST', `/events/listeners/${listener.id}/answers`, [{ deliveryId: d.deliveryId, attempt: d.attempt, status: good ? 204 : 400, durationMs: 1 }]);
  const box = element('div', '', 'code received');
  const bar = element('div', '', 'bar');
  bar.append(element('b', d.type), element('span', good ? 'signature verified, returned 204' : 'the signature is not valid', good ? 'verified' : 'bad'));
  const pre = element('pre', JSON.stringify(JSON.parse(d.body), null, 2));
  pre.tabIndex = 0;
  box.append(bar, pre);
  $('got').prepend(box);
}

async function listen() {
  $('listen').disabled = true;
  try {
    listener = await ask('POST', '/events/listeners', { events: ['datafeed.source.*'] });
    const stream = await fetch(`/events/listeners/${listener.id}/stream`);
    const reader = stream.body.pipeThrough(new TextDecoderStream()).getReader();
    $('receiver').textContent = 'Listening. Now change the data.';
    $('listen').classList.remove('primary');
    document.querySelector('#change button').classList.add('primary');
    for (let rest = ''; ;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const d = line && JSON.parse(line);
        if (d.kind === 'delivery') await received(d);
      }
    }
    $('receiver').textContent = 'The connection ended.';
  } catch (e) {
    $('receiver').textContent = e.message;
  }
  $('listen').disabled = false;
}

$('listen')?.addEventListener('click', listen);
$('change').addEventListener('submit', async (e) => {
  e.preventDefault();
  const button = e.submitter;
  button.disabled = true;
  const answer = await fetch('/ui/start/sample', { method: 'POST' });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const sample = page.getElementById('sample');
  if (sample) $('sample').replaceWith(sample);
  button.disabled = false;
});
addEventListener('pagehide', () => { if (listener) fetch(`/events/listeners/${listener.id}`, { method: 'DELETE', keepalive: true }); });
