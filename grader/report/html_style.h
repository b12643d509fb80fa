#pragma once

namespace rooflab {

/// The style sheet of the HTML report: light and dark, readable on a phone and in print.
inline constexpr const char* kStyleSheet = R"css(
:root{--ink:#1c2126;--paper:#fff;--soft:#5c6670;--line:#dfe3e8;--panel:#f6f7f9;--good:#18794e;--bad:#c0362c;
--todo:#8a6100;--accent:#2f5fd0}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ec;--paper:#14171a;--soft:#9aa5b0;--line:#2c333a;
--panel:#1c2126;--good:#5bc08e;--bad:#ff8177;--todo:#e2b84e;--accent:#8aaaff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .6rem}h3{font-size:1.05rem;margin:2rem 0 .5rem}
h4,h5{font-size:.95rem;margin:1rem 0 .4rem}
a{color:var(--accent)}
.score{font-size:1.3rem;margin:.3rem 0}.facts,.note{color:var(--soft);font-size:.9rem;margin:.3rem 0}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}th{text-align:left;color:var(--soft);font-weight:600;font-size:.85rem}
td,th{padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td.number{text-align:right;font-variant-numeric:tabular-nums}
td.points,td.time{white-space:nowrap}
.timings th,.timings td{font-variant-numeric:tabular-nums}.timings tbody th{color:var(--ink);font-size:1rem}
.timings td small{display:block;color:var(--soft);font-size:.8rem;line-height:1.35}
.timings td .missed{color:var(--todo)}.log td{overflow-wrap:anywhere;font-size:.9rem}
.bar{display:inline-block;width:4.5rem;height:.5rem;background:var(--line);border-radius:.25rem;margin-right:.4rem}
.bar i{display:block;height:100%;background:var(--good);border-radius:.25rem}
.step{white-space:nowrap}
.verdict{color:var(--bad);font-weight:600;white-space:nowrap}.verdict.pass{color:var(--good)}
.verdict.not-implemented,.verdict.not-applicable{color:var(--todo)}
.cases .verdict{font-weight:400;font-size:.85rem;border:1px solid currentColor;border-radius:1rem;padding:.05rem .5rem;
display:inline-block;margin:.1rem 0;white-space:normal;overflow-wrap:anywhere}
.rooflab-plot{width:100%;min-width:40rem;height:auto;display:block;border:1px solid var(--line);border-radius:.5rem}
.latency{display:grid;grid-template-columns:9rem 1fr 12rem;gap:.6rem;align-items:center;font-size:.9rem;margin:.2rem 0}
.latency span{min-width:0;overflow-wrap:anywhere}
.track{position:relative;height:.8rem;background:var(--panel);border-radius:.2rem}
.track i{position:absolute;left:0;top:0;height:100%;border-radius:.2rem;background:var(--accent);opacity:.55}
.track .roofline{background:var(--ink);opacity:.8;height:35%;top:65%}.track .limiter{background:var(--bad);opacity:.8}
.story{border-left:3px solid var(--bad);background:var(--panel);padding:.6rem .9rem;margin:.6rem 0;border-radius:0 .4rem .4rem 0}
.story p{margin:.25rem 0}.code{color:var(--bad)}.place{color:var(--soft)}
.help{font-weight:600}.command{font-size:.85rem;color:var(--soft)}
pre{overflow-x:auto;margin:.4rem 0;font:13px/1.35 ui-monospace,Menlo,Consolas,monospace}
.pattern{line-height:1.05}.mark{color:var(--bad)}pre .number{color:var(--soft)}
.limit{display:grid;grid-template-columns:6rem 1fr;gap:.2rem .8rem;margin:.6rem 0;font-size:.9rem}
.limit dt{color:var(--soft)}.limit dd{margin:0;min-width:0;overflow-wrap:anywhere}
.next pre{white-space:pre-wrap}
.since{margin:.4rem 0}ul.since{padding-left:1.2rem;font-size:.9rem}
summary{cursor:pointer;color:var(--soft);margin:.4rem 0}
@media (max-width:40rem){.latency{grid-template-columns:6rem 1fr 6rem}
.timings thead{display:none}.timings tr{display:block;border:1px solid var(--line);border-radius:.5rem;
padding:.3rem .8rem;margin:.5rem 0}
.timings tbody th,.timings td{display:flex;justify-content:space-between;gap:1rem;padding:.25rem 0;border:0}
.timings td::before{content:attr(data-name);color:var(--soft)}.timings td span{text-align:right}}
@media print{main{max-width:none}details{display:none}section{break-inside:avoid}}
)css";

}  // namespace rooflab
