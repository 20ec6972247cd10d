// Says what a schedule comes to while it is written.
import { showTimes } from './frame.js';

for (const box of document.querySelectorAll('[data-plan]')) {
  let timer = 0;
  let turn = 0;
  const say = async () => {
    const mine = (turn += 1);
    const fields = new URLSearchParams();
    for (const e of box.querySelectorAll('input')) if (e.type !== 'radio' || e.checked) fields.set(e.name, e.value);
    const answer = await fetch(`${box.dataset.plan}?${fields}`);
    if (mine !== turn || !answer.ok || answer.redirected) return;
    const part = new DOMParser().parseFromString(await answer.text(), 'text/html').body;
    box.querySelector('.plan').replaceChildren(...part.childNodes);
    box.classList.toggle('wrong', !!box.querySelector('.plan .message'));
    showTimes(box);
  };
  box.addEventListener('input', (e) => {
    // Whoever writes into a field means it.
    if (e.target.dataset.chooses) box.querySelector(`[value="${e.target.dataset.chooses}"]`).checked = true;
    clearTimeout(timer);
    timer = setTimeout(say, 150);
  });
}
