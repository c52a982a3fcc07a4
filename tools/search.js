// The search of the site, in the place of Fuse.js, which finds *stream* for *beam*: prefix match on every query word. Results are
// sorted: titles that equal the query, then headings with these words, then pages and text.
window.Fuse = class {
  constructor(entries) { this.entries = [...entries]; }
  add(entry) { this.entries.push(entry); }
  search(query, {limit}) {
    const asked = query.trim().toLowerCase(), words = asked.match(/[\p{L}\p{N}_]+/gu) ?? [];
    const begins = words.map(w => new RegExp(`(?<![\\p{L}\\p{N}])${w}`, 'iu'));
    const has = s => words.length > 0 && begins.every(o => o.test(s));
    const rank = ({title, section, text}) => [(section || title).toLowerCase() === asked, has(section),
      has(`${title} ${section}`), has(`${title} ${section} ${text}`)].indexOf(true);
    const found = this.entries.map(item => ({item, rank: rank(item)})).filter(o => o.rank >= 0);
    return found.sort((a, b) => a.rank - b.rank).slice(0, limit);
  }
};
