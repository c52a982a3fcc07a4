// The search of the site, in the place of Fuse.js, which finds *stream* for *beam*: prefix match on every query word, but for those of
// a question. First comes a title or heading that is the query, then headings with these words, the shortest first, then pages and text.
window.Fuse = class {
  constructor(entries) { this.entries = [...entries]; }
  add(entry) { this.entries.push(entry); }
  search(query, {limit}) {
    const question = 'a an are can do does how i in is it my of the to what when where which why'.split(' ');
    const split = s => s.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    const terms = s => split(s).every(w => question.includes(w)) ? split(s) : split(s).filter(w => !question.includes(w));
    const words = terms(query);
    const begins = words.map(w => new RegExp(`(?<![\\p{L}\\p{N}])${w}`, 'iu'));
    const has = s => words.length > 0 && begins.every(o => o.test(s));
    const rank = ({title, section, text}) => {
      const head = section || title, place = `${title} ${section}`;
      return [[split(query).join(), words.join()].includes(split(head).join()), has(head), has(place), has(`${place} ${text}`)].indexOf(true);
    };
    const found = this.entries.map(item => ({item, rank: rank(item)})).filter(o => o.rank >= 0);
    const length = ({item, rank}) => rank === 1 ? (item.section || item.title).length : 0;
    return found.sort((a, b) => a.rank - b.rank || length(a) - length(b)).slice(0, limit);
  }
};
