// Uploads chosen files in pieces (tus 1.0), then submits the form with their ids. An interrupted piece is retried. A
// file chosen again after a reload resumes at the server's offset. Without this script the form sends whole files.
(() => {
  const PIECE = 8 * 1024 * 1024; // unless the form sets another size
  const LONGEST_WAIT = 30;
  const form = document.querySelector("form[data-uploads]");
  const panel = document.getElementById("sending");
  const [bar, line, stop] = ["progress", "p", "button"].map((name) => panel.querySelector(name));
  const headers = { "Tus-Resumable": "1.0.0", "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  let stopping = null;

  class Refused extends Error {}

  const size = (bytes) => {
    const power = bytes < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
    return `${(bytes / 1024 ** power).toLocaleString(document.documentElement.lang, { maximumFractionDigits: power ? 1 : 0 })} ${["B", "KB", "MB", "GB", "TB"][power]}`;
  };
  const time = (seconds) => {
    const whole = Math.max(1, Math.round(seconds));
    if (whole < 90) return `${whole} s`;
    return whole < 5400 ? `${Math.round(whole / 60)} min` : `${(whole / 3600).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 })} h`;
  };
  const say = (words, parts) => {
    line.textContent = panel.dataset[words].replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  };
  const nameOf = (file) => file.webkitRelativePath || file.name;
  const fingerprintOf = (file) => `${nameOf(file)}:${file.size}:${file.lastModified}`.slice(-300);
  const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

  async function ask(url, options) {
    const answer = await fetch(url, { ...options, headers: { ...headers, ...options.headers }, signal: stopping.signal });
    if (answer.ok) return answer;
    // Errors that a retry may fix are thrown like a lost connection; a rejected file is final.
    if (answer.status >= 500 && answer.status !== 507) throw new Error(answer.statusText);
    const body = await answer.json().catch(() => ({ message: answer.statusText }));
    if ([409, 423, 460].includes(answer.status)) throw new Error(body.message);
    throw new Refused(body.message);
  }

  async function begin(file) {
    const known = await (await ask(form.dataset.uploads, { method: "GET" })).json();
    const same = known.find((upload) => upload.fingerprint === fingerprintOf(file) && upload.size === file.size);
    if (same) return `/api/v1/uploads/${same.id}/`;
    const metadata = `filename ${base64(nameOf(file))},fingerprint ${base64(fingerprintOf(file))}`;
    const made = await ask(form.dataset.uploads, {
      method: "POST",
      headers: { "Upload-Length": String(file.size), "Upload-Metadata": metadata },
    });
    return new URL(made.headers.get("Location")).pathname;
  }

  async function checksum(piece) {
    if (!crypto.subtle) return {}; // needs TLS or localhost
    const digest = await crypto.subtle.digest("SHA-256", await piece.arrayBuffer());
    return { "Upload-Checksum": `sha256 ${btoa(String.fromCharCode(...new Uint8Array(digest)))}` };
  }

  async function pause(seconds) {
    for (let left = seconds; left > 0 && !stopping.signal.aborted; left -= 1) {
      say("waiting", { left: time(left) });
      await new Promise((done) => setTimeout(done, 1000));
    }
  }

  async function send(file, progress) {
    let url = null;
    let offset = null;
    let wait = 1;
    while (offset === null || offset < file.size) {
      try {
        url ??= await begin(file);
        offset ??= Number((await ask(url, { method: "HEAD" })).headers.get("Upload-Offset"));
        progress(offset);
        if (offset === file.size) break;
        const piece = file.slice(offset, offset + Number(form.dataset.piece ?? PIECE));
        const named = { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset) };
        const answer = await ask(url, { method: "PATCH", body: piece, headers: { ...named, ...(await checksum(piece)) } });
        offset = Number(answer.headers.get("Upload-Offset"));
        progress(offset);
        wait = 1;
      } catch (error) {
        if (error instanceof Refused || stopping.signal.aborted) throw error;
        offset = null; // ask the server for it
        await pause(wait);
        wait = Math.min(2 * wait, LONGEST_WAIT);
      }
    }
    return url.split("/").at(-2);
  }

  function shown(files) {
    const all = files.reduce((sum, file) => sum + file.size, 0);
    const began = performance.now();
    let before = 0;
    let first = null;
    return (file) => (offset) => {
      const done = before + offset;
      first ??= done;
      const seconds = (performance.now() - began) / 1000;
      const rate = (done - first) / seconds;
      bar.value = all ? done / all : 1;
      const parts = { file: nameOf(file), done: size(done), all: size(all), rate: size(rate), left: time((all - done) / rate) };
      say(rate > 0 && seconds > 1 ? "sending" : "begun", parts);
      if (offset === file.size) before += file.size;
    };
  }

  async function sendAll(event) {
    const inputs = [form.elements.file, form.elements.folder];
    const files = inputs.flatMap((input) => [...input.files]).filter((file) => !/(^|\/)\./.test(nameOf(file)));
    if (!files.length) return;
    event.preventDefault();
    if (stopping && !stopping.signal.aborted) return;
    stopping = new AbortController();
    const submit = form.querySelector("button.primary");
    submit.disabled = true;
    panel.hidden = stop.hidden = false;
    const progress = shown(files);
    try {
      const ids = [];
      for (const file of files) ids.push(await send(file, progress(file)));
      form.elements.uploads.value = ids.join(",");
      for (const input of inputs) input.disabled = true;
      stop.hidden = true;
      form.submit();
    } catch (error) {
      stop.hidden = true;
      submit.disabled = false;
      say(stopping.signal.aborted ? "cancelled" : "refused", { reason: error.message });
      stopping = null;
    }
  }

  for (const button of document.querySelectorAll("[data-discard]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const answer = await fetch(button.dataset.discard, { method: "DELETE", headers });
      if (answer.ok || answer.status === 404) button.closest("li").remove();
      if (!document.querySelector("[data-discard]")) document.getElementById("unfinished").remove();
    });
  }
  stop.addEventListener("click", () => stopping?.abort());
  form.addEventListener("submit", sendAll);
})();
