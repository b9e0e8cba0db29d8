/// The page's only script, which finds tests and lines. Without it, the page shows the same content.
///
/// It contains nothing of a report, so its digest is a constant in the page's policy. A browser refuses every other
/// script, wherever it comes from. A test compares ``hash`` with ``source``.
enum HTMLScript {
    /// The SHA-256 of ``source`` in the form of a `script-src` directive.
    static let hash = "sha256-Uf6oaAFCJzt0gH+pOa6eUtL3KEr11R2Ie6i/fmT+15w="

    static let source = """
        (() => {
        'use strict';
        const $ = (id) => document.getElementById(id);
        const all = (root, query) => Array.from(root.querySelectorAll(query));
        const number = (n) => n.toLocaleString('en-US');
        const later = (wait, run) => { let timer; return () => { clearTimeout(timer); timer = setTimeout(run, wait); }; };

        // A link to a line or a step opens what it is in.
        const reveal = (element) => {
          for (let e = element; e; e = e.parentElement) if (e.tagName === 'DETAILS' && !e.open) { e.open = true; e.dataset.seen = '1'; }
        };
        const follow = () => {
          const target = location.hash.length > 1 && $(decodeURIComponent(location.hash.slice(1)));
          if (!target) return;
          reveal(target);
          // Twice: what comes into sight only then gets its real height.
          const show = () => target.scrollIntoView({ block: target.className === 'l' ? 'center' : 'start' });
          show();
          requestAnimationFrame(() => requestAnimationFrame(show));
        };
        // The end of a log is what one wants to read.
        document.addEventListener('toggle', (event) => {
          const details = event.target;
          if (!details.open || details.dataset.seen) return;
          details.dataset.seen = '1';
          for (const log of all(details, '.log')) log.scrollTop = log.scrollHeight;
        }, true);
        for (const log of all(document, 'details[open] > .log')) log.scrollTop = log.scrollHeight;
        addEventListener('hashchange', follow);
        addEventListener('load', follow);

        for (const time of all(document, 'time')) {
          const date = new Date(time.dateTime);
          if (!isNaN(date)) time.title = date.toLocaleString() + ' here';
        }

        // Tests
        const testTools = $('test-tools');
        if (testTools) {
          testTools.hidden = false;
          let suites;
          const read = () => suites = all($('tests'), '.suite').map((element) => ({
            element, name: element.querySelector('b').textContent.toLowerCase(), wasOpen: element.open,
            tests: all(element, '.t').map((e) => ({ e, text: e.textContent.toLowerCase(), state: e.classList[1] })),
          }));
          const filter = () => {
            suites ||= read();
            const query = $('test-query').value.trim().toLowerCase(), state = $('test-state').value;
            const filters = query !== '' || state !== '';
            let found = 0, total = 0;
            for (const suite of suites) {
              let inSuite = 0;
              const byName = suite.name.includes(query);
              for (const test of suite.tests) {
                const shown = (state === '' || test.state === state) && (byName || test.text.includes(query));
                if (test.e.hidden === shown) test.e.hidden = !shown;
                if (shown) inSuite++;
              }
              suite.element.hidden = inSuite === 0;
              found += inSuite; total += suite.tests.length;
              suite.found = inSuite;
            }
            for (const suite of suites) suite.element.open = filters && suite.found > 0 && found <= 500;
            $('test-found').textContent = filters ? number(found) + ' of ' + number(total) : '';
          };
          $('test-query').addEventListener('input', later(120, filter));
          $('test-state').addEventListener('change', filter);
        }

        // Logs
        const logTools = $('log-tools');
        if (logTools && document.querySelector('#logs .l')) {
          logTools.hidden = false;
          let steps, matches = [], current = -1;
          const read = () => steps = all($('logs'), '.step').map((element) => ({
            element, hits: element.querySelector('.hits'),
            lines: all(element, '.l').map((e) => ({ e, text: e.textContent.slice(e.firstChild.textContent.length).toLowerCase() })),
          }));
          const paint = (query) => {
            if (!window.CSS || !CSS.highlights) return;
            CSS.highlights.delete('found');
            if (query === '') return;
            const ranges = [];
            // Far more than one can look at would only make the page slow.
            for (const line of matches.slice(0, 5000)) {
              const nodes = [];
              let text = '';
              const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
              for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                if (node.parentNode === line.firstChild) continue;
                nodes.push([node, text.length]);
                text += node.data;
              }
              text = text.toLowerCase();
              const place = (at) => {
                for (let i = nodes.length - 1; i >= 0; i--) {
                  if (nodes[i][1] <= at) return [nodes[i][0], Math.min(at - nodes[i][1], nodes[i][0].length)];
                }
              };
              for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
                const range = new Range();
                range.setStart(...place(at));
                range.setEnd(...place(at + query.length));
                ranges.push(range);
              }
            }
            CSS.highlights.set('found', new Highlight(...ranges));
          };
          const say = () => {
            const n = matches.length;
            $('log-found').textContent = $('log-query').value === '' ? ''
              : n === 0 ? 'no line' : (current >= 0 ? number(current + 1) + ' of ' : '') + number(n) + (n === 1 ? ' line' : ' lines');
          };
          const search = () => {
            steps ||= read();
            const query = $('log-query').value.toLowerCase(), only = $('log-only').checked && query !== '';
            for (const line of document.querySelectorAll('.l.at')) line.classList.remove('at');
            matches = []; current = -1;
            for (const step of steps) {
              let n = 0;
              for (const line of step.lines) {
                const found = query !== '' && line.text.includes(query);
                if (found) { n++; matches.push(line.e); }
                const hide = only && !found;
                if (line.e.hidden !== hide) line.e.hidden = hide;
              }
              step.hits.textContent = n > 0 ? number(n) + (n === 1 ? ' match' : ' matches') : '';
              step.element.hidden = only && n === 0;
            }
            paint(query);
            say();
          };
          const go = (by) => {
            if (matches.length === 0) return;
            if (current >= 0) matches[current].classList.remove('at');
            current = (current + by + (current < 0 && by < 0 ? 1 : 0) + matches.length) % matches.length;
            const line = matches[current];
            reveal(line);
            line.classList.add('at');
            const show = () => line.scrollIntoView({ block: 'center' });
            show();
            requestAnimationFrame(() => requestAnimationFrame(show));
            say();
          };
          const searchSoon = later(150, search);
          $('log-query').addEventListener('input', searchSoon);
          $('log-only').addEventListener('change', search);
          $('log-query').addEventListener('keydown', (event) => {
            if (event.key === 'Enter') { event.preventDefault(); go(event.shiftKey ? -1 : 1); }
          });
          $('log-next').addEventListener('click', () => go(1));
          $('log-previous').addEventListener('click', () => go(-1));
        }
        })();
        """
}
