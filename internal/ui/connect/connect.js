// The preview follows what is chosen. Another view brings its own fields.
const form = document.querySelector("form[data-live]");
let turn = 0;

form.addEventListener("change", async () => {
  const mine = ++turn;
  const chosen = new URLSearchParams(new FormData(form));
  chosen.set("do", "preview");
  const shown = form.elements.shown.value;
  let page;
  try {
    const answer = await fetch(form.action, { method: "POST", body: chosen });
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return; // the button still asks
  }
  if (mine !== turn || !page.getElementById("preview")) return;
  const now = page.querySelector("[name=shown]").value;
  const parts = now === shown ? ["preview"] : ["preview", "fields", "filters", "only-new"];
  for (const id of parts) document.getElementById(id).replaceWith(document.adoptNode(page.getElementById(id)));
  form.elements.shown.value = now;
});
