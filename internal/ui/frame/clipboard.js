// clip puts a text on the clipboard. Browsers have the better way only for pages over TLS and of
// this machine.
export async function clip(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    (document.querySelector('dialog[open]') ?? document.body).append(area); // beside a dialog nothing can be chosen
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}
