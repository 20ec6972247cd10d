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
    const response = await fetch(form.action, { method: "POST", body: chosen });
    page = new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    return; // the button sends the form without a preview
  }
  if (mine !== turn || !page.getElementById("preview")) return;
  const now = page.querySelector("[name=shown]").value;
  if (now === shown) showFaults(page);
  const parts = now === shown ? ["preview"] : ["preview", "fields", "filters", "only-new"];
  for (const id of parts) document.getElementById(id).replaceWith(document.adoptNode(page.getElementById(id)));
  form.elements.shown.value = now;
});

// showFaults shows the errors of another rendering of the form at its fields. The controls
// stay, so that the user can go on typing.
function showFaults(page) {
  for (const field of form.querySelectorAll("[data-field]")) {
    const other = page.querySelector(`[data-field="${CSS.escape(field.dataset.field)}"]`);
    if (!other) continue;
    field.className = other.className;
    const controls = other.querySelectorAll("input, select");
    field.querySelectorAll("input, select").forEach((control, i) => {
      for (const name of ["aria-invalid", "aria-describedby"]) {
        const value = controls[i]?.getAttribute(name);
        if (value) control.setAttribute(name, value);
        else control.removeAttribute(name);
      }
    });
    field.querySelector(".message")?.remove();
    const message = other.querySelector(".message");
    if (message) field.append(document.adoptNode(message));
  }
}
