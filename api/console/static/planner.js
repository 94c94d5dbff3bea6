import { fetchPatiently } from "./patience.js";

// Sliders for the planner's numbers, and answers that follow both.

const STEPS = 200;

// A slider moves by factors, and by at least one for whole numbers.
function scale(number) {
  const [low, high] = [Number(number.min), Number(number.max)];
  const whole = number.step === "1";
  return {
    at: (place) => {
      const value = low * (high / low) ** (place / STEPS);
      return whole ? Math.round(value) : Number(value.toPrecision(2));
    },
    place: (value) => Math.round((STEPS * Math.log(value / low)) / Math.log(high / low)),
  };
}

function slide(slider, number) {
  const { at, place } = scale(number);
  Object.assign(slider, { min: 0, max: STEPS, step: 1, hidden: false });
  const tell = () => slider.setAttribute("aria-valuetext", number.value);
  const follow = () => {
    slider.value = place(number.value);
    tell();
  };
  number.addEventListener("input", () => number.checkValidity() && follow());
  slider.addEventListener("input", () => {
    number.value = at(Number(slider.value));
    tell();
  });
  // A keyboard step always changes the number, even if several slider positions round to the same one.
  slider.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    let next = Number(slider.value);
    do next += way;
    while (next > 0 && next < STEPS && at(next) === Number(number.value));
    slider.value = next;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  follow();
}

// Only the latest question is answered.
export function plan(form, enliven) {
  let asked = 0;
  let wait;
  const refresh = async () => {
    const question = ++asked;
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    const response = await fetchPatiently(address, "text/html", () => question === asked);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const found = page.getElementById("needed") ?? page.querySelector("main > p");
    if (question !== asked || !found) return;
    const place = document.getElementById("needed");
    if (found.id !== "needed") return place.replaceChildren(found);
    place.replaceWith(found);
    history.replaceState(null, "", address);
    await enliven(found);
  };
  form.querySelectorAll("input[data-for]").forEach((each) => slide(each, form.elements[each.dataset.for]));
  form.addEventListener("input", () => {
    clearTimeout(wait);
    if (form.checkValidity()) wait = setTimeout(refresh, 300);
  });
  if (document.querySelector("#needed[data-later]")) refresh();
}
