/// The page's style sheet.
///
/// Text has a contrast of at least 4.5 : 1 in both schemes; logs are dark in both, because programs choose their
/// colours for dark terminals.
enum HTMLStyle {
    static let sheet = """
        :root{--bg:#fff;--soft:#f6f8fa;--line:#d8dee4;--fg:#1f2328;--quiet:#59636e;--link:#0969da;
        --red:#cf222e;--green:#1a7f37;--amber:#8a5d00;--grey:#59636e;--red-soft:#ffebe9;--green-soft:#e6f6ea;
        --amber-soft:#fff5d6;--grey-soft:#eef1f4;--mark:#ffe58a;
        --mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
        @media (prefers-color-scheme:dark){:root{--bg:#0d1117;--soft:#151b23;--line:#30363d;--fg:#e6edf3;
        --quiet:#9198a1;--link:#58a6ff;--red:#ff7b72;--green:#3fb950;--amber:#d29922;--grey:#9198a1;
        --red-soft:#2a1618;--green-soft:#10231a;--amber-soft:#262013;--grey-soft:#1b2129;--mark:#7a5c00}}
        *{box-sizing:border-box}
        html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
        body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,-apple-system,"Segoe UI",
        Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
        .in,main{max-width:1180px;margin:0 auto;padding:0 20px}
        a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
        :focus-visible{outline:2px solid var(--link);outline-offset:1px;border-radius:3px}
        .skip{position:absolute;left:-99rem}.skip:focus{left:8px;top:8px;background:var(--bg);padding:6px 10px;z-index:2}
        code,pre{font-family:var(--mono);font-size:12px}
        pre{margin:0;white-space:pre-wrap}
        h1,h2,h3,p,ul,ol,dl,dd{margin:0;padding:0}ul,ol{list-style:none}
        h1{font-size:20px;line-height:1.3;font-weight:600}
        h2{font-size:15px;font-weight:600;margin:0 0 8px}h3{font-size:14px;font-weight:600;margin:16px 0 8px}
        h1 .quiet,h3 .quiet{font-weight:400}
        .quiet{color:var(--quiet)}.n{color:var(--quiet);font-weight:400;font-variant-numeric:tabular-nums}
        .all{user-select:all}
        section{margin:28px 0}

        .banner{--v:var(--grey);--vs:var(--grey-soft);background:var(--vs);border-bottom:1px solid var(--line);
        border-top:4px solid var(--v);padding:18px 0 0}
        .is-passed .banner{--v:var(--green);--vs:var(--green-soft)}
        .is-failed .banner,.is-conflict .banner,.is-definitionError .banner,.is-infrastructure .banner{
        --v:var(--red);--vs:var(--red-soft)}
        .is-flaky .banner,.is-needsApproval .banner{--v:var(--amber);--vs:var(--amber-soft)}
        .verdict{display:flex;align-items:center;gap:8px;font-size:15px;font-weight:700;color:var(--v);margin-bottom:4px}
        .verdict .sign{display:grid;place-items:center;width:22px;height:22px;border-radius:50%;background:var(--v);
        color:var(--bg);font-size:13px;line-height:1}
        .title{font-size:15px;margin-top:2px}.reason{margin-top:6px;max-width:90ch;white-space:pre-line}
        nav{margin-top:14px}nav ul{display:flex;flex-wrap:wrap;gap:0 18px}
        nav a{display:block;padding:8px 0 9px;color:var(--fg)}

        .facts{margin:18px 0}
        .facts dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:10px 24px}
        dt{font-size:12px;color:var(--quiet)}

        .sign{display:inline-block;min-width:1em;text-align:center;font-weight:700;color:var(--grey)}
        .sign.c-passed{color:var(--green)}.sign.c-failed,.sign.c-timedOut,.sign.c-infrastructure{color:var(--red)}
        .state{color:var(--quiet)}.s-failed .state,.s-timedOut .state,.s-infrastructure .state,.step-failure .state{
        color:var(--red)}
        .tag{display:inline-block;font-size:12px;line-height:18px;padding:0 6px;border-radius:9px;color:var(--quiet);
        border:1px solid var(--line);font-weight:400;white-space:nowrap}
        .tag.new,.error .tag{color:var(--red);border-color:currentColor}.warning .tag{color:var(--amber);
        border-color:currentColor}

        details>summary{cursor:pointer;list-style:none;padding:7px 10px 7px 28px;position:relative}
        summary::-webkit-details-marker{display:none}
        summary::before{content:"";position:absolute;left:12px;top:14px;border:4px solid transparent;
        border-left:5px solid var(--quiet);border-right:0;transform:translateY(-1px)}
        details[open]>summary::before{transform:rotate(90deg) translateX(-1px)}
        summary:hover{background:var(--soft)}

        .card{border:1px solid var(--line);border-left:3px solid var(--red);border-radius:6px;margin:0 0 8px;
        overflow:hidden}
        .card .message,.card .details,.card .foot{padding:0 12px 8px 28px}
        .place{color:var(--link);margin-left:6px}
        .plain>.rows{margin-top:4px}
        section>.quiet+.rows,section>.quiet+.timeline{margin-top:8px}
        .message{color:var(--fg);font-size:13px}
        .details{color:var(--quiet);max-height:24em;overflow:auto;border-top:1px solid var(--line);
        padding-top:8px!important;background:var(--soft)}
        .foot{padding-top:8px!important}

        .rows{border:1px solid var(--line);border-radius:6px}
        .rows>li{padding:6px 12px;border-top:1px solid var(--line)}.rows>li:first-child{border-top:0}
        .finding pre{margin:6px 0;padding:8px 10px;background:var(--soft);border-radius:4px;max-height:40em;overflow:auto}
        .next{margin-top:2px}
        .command{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:9px 12px;margin:4px 0 12px}
        .command code{font-size:13px}

        .timeline{border:1px solid var(--line);border-radius:6px;padding:4px 0}
        .timeline.long{max-height:70vh;overflow:auto}
        .timeline li,.axis-row{display:grid;grid-template-columns:minmax(120px,24%) 1fr 170px;gap:0 12px;
        align-items:start;padding:0 12px}
        .timeline li{line-height:26px}.why{line-height:1.4}.long li{line-height:22px}.timeline li:hover{background:var(--soft)}
        .long li{font-size:13px}
        .axis-row{color:var(--quiet);border-bottom:1px solid var(--line)}
        .long .axis-row{position:sticky;top:-4px;background:var(--bg);z-index:1}
        .axis text{font-size:11px;fill:var(--quiet)}
        svg{display:block;overflow:hidden}
        .bars,.axis{background-image:linear-gradient(90deg,var(--line) 1px,transparent 1px)}
        .bars{height:100%;min-height:26px;overflow:visible;grid-row:1/span 2;grid-column:2}
        .long .bars{min-height:22px}
        .bars>*{transform:translateY(5px)}.long .bars>*{transform:translateY(3px)}
        .timeline .name{color:var(--fg);display:flex;gap:6px;min-width:0}
        .timeline .name span:last-child{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
        .took{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
        .why{grid-row:2;grid-column:1;padding:0 0 5px 21px;font-size:12px}
        .trend{display:inline-block;vertical-align:middle}.trend .p,.trend .x{fill:var(--green)}.trend .f{fill:var(--red)}.trend .y{fill:var(--amber)}
        rect{fill:var(--grey)}rect.c-passed{fill:var(--green)}
        rect.c-failed,rect.c-timedOut,rect.c-infrastructure{fill:var(--red)}
        .wait{stroke:var(--quiet);stroke-width:1;stroke-dasharray:2 3}
        .legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:12px;margin-top:6px}
        .legend span{display:inline-flex;align-items:center;gap:6px}

        .tools{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:0 0 8px}
        .tools[hidden]{display:none}
        #log-tools{position:sticky;top:0;background:var(--bg);padding:8px 0;margin:0;z-index:1}
        input[type=search],select,button{font:inherit;color:inherit;background:var(--bg);border:1px solid var(--line);
        border-radius:6px;padding:5px 9px;min-height:32px}
        input[type=search]{flex:1 1 200px;max-width:420px}
        button{min-width:34px;cursor:pointer}button:hover{background:var(--soft)}
        .suite,.step{border:1px solid var(--line);border-top-width:0}
        .suite:first-of-type,.step:first-of-type{border-top-width:1px;border-radius:6px 6px 0 0}
        .suite:last-of-type,.step:last-of-type{border-radius:0 0 6px 6px}
        .tests{content-visibility:auto;contain-intrinsic-size:auto 5000px;border-top:1px solid var(--line)}
        .tests+.tests{border:0}
        .t{padding:2px 12px 2px 46px;position:relative}
        .t::before{position:absolute;left:28px;font-weight:700;color:var(--grey);content:"–";content:"–"/"skipped"}
        .t.p::before{color:var(--green);content:"✓";content:"✓"/"passed"}
        .t.f::before{color:var(--red);content:"✗";content:"✗"/"failed"}
        .t.y::before{color:var(--amber);content:"≈";content:"≈"/"flaky"}
        .t.x::before{content:"×";content:"×"/"expected failure"}
        .t i{font-style:normal;color:var(--quiet);font-size:12px;font-variant-numeric:tabular-nums}
        .t p{color:var(--quiet);white-space:pre-wrap;font:12px/1.45 var(--mono)}
        .hits{color:var(--amber);font-weight:600}
        .meta{padding:0 12px 6px 28px}
        .attempt{border-top:1px solid var(--line)}

        .log{background:#0d1117;color:#d1d7e0;font:12px/18px var(--mono);max-height:78vh;overflow:auto;padding:8px 0;tab-size:8;border-top:1px solid var(--line)}
        .excerpt{padding:8px 12px 8px 28px;max-height:45em}
        .excerpt pre{font-size:12px}
        .piece{content-visibility:auto;contain-intrinsic-size:auto 3600px}
        .l{padding:0 12px 0 108px;min-height:18px;white-space:pre-wrap;scroll-margin:60px 0}
        .l:hover{background:#161b22}
        .l>a{float:left;width:96px;margin-left:-102px;text-align:right;color:#848d97;user-select:none;white-space:nowrap;
        padding-right:8px}
        .l>a::before{content:attr(data-t);float:left;padding-left:10px;color:#848d97;font-size:11px}
        .l:target,.l.at{background:#3a2d05}.l:target>a,.l.at>a{color:#fff}
        .gap{background:#2d2305;color:#f0c65c;padding:4px 12px;margin:4px 0}
        ::highlight(found){background:#e3b341;color:#000}
        mark{background:var(--mark);color:inherit}
        footer{padding-top:16px;padding-bottom:40px;font-size:12px}
        [hidden]{display:none!important}

        @media (max-width:640px){
        .in,main{padding:0 14px}h1{font-size:18px}section{margin:22px 0}
        .facts dl{grid-template-columns:1fr;gap:5px}.facts dl>div{display:grid;grid-template-columns:84px 1fr;gap:8px}
        dt{font-size:13px}
        .timeline li{grid-template-columns:1fr auto;padding:4px 12px}.timeline .bars{grid-row:2;grid-column:1/-1;
        height:16px;min-height:0}.why{grid-row:3;grid-column:1/-1;padding:3px 0 2px 21px}.timeline li{line-height:20px}
        .bars>*{transform:none}.long .bars>*{transform:none}
        .axis-row{grid-template-columns:1fr}.axis-row>span{display:none}
        .card .message,.card .details,.card .foot,.meta{padding-left:12px}
        .log{font-size:11px;line-height:16px}.excerpt{padding-left:12px}
        .l{padding:0 8px 0 44px;min-height:16px}.l>a{width:38px;margin-left:-42px;padding-right:4px}
        .l>a::before{content:none}.l:target>a::before{content:none}
        nav ul{gap:0 14px}.t{padding-left:30px}.t::before{left:12px}}
        @media print{:root{--bg:#fff;--soft:#f6f8fa;--fg:#000;--quiet:#444;--line:#bbb;--red:#b00;--green:#060;
        --amber:#640;--grey:#444;--red-soft:#fff;--green-soft:#fff;--amber-soft:#fff;--grey-soft:#fff}
        nav,.tools,.skip{display:none!important}.log,.timeline.long,.details,.finding pre{max-height:none;overflow:visible}
        .log,.log span,.gap{background:none!important;color:#000!important}.piece,.tests{content-visibility:visible}
        .card,.timeline li,.rows>li{break-inside:avoid}rect{print-color-adjust:exact}}
        @media (prefers-reduced-motion:no-preference){html{scroll-behavior:auto}}

        """
}
