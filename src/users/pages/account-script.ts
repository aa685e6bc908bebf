/**
 * What runs in the browser behind a link from a mail or the terminal. It is text, because the server is one file and
 * reads nothing beside it. The page says all there is to say, in sections of which one at a time is visible; the script
 * only chooses, sends and fills in. Nothing is ever put into the page as markup.
 *
 * States, by the value of data-state: working, no-link, bad-link, stuck, form, done.
 */
export const ACCOUNT_SCRIPT = String.raw`'use strict';
(function () {
  const SLOW_MS = 30000;
  const form = document.querySelector('form');
  const problem = document.getElementById('problem');
  const states = [...document.querySelectorAll('[data-state]')];
  const token = takeToken();
  let busy = false;

  // Whoever opens another link in the same tab only changes the fragment.
  addEventListener('hashchange', function () {
    if (tokenInAddress() !== null) location.reload();
  });
  form.addEventListener('submit', function (event) {
    event.preventDefault();
    once(submit);
  });
  document.getElementById('again').addEventListener('click', function () {
    once(begin);
  });
  const reveal = document.getElementById('reveal');
  if (reveal !== null) reveal.addEventListener('change', function () {
    for (const input of passwords()) input.type = reveal.checked ? 'text' : 'password';
  });
  once(begin);

  function tokenInAddress() {
    return new URLSearchParams(location.hash.slice(1)).get('token') || null;
  }

  // Out of the address bar at once: it is not to be bookmarked, shared or seen over a shoulder.
  function takeToken() {
    const found = tokenInAddress();
    if (location.hash !== '') history.replaceState(null, '', location.pathname);
    return found;
  }

  async function once(work) {
    if (busy) return;
    busy = true;
    try {
      await work();
    } finally {
      busy = false;
    }
  }

  async function begin() {
    tell([]);
    if (token === null) return show('no-link');
    if (form.dataset.lookup === undefined) return show('form');
    show('working');
    const answer = await send(form.dataset.lookup, form.dataset.lookupType, {});
    if (answer.data !== undefined) {
      fill(answer.data.attributes);
      show('form');
    } else if (answer.isBadLink) show('bad-link', true);
    else {
      show('stuck');
      tell(answer.problems);
    }
  }

  async function submit() {
    tell([]);
    const found = passwordProblem();
    if (found !== null) return tell([found.text], found.input);
    const button = form.querySelector('button');
    const label = button.textContent;
    button.setAttribute('aria-disabled', 'true');
    button.textContent = form.dataset.busy;
    const answer = await send(form.dataset.path, form.dataset.type, values());
    button.removeAttribute('aria-disabled');
    button.textContent = label;
    if (answer.data !== undefined) {
      fill(answer.data.attributes);
      finish(answer.meta);
    } else if (answer.isBadLink) show('bad-link', true);
    else if (answer.isCodeWanted) askForCode();
    else tell(answer.problems, inputNamed(answer.member));
  }

  function askForCode() {
    const input = inputNamed('totp');
    const isWrong = input.value.trim() !== '';
    form.querySelector('[data-code]').hidden = false;
    tell([isWrong
      ? 'This code is wrong, or was used already. Type the one that the app shows now, or another recovery code.'
      : 'This account has a second factor. Type the code that its app shows, or one of the recovery codes.'], input);
  }

  function finish(meta) {
    const mustEnrol = Boolean(meta && meta.session && meta.session.totp_enrollment_required);
    for (const note of document.querySelectorAll('[data-must-enrol]')) note.hidden = !mustEnrol;
    show('done', true);
    // The passwords leave the page with it.
    form.remove();
  }

  function passwords() {
    return [...form.querySelectorAll('[data-password]')];
  }

  function passwordProblem() {
    const [password, repeated] = passwords();
    if (password === undefined) return null;
    const shortest = Number(form.dataset.shortest);
    const length = [...password.value].length;
    if (length === 0) return { input: password, text: 'Choose a password.' };
    if (length < shortest) {
      return { input: password, text: 'The password must have at least ' + shortest + ' characters; this one has ' + length + '.' };
    }
    if (repeated.value === '') return { input: repeated, text: 'Type the password a second time.' };
    if (repeated.value !== password.value) return { input: repeated, text: 'The two passwords differ. Type the same one twice.' };
    return null;
  }

  function values() {
    const found = {};
    for (const input of form.querySelectorAll('[data-send]')) {
      const value = input.name === 'password' ? input.value : input.value.trim();
      if (value !== '') found[input.name] = value;
    }
    return found;
  }

  function inputNamed(name) {
    return name === undefined ? null : form.querySelector('[data-send][name="' + name + '"]');
  }

  // Either { data, meta } or { problems, member, isBadLink, isCodeWanted }.
  async function send(path, type, attributes) {
    let response;
    let body = null;
    try {
      response = await window.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ data: { type: type, attributes: Object.assign({ token: token }, attributes) } }),
        credentials: 'same-origin',
        referrerPolicy: 'no-referrer',
        cache: 'no-store',
        redirect: 'error',
        signal: AbortSignal.timeout(SLOW_MS),
      });
      body = await response.json().catch(function (error) {
        // No JSON: what stands between here and the server has answered. Anything else is a broken connection.
        if (error instanceof SyntaxError) return null;
        throw error;
      });
    } catch {
      return { problems: ['The server could not be reached. Check the connection, then try again.'], isBadLink: false };
    }
    if (response.ok && body !== null && body.data) return { data: body.data, meta: body.meta };
    return refusal(response.status, body !== null && Array.isArray(body.errors) ? body.errors.map(String) : []);
  }

  function refusal(status, errors) {
    const members = errors.map(function (text) {
      return (/^data\.attributes\.(\w+)/.exec(text) || [])[1];
    });
    const isBadLink = (status === 404 && errors.length > 0) || members.includes('token');
    const problems = errors.map(readable);
    if (problems.length === 0) problems.push('The server answered with status ' + status + ' and no explanation.');
    if (status >= 500) problems.push('This is not your mistake. Try again in a few minutes.');
    // Without credentials there is nothing else to be refused so.
    const isCodeWanted = status === 401 && inputNamed('totp') !== null;
    return { problems: problems, member: members[0], isBadLink: isBadLink, isCodeWanted: isCodeWanted };
  }

  // What the interface says about a member, for somebody who sees a field.
  function readable(text) {
    const said = text.replace(/^data\.attributes\.(\w+)/, 'The $1');
    return /[.!?]$/.test(said) ? said : said + '.';
  }

  function tell(texts, input) {
    for (const marked of form.querySelectorAll('[aria-invalid]')) {
      marked.removeAttribute('aria-invalid');
      marked.removeAttribute('aria-errormessage');
    }
    problem.replaceChildren(...texts.map(function (text) {
      const line = document.createElement('p');
      line.textContent = text;
      return line;
    }));
    if (!input) return;
    input.setAttribute('aria-invalid', 'true');
    input.setAttribute('aria-errormessage', 'problem');
    input.focus();
  }

  function fill(attributes) {
    for (const slot of document.querySelectorAll('[data-fill]')) {
      const value = attributes[slot.dataset.fill];
      if (value === undefined) continue;
      if (slot instanceof HTMLInputElement) slot.value = value;
      else slot.textContent = value;
    }
  }

  // The focus moves only after something that the person did, or when it is bad news.
  function show(name, isNews) {
    for (const part of states) part.hidden = part.dataset.state !== name;
    const heading = document.querySelector('[data-state="' + name + '"] h2');
    if (isNews && heading !== null) heading.focus();
  }
})();
`
