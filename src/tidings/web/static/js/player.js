// Audio and video: resume at the stored position, play at the account's speed, skip, and go on in a bar at the foot.
//
// What was started last is in the bar until it is closed. When its article leaves the page, the element moves into the
// bar, and back when the article returns: an element that moves at once goes on playing. Another page takes over what
// the tab's sessionStorage says.
import { base, byId, find, findAll, words } from "./page.js";
import { mark, post } from "./marks.js";
import { announce, beforeLeaving, load, replace } from "./tidings.js";

const INTERVAL_S = 10;
const SEEK_PAUSE_MS = 800;
const STORAGE_KEY = `tidings:playing${base}`;
const root = document.documentElement.dataset;
const template = byId("player-bar");
let bar = null;
let current = null;
// Ids of enclosures that could not be played. They stay in the queue and are passed over: perhaps they play tomorrow.
const broken = new Set();
const part = (selector) => bar.querySelector(selector);

const clock = (seconds) => {
  const [h, m, s] = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((one) => String(Math.floor(one)));
  return `${h > 0 ? `${h}:${m.padStart(2, 0)}` : m}:${s.padStart(2, 0)}`;
};

// Before the media is loaded, its start changes.
const position = (media) => (media.readyState ? media.currentTime : media.start);

export function seek(media, to) {
  if (media.readyState) media.currentTime = Math.max(0, to);
  else media.start = Math.max(0, to);
  paint(media.closest(".player"), media);
  update();
}

// The starts of the chapters that the article lists, as marks on the line of its recording.
export function takeChapters() {
  const media = find("#pane .player :is(audio, video)");
  const starts = findAll("#pane .timed:not(.transcript) [data-at]").map((one) => one.dataset.at);
  if (!media || !starts.length) return;
  media.dataset.chapters = starts.join(" ");
  paint(media.closest(".player"), media);
  update();
}

// What a media element plays may change later (`take`): its data is read when it is needed.
function connect(media, rate) {
  let timer = 0;
  const savePosition = (to) => {
    const seconds = Math.floor(to);
    if (seconds === media.sent) return;
    media.sent = seconds;
    // Without a connection the next position is sent instead.
    post(`${base}/enclosures/${media.dataset.enclosure}/position`, { position: seconds }, null, null);
  };
  media.start = media.sent = Number(media.dataset.at);
  media.keep = () => media.readyState && !media.ended && savePosition(media.currentTime);
  media.defaultPlaybackRate = media.playbackRate = rate;
  const goToStart = () => {
    if (media.start > 0 && media.start < media.duration - 5) media.currentTime = media.start;
  };
  media.addEventListener("loadedmetadata", goToStart);
  media.addEventListener(
    "timeupdate",
    () => Math.abs(media.currentTime - media.sent) >= INTERVAL_S && !media.paused && media.keep(),
  );
  media.addEventListener("pause", media.keep);
  // After seeking while paused: save when the user has stopped seeking.
  media.addEventListener("seeked", () => {
    clearTimeout(timer);
    if (media.paused) timer = setTimeout(media.keep, SEEK_PAUSE_MS);
  });
  media.addEventListener("error", () => {
    const { enclosure, title, failed } = media.dataset;
    announce(`${title}: ${failed}`);
    broken.add(enclosure);
    if (media.follows && !media.currentTime) playNext(enclosure);
  });
  media.addEventListener("play", () => {
    if (media.dataset.offer) accept(media);
    show(media);
  });
  media.addEventListener("ended", () => {
    const { enclosure, entry } = media.dataset;
    savePosition(0);
    if ("done" in media.dataset) mark("read", [entry]);
    post(`${base}/queue`, { remove: enclosure }).then(() => playNext(enclosure));
  });
  for (const name of ["timeupdate", "play", "pause", "ended", "ratechange", "durationchange"])
    media.addEventListener(name, update);
  // Started before this script was loaded.
  if (media.readyState) goToStart();
  if (!media.paused) show(media);
}

// Controls beside the media: in its article, or in the bar.
function control(box, media) {
  const speed = box.querySelector("select");
  // For what the element plays next, too.
  if (speed) speed.onchange = () => (media().defaultPlaybackRate = media().playbackRate = Number(speed.value));
  for (const button of box.querySelectorAll("[data-skip]")) {
    button.onclick = () => seek(media(), position(media()) + Number(button.dataset.skip));
  }
  const play = box.querySelector("[data-play]");
  if (play)
    play.onclick = () =>
      media().paused
        ? media()
            .play()
            .catch(() => {})
        : media().pause();
  const line = box.querySelector(".scrub input");
  if (line) line.oninput = () => seek(media(), Number(line.value));
}

// Episodes name pictures that are gone.
function hideIfMissing(picture) {
  if (!picture) return;
  const hide = () => (picture.hidden = true);
  if (picture.complete && picture.src && !picture.naturalWidth) hide();
  picture.onerror = hide;
}

function prepare() {
  for (const button of findAll("[data-start][hidden]")) button.hidden = false;
  for (const box of findAll(".player")) {
    const isNew = !box.classList.contains("is-ready");
    box.classList.add("is-ready");
    let media = box.querySelector("audio, video");
    if (current?.dataset.enclosure === media.dataset.enclosure) {
      if (current !== media) media.replaceWith(current);
      media = current;
    } else if (isNew) {
      connect(media, Number(root.rate) || 1);
      // Links to a place in a recording, from the page of its chapters.
      const place = new URLSearchParams(location.search).get("t");
      if (place > 0) seek(media, Number(place));
    }
    // Sounds have controls of our own; videos those of the browser, which has more of them.
    media.controls = media.localName === "video";
    hideIfMissing(box.querySelector(".artwork"));
    control(box, () => box.querySelector("audio, video"));
    paint(box, media);
  }
  takeChapters();
  if (current && !current.isConnected) {
    current.controls = false;
    part(".screen").append(current);
  }
}

function showRate(box, media) {
  const options = [...(box?.querySelectorAll("option") ?? [])];
  const rate = options.find((one) => Number(one.value) === media.playbackRate);
  if (rate) rate.selected = true;
  // A speed of the settings that is not among the usual ones.
  else options[0]?.after(new Option(`${media.playbackRate} ×`, media.playbackRate, true, true));
}

function show(media) {
  if (media === current) return;
  if (current) close();
  current = media;
  if (!bar) {
    bar = template.content.firstElementChild;
    template.after(bar);
    control(bar, () => current);
    part("[data-close]").onclick = close;
    hideIfMissing(part(".artwork"));
  }
  bar.hidden = false;
  root.playing = "";
  showName();
  update();
}

function showName() {
  const { title, url, dir, offer } = current.dataset;
  const art = current.poster || current.dataset.art;
  Object.assign(part("a"), { textContent: offer ?? title, href: url, dir });
  part(".artwork").hidden = !art;
  if (art) part(".artwork").src = art;
  if (navigator.mediaSession) tellSystem(title, art);
}

// Headphones, keyboards and lock screens skip as the buttons do.
function tellSystem(title, art) {
  navigator.mediaSession.metadata = new MediaMetadata({ title, artwork: art ? [{ src: art }] : [] });
  for (const button of bar.querySelectorAll("[data-skip]")) {
    const action = Number(button.dataset.skip) < 0 ? "seekbackward" : "seekforward";
    navigator.mediaSession.setActionHandler(action, () => current && button.click());
  }
}

function close() {
  current.pause();
  current.keep();
  part(".screen").replaceChildren();
  current = null;
  bar.hidden = true;
  delete root.playing;
}

// Show on controls where a recording is, in its article or in the bar.
function paint(box, media) {
  if (!box) return;
  const { duration, paused } = media;
  const at = position(media);
  const isKnown = duration > 0 && duration < Infinity;
  const button = box.querySelector("[data-play]");
  if (button) {
    button.title = button.dataset[paused ? "play" : "pause"];
    button.querySelector("use").setAttribute("href", paused ? "#i-play" : "#i-pause");
  }
  box.classList.toggle("is-started", !paused || at > 0);
  const time = box.querySelector(".time");
  if (time) time.textContent = isKnown ? `${clock(at)} / ${clock(duration)}` : clock(at);
  const line = box.querySelector(".scrub input");
  if (line) {
    line.disabled = !isKnown;
    line.max = isKnown ? duration : 1;
    line.value = isKnown ? at : 0;
    line.setAttribute("aria-valuetext", clock(at));
    line.style.setProperty("--at", isKnown ? at / duration : 0);
    showChapters(box.querySelector(".ticks"), isKnown ? media : null);
  }
  showRate(box, media);
}

function showChapters(ticks, media) {
  const starts = media?.dataset.chapters ?? "";
  const known = `${starts}/${media?.duration}`;
  if (ticks.dataset.of === known) return;
  ticks.dataset.of = known;
  const places = starts.split(" ").filter((at) => at > 0 && at < media.duration);
  ticks.replaceChildren(
    ...places.map((at) => {
      const tick = document.createElement("b");
      tick.style.setProperty("--at", at / media.duration);
      return tick;
    }),
  );
}

function update() {
  if (!current) return;
  paint(bar, current);
  paint(current.closest(".player"), current);
  const detail = { entry: current.dataset.entry, at: position(current) };
  document.dispatchEvent(new CustomEvent("tidings:playing", { detail }));
}

beforeLeaving(() => {
  for (const media of [...findAll(".player :is(audio, video)"), current]) media?.keep();
  if (!current) return sessionStorage.removeItem(STORAGE_KEY);
  const { src, localName, paused, playbackRate } = current;
  const data = { ...current.dataset, at: Math.floor(position(current)) };
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ user: words.user, data, src, localName, paused, playbackRate }));
});

// Go on with what another page of this tab was playing. A browser that does not allow that yet leaves it to the user.
function resume() {
  const before = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "null");
  if (before?.user !== words.user) return;
  const media = create(before.localName, before.src, before.data, before.playbackRate);
  show(media);
  if (!before.paused && !media.ended) media.play().catch(() => {});
}

function create(kind, src, data, rate) {
  const media = document.createElement(kind);
  Object.assign(media.dataset, data);
  media.preload = "none";
  media.src = src;
  connect(media, rate);
  return media;
}

// Give the current element another recording. Phones let an element play that the user has started once, and no other.
function take(src, data) {
  current.keep();
  // Its article gets an element of its own again.
  const box = current.closest(".player");
  if (box) {
    const { localName, poster, dataset } = current;
    const own = { ...dataset, at: current.ended ? 0 : Math.floor(position(current)) };
    const left = create(localName, current.src, own, Number(root.rate) || 1);
    if (poster) left.poster = poster;
    left.controls = current.controls;
    current.replaceWith(left);
    paint(box, left);
  }
  for (const name of Object.keys(current.dataset)) delete current.dataset[name];
  Object.assign(current.dataset, data);
  current.removeAttribute("poster");
  current.preload = "none";
  current.src = src;
  current.start = current.sent = Number(data.at);
  showName();
  prepare();
  update();
}

// row: of the queue, which has what its article would have. What it offers does not play yet.
function choose(row) {
  const { kind, src, ...data } = row.dataset;
  if (current?.localName === kind) return take(src, data);
  show(create(kind, src, data, Number(root.rate) || 1));
  prepare();
}

function accept(media) {
  delete media.dataset.offer;
  if (media === current) showName();
}

// follows: whether it was not the user who chose it.
function start(row, follows = false) {
  if (current?.dataset.enclosure !== row.dataset.enclosure) choose(row);
  accept(current);
  current.follows = follows;
  current.play().catch(() => {});
}

// The queue is on the server: another device may have changed it.
async function playNext(enclosure) {
  const { page } = await load(`${base}/queue?after=${enclosure}`).catch(() => ({}));
  const rows = [...(page?.querySelectorAll(".queue [data-src]") ?? [])];
  const next = rows.find((row) => !broken.has(row.dataset.enclosure));
  if (byId("queue") && page) replace(page, ["queue"]);
  if (next) (next.dataset.offer ? choose : start)(next, true);
}

document.addEventListener("click", (event) => {
  const row = event.target.closest?.("[data-start]")?.closest("li");
  if (row) start(row);
});

resume();
prepare();
document.addEventListener("tidings:swapped", prepare);
