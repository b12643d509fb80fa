#pragma once

namespace rooflab {

/// What the pages of a class need beside the style sheet of a report.
inline constexpr const char* kPageStyle = R"css(
h1,h2,li,p,.text{overflow-wrap:anywhere}
th.number{text-align:right}.people{width:55%;min-width:14rem}.text{min-width:8rem}.text,.people,.comment{padding-left:.6rem}.text:first-child{padding-left:0}
.state{white-space:nowrap}.state.graded{color:var(--good)}.state.not-submitted{color:var(--todo)}
.state.unreadable,.state.fault,.state.two-submissions{color:var(--bad)}.state.pending,.state.not-graded-yet{color:var(--todo)}
.figures tbody th{color:var(--ink);font-size:1rem;font-weight:400}
.figures td.number,td .code{white-space:nowrap}.figures td,.figures th{padding-right:1.1rem}
.figures td:last-child,.figures th:last-child{padding-right:0}
figure{margin:1rem 0}.wide>.rooflab-plot{margin-top:1rem}
.comment{white-space:pre-wrap;width:60%;min-width:12rem}tbody th.text{color:var(--ink);font-size:1rem;font-weight:400}
.remark{border-left:3px solid var(--accent);background:var(--panel);padding:.1rem .9rem;margin:.6rem 0;
border-radius:0 .4rem .4rem 0}
.said{white-space:pre-wrap}
.problems{border-left:3px solid var(--todo);background:var(--panel);padding:.1rem 1rem .4rem;margin:1.5rem 0;
border-radius:0 .4rem .4rem 0}
.problems h2{margin:.6rem 0}.problems ul{margin:.3rem 0;padding-left:1.2rem}
.part{border-top:2px solid var(--line);margin-top:3rem}.part>h2{font-size:1.4rem;margin:1.5rem 0 .3rem}
.part h3{font-size:1.15rem}.part h4{font-size:1.05rem;margin-top:1.6rem}.part h5{margin:1rem 0 .4rem}
.private{color:var(--todo);font-size:.9rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7rem,1fr));gap:.8rem;margin:1.2rem 0;padding:0;list-style:none}
.tiles li{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .9rem;color:var(--soft);
font-size:.9rem}
.tiles b{display:block;font-size:1.5rem;color:var(--ink);font-variant-numeric:tabular-nums}
.tiles .look b{color:var(--bad)}
.histogram{display:flex;align-items:flex-end;gap:.25rem;margin:.8rem 0 .2rem;padding:0;list-style:none}
.histogram li{flex:1;min-width:0;text-align:center;font-size:.75rem;color:var(--soft);overflow-wrap:normal;
font-variant-numeric:tabular-nums}
.histogram .column{display:flex;flex-direction:column;justify-content:flex-end;height:8rem;border-bottom:1px solid var(--line)}
.histogram i{display:block;background:var(--accent);opacity:.75;border-radius:.2rem .2rem 0 0}
.histogram .bonus i{background:var(--good)}
.histogram .column span{color:var(--ink)}
.spread{position:relative;display:inline-block;width:8rem;height:.8rem;background:var(--panel);border-radius:.2rem;
vertical-align:middle;margin-right:.5rem}
.spread i{position:absolute;top:0;height:100%}
.spread .range{top:45%;height:10%;background:var(--soft)}
.spread .half{background:var(--accent);opacity:.55;border-radius:.2rem}
.spread .median{width:2px;margin-left:-1px;background:var(--ink)}
.rooflab-plot .crowd.filled{fill-opacity:.5;stroke-width:.5}
.rooflab-plot .crowd.hollow{fill-opacity:.3;stroke-width:1.2;stroke-opacity:.7}
nav{font-size:.9rem;margin:1rem 0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}
@media (max-width:40rem){.histogram{gap:.15rem}.histogram li{font-size:.62rem}.histogram li small{display:none}}
@media print{.part{break-inside:auto}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.rooflab-plot{min-width:0}thead{display:table-header-group}tr{break-inside:avoid}
section.long{break-inside:auto}}
)css";

}  // namespace rooflab
