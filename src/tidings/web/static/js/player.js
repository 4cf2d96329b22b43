// Sounds and films: they go on where somebody stopped, at the speed of the account, thirty seconds to and fro.
import { base, mark, post } from "./marks.js";

const EVERY_S = 10;
const root = document.documentElement.dataset;

function prepare() {
  for (const box of document.querySelectorAll(".player:not(.is-ready)")) {
    box.classList.add("is-ready");
    const media = box.querySelector("audio, video");
    const { enclosure, at, entry } = media.dataset;
    const speed = box.querySelector("select");
    let told = Number(at);
    const tell = (position) => {
      const seconds = Math.floor(position);
      if (seconds === told) return;
      told = seconds;
      post(`${base}/enclosures/${enclosure}/position`, { position: seconds });
    };
    const rate = speed ? [...speed.options].find((one) => Number(one.value) === Number(root.rate)) : null;
    if (rate) rate.selected = true;
    media.defaultPlaybackRate = media.playbackRate = Number(root.rate) || 1;
    if (speed) speed.onchange = () => (media.playbackRate = Number(speed.value));
    media.addEventListener("loadedmetadata", () => {
      if (told > 0 && told < media.duration - 5) media.currentTime = told;
    });
    media.addEventListener("timeupdate", () => Math.abs(media.currentTime - told) >= EVERY_S && !media.paused && tell(media.currentTime));
    media.addEventListener("pause", () => media.ended || tell(media.currentTime));
    media.addEventListener("ended", () => {
      tell(0);
      if ("done" in media.dataset) mark("read", [entry]);
    });
    for (const button of box.querySelectorAll("[data-skip]")) {
      button.onclick = () => (media.currentTime = Math.max(0, media.currentTime + Number(button.dataset.skip)));
    }
  }
}

prepare();
document.addEventListener("tidings:swapped", prepare);
