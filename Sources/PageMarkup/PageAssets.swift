import Reports

/// The files that pages load. They are constants of this program.
package enum PageAssets {
    /// - Returns: The content and its type; nil for another name.
    package static func file(_ name: String) -> (type: String, text: String)? {
        switch name {
        case "report.css": ("text/css; charset=utf-8", PageParts.sheet)
        case "report.js": ("text/javascript; charset=utf-8", PageParts.script)
        case "site.css": ("text/css; charset=utf-8", style)
        case "site.js": ("text/javascript; charset=utf-8", script)
        case "icon.svg": ("image/svg+xml", icon)
        default: nil
        }
    }

    private static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0969da"/>\
        <path d="M4 8l3 3 5-6" fill="none" stroke="#fff" stroke-width="2"/></svg>
        """

    /// Added to the style sheet of reports.
    private static let style = """
        header.site{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;padding:8px 20px;
        border-bottom:1px solid var(--line);background:var(--soft)}
        header.site nav{margin:0;display:flex;flex-wrap:wrap;gap:0 16px}header.site nav a{padding:6px 0;min-height:24px}
        header.site .home{font-weight:700}header.site form{flex:1 1 160px;max-width:360px}
        header.site input{width:100%;max-width:none}
        main>h1{margin:20px 0 0}main>section{margin:22px 0}
        .banner{margin:0 -20px}
        table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        th{font-weight:600;font-size:12px;color:var(--quiet);text-align:left}
        th,td{padding:6px 10px;border-top:1px solid var(--line);vertical-align:top}
        .scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px}.scroll thead th{border-top:0}
        td code{white-space:nowrap}th,td.n{overflow-wrap:normal}
        .cards{display:grid;gap:8px}.cards>li{border:1px solid var(--line);border-radius:6px;padding:10px 14px}
        .steps{display:grid;grid-template-columns:repeat(auto-fill,minmax(240px,1fr));gap:4px 16px;margin-top:6px}
        .last{color:var(--quiet);display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
        progress{width:100%;max-width:360px;height:8px;accent-color:var(--link)}
        .v{font-weight:600;white-space:nowrap;color:var(--grey)}
        .v-passed,.s-passed{color:var(--green)}
        .v-failed,.v-conflict,.v-definitionError,.v-infrastructure,.s-failed,.s-timedOut,.s-infrastructure{color:var(--red)}
        .v-flaky,.v-needsApproval{color:var(--amber)}.v-live,.s-running{color:var(--link)}
        .spark,.plot{display:inline-block;vertical-align:middle}.plot{width:100%;max-width:600px;height:auto;
        border-bottom:1px solid var(--line)}
        .plot polyline{fill:none;stroke:var(--link);stroke-width:1.5}
        .spark rect{fill:var(--grey)}.spark .b-passed{fill:var(--green)}
        .spark .b-failed,.spark .b-conflict,.spark .b-definitionError,.spark .b-infrastructure{fill:var(--red)}
        .spark .b-flaky{fill:var(--amber)}
        .notice{border-left:3px solid var(--amber);background:var(--amber-soft);padding:8px 12px;margin:6px 0;white-space:pre-line}
        .actions{display:flex;flex-wrap:wrap;gap:8px;margin:12px 0;align-items:center}.actions form{margin:0}
        header.site form[action="/logout"]{flex:0 1 auto;max-width:none;margin-left:auto}.account{margin-left:auto}
        .account,.actions>a{display:inline-block;padding:6px 0;min-height:24px}
        header.site form[action="/logout"] .quiet{margin-right:8px}
        form.login{display:grid;gap:10px;max-width:420px}form.login input{width:100%;max-width:none}
        .filter{display:flex;flex-wrap:wrap;gap:8px;align-items:end;margin-bottom:10px}
        .filter label{display:grid;font-size:12px;color:var(--quiet)}
        input:not([type]),input[type=password]{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);border-radius:6px;
        padding:5px 9px;min-height:32px}
        .links{margin:12px 0}
        main a{text-decoration:underline}main .banner a,main .l>a{text-decoration:none}
        .log{max-height:none}.fold>summary{background:#161b22;color:#d1d7e0;padding:2px 12px 2px 28px}
        .fold>summary:hover{background:#21262d}.fold>summary::before{top:8px;border-left-color:#848d97}
        .fold>summary .n{color:#848d97}.gap a{color:inherit}.l.off{display:none}
        .jump{font-weight:600}.bundle{padding:10px 12px;white-space:pre-wrap}
        .graph{padding:8px;max-height:70vh;overflow:auto}.steps-graph{max-width:none}
        .steps-graph .e{fill:none;stroke:var(--quiet)}.g rect{fill:var(--soft);stroke:var(--grey)}
        .g text{fill:var(--fg);font-size:12px}.g .q{fill:var(--quiet);font-size:11px}.g .i{font-weight:700}
        .g-passed rect{stroke:var(--green)}.g-passed .i{fill:var(--green)}
        .g-failed rect,.g-timedOut rect,.g-infrastructure rect{stroke:var(--red);stroke-width:2}
        .g-failed .i,.g-timedOut .i,.g-infrastructure .i{fill:var(--red)}
        .g-running rect{stroke:var(--link);stroke-width:2}.g-running .i{fill:var(--link)}
        .g-waiting rect,.g-skipped rect{stroke-dasharray:4 3}.steps-graph a:hover rect{fill:var(--grey-soft)}
        .k-done{color:var(--green)}.k-failed{color:var(--red)}.k-waits{color:var(--amber)}.k-underWay{color:var(--link)}
        .lead{font-size:16px;font-weight:600}
        .quote,.diff{background:var(--soft);border-radius:6px;padding:8px 12px;margin:6px 0;white-space:pre-wrap}
        .quote{font:inherit}.decide form[action$="/approve"] button,.decide form[action$="/land"] button{
        background:var(--link);border-color:var(--link);color:var(--bg);font-weight:600}
        .scroll>.diff{margin:0;border-radius:0;white-space:pre}.diff>span{display:inline-block;min-width:100%}
        .d-add{background:var(--green-soft)}.d-del{background:var(--red-soft)}.d-at{color:var(--quiet)}
        .dots,.frames{padding-left:20px}.dots{list-style:disc}.frames{list-style:decimal}
        .way{display:grid;gap:6px}.way>li{padding-left:22px;position:relative}.way .v{position:absolute;left:0}
        .w-done .v{color:var(--green)}.w-failed .v{color:var(--red)}.w-waits .v{color:var(--amber)}.w-underWay .v{color:var(--link)}
        .decide{display:grid;gap:10px;max-width:720px;margin:12px 0}.decide details form{margin:8px 0}
        .entry{display:grid;gap:12px;max-width:720px}.entry label,.decide label{display:grid;gap:4px}
        textarea,input[type=file]{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);
        border-radius:6px;padding:6px 9px;width:100%;min-height:32px}.entry input,.entry select{width:100%;max-width:none}
        .ticks .bars,.ticks .axis{background-image:none}.tick{stroke:var(--line)}rect.c-running{fill:var(--link)}
        @media (max-width:640px){.banner{margin:0 -14px}header.site{padding:8px 14px}
        thead{position:absolute;left:-99rem}tr{display:flex;flex-wrap:wrap;gap:2px 12px;padding:8px 12px;
        border-top:1px solid var(--line)}tbody tr:first-child{border-top:0}td{border:0;padding:0}}
        @media print{header.site,.filter,.actions{display:none}.graph,.scroll{max-height:none;overflow:visible}
        .steps-graph{max-width:100%;height:auto}
        .fold>summary{background:none;color:#000}}

        """

    /// The pages' only script: live updates, the viewer's times, and the key `/`. Without it they show the same.
    private static let script = """
        (() => {
        'use strict';
        const localise = (root) => {
          for (const time of root.querySelectorAll('time[datetime]')) {
            const date = new Date(time.dateTime);
            if (isNaN(date)) continue;
            time.title = time.textContent;
            time.textContent = date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
          }
        };
        localise(document);
        addEventListener('keydown', (event) => {
          if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
          if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
          event.preventDefault();
          document.getElementById('q').focus();
        });
        const state = document.getElementById('live');
        const { live, log, from } = document.body.dataset;
        if (live) {
          const source = new EventSource(live);
          source.onopen = () => { state.textContent = 'live'; };
          source.onerror = () => { state.textContent = 'not connected'; };
          source.addEventListener('section', (event) => {
            const { id, html, after } = JSON.parse(event.data);
            const old = document.getElementById(id);
            // What somebody is typing in, or has the keyboard on, stays.
            if (old && old.contains(document.activeElement) && document.activeElement !== document.body) return;
            const box = document.createElement('template');
            box.innerHTML = html;
            localise(box.content);
            // What somebody has opened stays open.
            if (old) {
              const open = Array.from(old.querySelectorAll('details'), (details) => details.open);
              const next = box.content.querySelectorAll('details');
              if (open.length === next.length) next.forEach((details, place) => { details.open = open[place]; });
            }
            if (old) old.replaceWith(box.content);
            else if (after && document.getElementById(after)) document.getElementById(after).after(box.content);
            else document.getElementById('main').append(box.content);
          });
          source.addEventListener('gone', (event) => document.getElementById(event.data)?.remove());
          source.addEventListener('over', () => { source.close(); location.reload(); });
        }
        // A log: lines are filtered while somebody types; the form finds those that are left out, too.
        const find = document.getElementById('log-q');
        let filter;
        if (find) {
          const shown = document.getElementById('log-hits');
          filter = () => {
            const wanted = find.value.trim().toLowerCase();
            if (!wanted && !filter.isOn) return;
            filter.isOn = wanted !== '';
            let count = 0;
            for (const line of document.querySelectorAll('#log .l')) {
              const has = !wanted || line.textContent.toLowerCase().includes(wanted);
              line.classList.toggle('off', !has);
              if (has) count++;
              if (has && wanted) for (let e = line.parentElement; e.id !== 'log'; e = e.parentElement) e.open = true;
            }
            shown.textContent = wanted ? count.toLocaleString() + ' shown' : '';
          };
          find.addEventListener('input', filter);
          // A link to a line that is left out here.
          const line = /^#L(\\d+)$/.exec(location.hash);
          const all = Number(document.getElementById('log').dataset.lines);
          if (line && !document.getElementById('L' + line[1]) && Number(line[1]) <= all) {
            const address = new URL(location);
            if (address.searchParams.get('from') !== line[1]) {
              address.searchParams.set('from', line[1]);
              location.replace(address);
            }
          }
        }
        if (log) {
          const lines = document.getElementById('log');
          const source = new EventSource(log + (log.includes('?') ? '&' : '?') + 'from=' + from);
          source.onopen = () => { state.textContent = 'live'; };
          source.onerror = () => { state.textContent = 'not connected'; };
          // The rules of colours come once, each on a line of its own.
          const rules = new Set(), sheet = new CSSStyleSheet();
          document.adoptedStyleSheets = [sheet];
          source.addEventListener('colours', (event) => {
            for (const rule of JSON.parse(event.data).split('\\n')) if (rule) rules.add(rule);
            sheet.replaceSync([...rules].join('\\n'));
          });
          const unfinished = document.createElement('div');
          source.addEventListener('lines', (event) => {
            const { html, part } = JSON.parse(event.data);
            const isAtEnd = innerHeight + scrollY >= document.body.scrollHeight - 80;
            unfinished.remove();
            lines.insertAdjacentHTML('beforeend', html);
            // A page with more lines than that makes a browser slow.
            while (lines.childElementCount > 20000) lines.firstElementChild.remove();
            unfinished.innerHTML = part;
            if (part) lines.append(unfinished);
            filter?.();
            if (isAtEnd) scrollTo(0, document.body.scrollHeight);
          });
          source.addEventListener('over', () => {
            source.close();
            unfinished.remove();
            state.innerHTML = 'ended, <a href="">show the whole log</a>';
          });
        }
        })();

        """
}
