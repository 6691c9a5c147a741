// Shows below the map the values at the pointer or finger.
const map = document.querySelector(".map");
const reading = document.querySelector(".reading");
const tell = (event) => {
  const title = event.target.querySelector?.("title");
  if (title && event.target !== map) reading.textContent = title.textContent;
};
map.addEventListener("pointermove", tell);
map.addEventListener("pointerdown", tell);
