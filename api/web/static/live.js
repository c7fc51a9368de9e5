// The overview tells when it has something new: a stream names the version of what it says, and when that is not the
// version on the page, the page asks for itself again. Only while somebody looks: browsers open few streams a site.
"use strict";

const AGAIN_MILLISECONDS = 30000;
let stream = null;
let waiting = 0;

const live = () => document.getElementById("live");
const look = () => live()?.dispatchEvent(new Event("look"));

function open() {
  clearTimeout(waiting);
  if (stream || document.hidden || !live()) return;
  stream = new EventSource("/events");
  stream.addEventListener("version", (event) => {
    if (live() && live().dataset.version !== event.data) look();
  });
  stream.addEventListener("last", (event) => {
    const shown = document.getElementById("last-record");
    if (shown) shown.textContent = event.data;
  });
  stream.addEventListener("error", () => {
    // A stream that broke off is opened again by the browser; one that was refused is not.
    if (!stream || stream.readyState !== EventSource.CLOSED) return;
    close();
    look();
    waiting = setTimeout(open, AGAIN_MILLISECONDS);
  });
}

function close() {
  stream?.close();
  stream = null;
}

document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", open);
open();
