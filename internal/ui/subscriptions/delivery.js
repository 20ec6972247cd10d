// Computes the signatures of an attempt with the visitor's own copy of the secret.
const box = document.querySelector('[data-sign]');

const bytes = (text) => new TextEncoder().encode(text);

async function hmac(key, text) {
  const k = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', k, bytes(text)));
}

async function sign() {
  const out = document.getElementById('signatures');
  const secret = document.getElementById('secret').value.trim();
  out.replaceChildren();
  const line = (name, value) => {
    const row = document.createElement('div');
    const dt = document.createElement('dt');
    const dd = document.createElement('dd');
    dt.textContent = name;
    dd.textContent = value;
    row.append(dt, dd);
    out.append(row);
  };
  let key;
  try {
    if (!secret.startsWith('whsec_')) throw new Error();
    key = Uint8Array.from(atob(secret.slice(6)), (c) => c.charCodeAt(0));
  } catch {
    return line('secret', 'A secret is whsec_ and base64. Copy it whole.');
  }
  const { id, at, body } = box.dataset;
  const plain = await hmac(bytes(secret), body);
  const standard = await hmac(key, `${id}.${at}.${body}`);
  line('x-service-signature', [...plain].map((b) => b.toString(16).padStart(2, '0')).join(''));
  line('webhook-signature', `v1,${btoa(String.fromCharCode(...standard))}`);
}

document.getElementById('sign')?.addEventListener('click', sign);
document.getElementById('secret')?.addEventListener('keydown', (e) => { if (e.key === 'Enter') sign(); });
