// The search of the site: a function of the entries ([address, title, heading, text, section]) and of words.
export function find(entries, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const stem = (word) => (word.length > 4 ? word.replace(/(?:ies|es|s|ing|ed)$/, '') : word);
  const of_section = { Tutorial: 3, 'How-to': 4, Concepts: 4, Operations: 3, Reference: 2, More: 2 };
  const scored = [];
  for (const [address, title, heading, body, section] of entries) {
    const low = [title.toLowerCase(), heading.toLowerCase(), body.toLowerCase()];
    let score = of_section[section] ?? 0;
    for (const word of words.map(stem)) {
      const places = low.map((one) => one.search(new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[^\p{L}\p{N}]/gu, '\\$&')}`, 'u')));
      if (places.every((place) => place < 0)) { score = 0; break; }
      if (places[0] >= 0) score += heading === title ? 24 : 9;
      if (places[1] >= 0) score += 14;
      if (places[2] >= 0) score += 3;
    }
    if (score) scored.push({ score, address, title, heading, body });
  }
  return scored.sort((a, b) => b.score - a.score).slice(0, 30);
}
