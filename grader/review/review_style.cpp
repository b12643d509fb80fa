#include "grader/review/review_style.h"

#include "grader/batch/outputs/analysis_page.h"
#include "grader/batch/outputs/count_bar.h"
#include "grader/batch/outputs/page_style.h"
#include "grader/report/html_style.h"

namespace rooflab {
namespace {

constexpr const char* kReviewStyle = R"css(
:root{--new:#e3f4ea;--gone:#fbe7e5}
@media (prefers-color-scheme:dark){:root{--new:#17301f;--gone:#3a1d1b}}
main{max-width:80rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-999rem}.skip:focus{left:.5rem;top:.5rem;background:var(--paper);padding:.5rem;z-index:1}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
nav.top{background:var(--panel);border-bottom:1px solid var(--line);padding:.6rem 1rem;margin:0;gap:.3rem 1.4rem}
nav.tabs a,nav.neighbours a{padding:.25rem .1rem}
nav.tabs a[aria-current]{font-weight:600;color:var(--ink);text-decoration:none;border-bottom:2px solid var(--accent)}
nav.neighbours{justify-content:flex-end;margin:0}
.filter{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:end;margin:1rem 0}
label{display:block;color:var(--soft);font-size:.9rem;margin:.5rem 0}
.filter label{margin:0}
input,select,textarea,button{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--soft);
border-radius:.3rem;padding:.35rem .5rem;max-width:100%}
.filter input,.filter select{display:block;height:2.4rem}.filter button{margin:0}
textarea{display:block;width:100%;min-height:3.2rem;margin-top:.2rem}
button{background:var(--panel);cursor:pointer;padding:.4rem .8rem;margin:.3rem .5rem .3rem 0;min-height:2.4rem}
button:hover{border-color:var(--accent)}
input[type=checkbox]{width:1.1rem;height:1.1rem;vertical-align:-.15rem}
table.class th.who{color:var(--ink);font-size:1rem;min-width:11rem;overflow-wrap:anywhere}
table.class small{display:block;color:var(--soft);font-weight:400;font-size:.8rem}
th.task{vertical-align:bottom}
.class td.number{white-space:nowrap;padding-left:.8rem}.class td.number:last-child{padding-right:.6rem}
.class th.number{padding-left:.8rem}
.class .labels{display:block;font-weight:400}
#write,.comment,.listing tr{scroll-margin-top:8rem}
.label{display:inline-block;border:1px solid currentColor;border-radius:1rem;padding:.05rem .55rem;margin:.1rem .1rem .1rem 0;
font-size:.8rem;color:var(--soft);text-decoration:none;white-space:nowrap}
.label.look,.label.fault,.label.choose{color:var(--bad)}
.label.free-text,.label.late,.label.missing,.label.to-check,.label.stranger{color:var(--todo)}
.label.commented{color:var(--good)}
.words{white-space:pre-wrap;overflow-wrap:anywhere;max-width:65ch}
blockquote{border-left:3px solid var(--accent);background:var(--panel);margin:.6rem 0;padding:.6rem .9rem;
border-radius:0 .4rem .4rem 0}
blockquote.answer{font-size:1.05rem}
.conflict{border:2px solid var(--bad);border-radius:.4rem;padding:.5rem .8rem;margin:.6rem 0;max-width:65ch;white-space:pre-wrap;
overflow-wrap:anywhere}
.minus{color:var(--bad)}.plus{color:var(--good)}
table.points td.hand{width:60%;padding-left:1rem}table.points td.number{white-space:nowrap}
table.points button{white-space:nowrap}table.points details{margin:0}table.points summary{padding:0;margin:0}table.points th.text{color:var(--ink);font-weight:400;font-size:1rem}
details{margin:.3rem 0}summary{padding:.2rem 0}
details form{padding:.2rem 0 .6rem}
article.comment{border-left:3px solid var(--good);background:var(--panel);padding:.4rem .9rem;margin:.4rem 0;width:auto;
max-width:70ch;border-radius:0 .4rem .4rem 0;white-space:normal}
article.comment:target,tr:target td{outline:2px solid var(--accent);outline-offset:-2px}
.hidden{color:var(--todo);border:1px solid currentColor;border-radius:.3rem;padding:0 .3rem;font-size:.8rem;font-weight:600}
.revealed{border:1px dashed var(--todo);border-radius:.4rem;padding:.1rem .9rem .5rem;margin:.6rem 0}
.people{width:auto;border-left:3px solid var(--todo);padding:.1rem .9rem;margin:.5rem 0}
ul.cases{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.9rem;overflow-wrap:anywhere}
.cases .verdict{border:0;padding:0;margin:0}
.file>summary{position:sticky;top:0;z-index:2;background:var(--paper);padding:.4rem 0}
.running{border-left:3px solid var(--accent);background:var(--panel);padding:.5rem .9rem;border-radius:0 .4rem .4rem 0}
.file .wide{border:1px solid var(--line);border-radius:.4rem}
table.listing{font:13px/1.45 ui-monospace,Menlo,Consolas,monospace;border-collapse:collapse}
.listing td{border:0;padding:0 .4rem 0 0}.listing code{white-space:pre;font:inherit;tab-size:4}
.listing .n{width:1%;min-width:3rem;text-align:right;user-select:none;position:sticky;left:0;background:var(--panel)}
.listing .n a{display:block;padding:0 .5rem;color:var(--soft);text-decoration:none}.listing .n a:hover{color:var(--accent)}
.listing .m{width:1.2rem;color:var(--soft);user-select:none}
.listing .new td{background:var(--new)}.listing .gone td{background:var(--gone)}
.listing.alone .new td{background:none}.listing.alone .m{visibility:hidden}
.listing .n,.listing .new td.n,.listing .gone td.n{background:var(--panel)}
.listing .below td{padding:.3rem .6rem .5rem 4rem;font:15px/1.5 system-ui,sans-serif}
.listing .below article,.listing .below p,.listing .below form{max-width:min(70ch,80vw)}
.listing .at{margin:.1rem 0;color:var(--ink)}
fieldset{border:1px solid var(--line);border-radius:.4rem;padding:.2rem .9rem .5rem;margin:.8rem 0}
legend{color:var(--soft);font-size:.9rem;padding:0 .3rem}
.choice{color:var(--ink);font-size:1rem;padding:.3rem 0;margin:0;overflow-wrap:anywhere}
kbd{border:1px solid var(--line);border-bottom-width:2px;border-radius:.3rem;padding:0 .35rem;font-size:.8rem;color:var(--soft)}
form.line{display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:end;border-bottom:1px solid var(--line);padding:.3rem 0}
form.line label{margin:0}form.line input{display:block}
ol.answers{columns:16rem;overflow-wrap:anywhere}
ol.answers a[aria-current]{font-weight:600}
ol.log{padding-left:1.2rem}ol.log li{margin:.5rem 0;overflow-wrap:anywhere}
ol.log del,ol.log ins{display:block;white-space:pre-wrap;text-decoration:none;padding:.1rem .6rem;max-width:70ch}
ol.log del{background:var(--gone)}ol.log del::before{content:"before: "}
ol.log ins{background:var(--new)}ol.log ins::before{content:"now: "}
@media (max-width:40rem){
table.class thead{display:none}
table.class tr{display:block;border:1px solid var(--line);border-radius:.5rem;padding:.4rem .8rem;margin:.6rem 0}
table.class th.who{display:block;border:0;padding:.2rem 0}
table.class td{display:flex;justify-content:space-between;gap:1rem;border:0;padding:.15rem 0}
table.class td.number,table.class td.number:last-child{padding:.15rem 0}
table.class td[data-name]::before{content:attr(data-name);color:var(--soft);flex:none}
table.points tr{display:block;border-bottom:1px solid var(--line);padding:.4rem 0}table.points thead{display:none}
table.points th,table.points td{display:block;border:0;padding:.1rem 0}table.points td.hand{width:auto;padding-left:0}
table.points td.number{text-align:left}
table.points td[data-name]::before{content:attr(data-name) ": ";color:var(--soft)}
.listing .below td{padding-left:.6rem}
nav.top{gap:.3rem 1rem}
}
)css";

}  // namespace

std::string review_style() {
  return std::string(kStyleSheet) + kPageStyle + kBarStyle + kAnalysisStyle + kReviewStyle;
}

}  // namespace rooflab
