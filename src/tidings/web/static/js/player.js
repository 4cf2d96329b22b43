// Audio and video: resume at the stored position, play at the account's speed, skip thirty seconds.
import { base, mark, post } from "./marks.js";
import { beforeLeaving } from "./tidings.js";

const INTERVAL_S = 10;
const SEEK_PAUSE_MS = 800;
const root = document.documentElement.dataset;

function prepare() {
  for (const box of document.querySelectorAll(".player:not(.is-ready)")) {
    box.classList.add("is-ready");
    const media = box.querySelector("audio, video");
    const { enclosure, at, entry } = media.dataset;
    const speed = box.querySelector("select");
    let [start, sent, timer] = [Number(at), Number(at), 0];
    const savePosition = (position) => {
      const seconds = Math.floor(position);
      if (seconds === sent) return;
      sent = seconds;
      post(`${base}/enclosures/${enclosure}/position`, { position: seconds });
    };
    media.keep = () => media.readyState && !media.ended && savePosition(media.currentTime);
    const rate = speed ? [...speed.options].find((one) => Number(one.value) === Number(root.rate)) : null;
    if (rate) rate.selected = true;
    media.defaultPlaybackRate = media.playbackRate = Number(root.rate) || 1;
    if (speed) speed.onchange = () => (media.playbackRate = Number(speed.value));
    media.addEventListener("loadedmetadata", () => {
      if (start > 0 && start < media.duration - 5) media.currentTime = start;
    });
    media.addEventListener("timeupdate", () => Math.abs(media.currentTime - sent) >= INTERVAL_S && !media.paused && media.keep());
    media.addEventListener("pause", media.keep);
    // After seeking while paused: save when the user has stopped seeking.
    media.addEventListener("seeked", () => {
      clearTimeout(timer);
      if (media.paused) timer = setTimeout(media.keep, SEEK_PAUSE_MS);
    });
    media.addEventListener("ended", () => {
      savePosition(0);
      if ("done" in media.dataset) mark("read", [entry]);
    });
    for (const button of box.querySelectorAll("[data-skip]")) {
      button.onclick = () => {
        const to = Math.max(0, (media.readyState ? media.currentTime : start) + Number(button.dataset.skip));
        // Before the media is loaded, change the start position.
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
