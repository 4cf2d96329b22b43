// Sounds and films: they go on where somebody stopped, at the speed of the account, thirty seconds to and fro.
import { base, mark, post } from "./marks.js";
import { beforeLeaving } from "./tidings.js";

const EVERY_S = 10;
const RESTS_MS = 800;
const root = document.documentElement.dataset;

function prepare() {
  for (const box of document.querySelectorAll(".player:not(.is-ready)")) {
    box.classList.add("is-ready");
    const media = box.querySelector("audio, video");
    const { enclosure, at, entry } = media.dataset;
    const speed = box.querySelector("select");
    let [start, told, timer] = [Number(at), Number(at), 0];
    const tell = (position) => {
      const seconds = Math.floor(position);
      if (seconds === told) return;
      told = seconds;
      post(`${base}/enclosures/${enclosure}/position`, { position: seconds });
    };
    media.keep = () => media.readyState && !media.ended && tell(media.currentTime);
    const rate = speed ? [...speed.options].find((one) => Number(one.value) === Number(root.rate)) : null;
    if (rate) rate.selected = true;
    media.defaultPlaybackRate = media.playbackRate = Number(root.rate) || 1;
    if (speed) speed.onchange = () => (media.playbackRate = Number(speed.value));
    media.addEventListener("loadedmetadata", () => {
      if (start > 0 && start < media.duration - 5) media.currentTime = start;
    });
    media.addEventListener("timeupdate", () => Math.abs(media.currentTime - told) >= EVERY_S && !media.paused && media.keep());
    media.addEventListener("pause", media.keep);
    // Moved while it stands still: when the hand rests.
    media.addEventListener("seeked", () => {
      clearTimeout(timer);
      if (media.paused) timer = setTimeout(media.keep, RESTS_MS);
    });
    media.addEventListener("ended", () => {
      tell(0);
      if ("done" in media.dataset) mark("read", [entry]);
    });
    for (const button of box.querySelectorAll("[data-skip]")) {
      button.onclick = () => {
        const to = Math.max(0, (media.readyState ? media.currentTime : start) + Number(button.dataset.skip));
        // Nothing of it is loaded yet: then that is where it begins.
        if (media.readyState) media.currentTime = to;
        else start = to;
      };
    }
  }
}

beforeLeaving(() => {
  for (const media of document.querySelectorAll(".player audio, .player video")) media.keep();
});
prepare();
document.addEventListener("tidings:swapped", prepare);
