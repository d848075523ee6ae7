// Search, the theme and copying. find.js is put before this text. The page works without this script. It makes no request but for search.js beside it.
'use strict';
(() => {
  const root = document.documentElement;
  const remember = (value) => { try { value ? localStorage.setItem('docs-theme', value) : localStorage.removeItem('docs-theme'); } catch { /* no storage */ } };
  const base = document.currentScript.src.replace(/[^/]*$/, '');

  addEventListener('DOMContentLoaded', () => {
    document.querySelector('#theme').addEventListener('click', () => {
      const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
      root.dataset.theme = dark ? 'light' : 'dark';
      remember(root.dataset.theme);
    });
    for (const block of document.querySelectorAll('figure.code')) {
      const button = document.createElement('button');
      button.className = 'copy';
      button.textContent = 'Copy';
      button.addEventListener('click', async () => {
        // Of a session only the commands.
        const text = block.querySelector('code').textContent;
        const commands = text.startsWith('$ ') ? text.split('\n').reduce((kept, line, at, all) =>
          (line.startsWith('$ ') ? [...kept, line.slice(2)] : all[at - 1]?.endsWith('\\') && kept.length ? [...kept, line] : kept), []).join('\n') : text;
        await navigator.clipboard.writeText(commands);
        button.textContent = 'Copied';
        setTimeout(() => { button.textContent = 'Copy'; }, 1500);
      });
      block.append(button);
    }

    const input = document.querySelector('#search'), list = document.querySelector('#found');
    let entries = null, chosen = -1;
    const load = () => {
      if (entries) return;
      entries = [];
      const script = document.createElement('script');
      script.setAttribute('src', ready(`${base}search.js`));
      script.addEventListener('load', () => { entries = window.pages; show(); });
      document.head.append(script);
    };
    // A server that asks for Trusted Types takes the address of a script only from a policy.
    const policy = window.trustedTypes?.createPolicy('documentation', { createScriptURL: (url) => url });
    const ready = (url) => (policy ? policy.createScriptURL(url) : url);

    const show = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      list.textContent = '';
      chosen = -1;
      list.hidden = !words.length;
      if (!words.length || !entries) return;
      const found = find(entries, input.value).slice(0, 12);
      for (const { address, title, heading, body: text } of found) {
        const item = document.createElement('li'), link = document.createElement('a'), small = document.createElement('small');
        link.href = base + address;
        link.textContent = heading === title ? title : `${title} › ${heading}`;
        const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
        small.textContent = (at ? '…' : '') + text.slice(at, at + 130) + '…';
        link.append(small);
        item.append(link);
        list.append(item);
      }
      if (!found.length) {
        const item = document.createElement('li');
        item.textContent = 'Nothing found. Try fewer or other words.';
        list.append(item);
      }
    };
    input.addEventListener('focus', load);
    input.addEventListener('input', () => { load(); show(); });
    input.addEventListener('keydown', (event) => {
      const links = [...list.querySelectorAll('a')];
      if (event.key === 'Escape') { input.value = ''; show(); }
      if (event.key === 'Enter' && links.length) location.href = links[Math.max(chosen, 0)].href;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        chosen = Math.min(Math.max(chosen + (event.key === 'ArrowDown' ? 1 : -1), 0), links.length - 1);
        links.forEach((link, at) => link.setAttribute('aria-selected', at === chosen));
      }
    });
    addEventListener('keydown', (event) => {
      if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); input.focus(); }
    });
    document.addEventListener('click', (event) => { if (!event.target.closest('.search')) list.hidden = true; });
  });
})();
