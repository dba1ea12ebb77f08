// The style of the report: one sheet, in the page.
#pragma once

#include <string_view>

namespace nephila::report {

inline constexpr std::string_view kHtmlStyle = R"css(
:root{color-scheme:light dark;--bg:#fdfdfc;--ink:#1c1f23;--soft:#646b73;
--line:#e3e5e8;--first:#2a64a7;--second:#c4611a;--fill:#2a64a71a;
--bar:#b9cde4;--bad:#b3261e;--box:#f4f5f6}
@media (prefers-color-scheme:dark){:root{--bg:#16181b;--ink:#e3e5e8;
--soft:#99a1aa;--line:#2e3238;--first:#78aee8;--second:#e79c5c;
--fill:#78aee824;--bar:#33506f;--bad:#f2877f;--box:#1e2125}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 3rem}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .25rem;font-weight:650}
h2{font-size:1.15rem;margin:2.75rem 0 .5rem;padding-top:.75rem;
border-top:1px solid var(--line);font-weight:650}
h3{font-size:.95rem;margin:1.25rem 0 .4rem;font-weight:600}
p{margin:.4rem 0;max-width:46rem}
.soft,figcaption,footer{color:var(--soft);font-size:.85rem}
a{color:inherit}
code{font:.86em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(4,1fr);
gap:.75rem;margin:1.5rem 0 0}
.figures div{background:var(--box);border-radius:.5rem;padding:.7rem .85rem}
.figures b{display:block;font-size:1.35rem;line-height:1.25;font-weight:650;
font-variant-numeric:tabular-nums;white-space:nowrap}
.figures span{color:var(--soft);font-size:.8rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(22rem,1fr));
gap:0 2.5rem}
figure{margin:.75rem 0 1rem;min-width:0;break-inside:avoid}
figcaption{margin-top:.25rem}
.plot{position:relative;height:13rem;margin:.9rem .9rem 1.7rem 3.1rem}
.plot svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.plot path{fill:none;vector-effect:non-scaling-stroke}
.plot .grid{stroke:var(--line);stroke-width:1}
.plot .stop{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3}
.plot .line{stroke-width:1.75;stroke-linejoin:round}
.plot .dots{stroke-width:7;stroke-linecap:round}
.plot path.area{fill:var(--fill)}
.first{stroke:var(--first)}
.second{stroke:var(--second)}
.plot span{position:absolute;font-size:.75rem;line-height:1;color:var(--soft);
font-variant-numeric:tabular-nums;white-space:nowrap}
.plot .y{right:100%;margin-right:.45rem;transform:translateY(50%)}
.plot .x{top:100%;margin-top:.45rem;transform:translateX(-50%)}
.legend{font-size:.8rem;color:var(--soft)}
.key{margin-right:1.1rem;white-space:nowrap}
.key::before{content:"";display:inline-block;width:.95rem;height:.2rem;
border-radius:.1rem;margin-right:.4rem;vertical-align:middle;
background:var(--first)}
.key.second::before{background:var(--second)}
.scroll{overflow-x:auto;break-inside:avoid}
table{border-collapse:collapse;width:100%;font-size:.87rem}
th{text-align:left;font-weight:600;color:var(--soft);font-size:.8rem;
border-bottom:1px solid var(--line);padding:.3rem .8rem .3rem 0;
vertical-align:bottom}
td{padding:.27rem .8rem .27rem 0;border-bottom:1px solid var(--line);
vertical-align:top}
th:last-child,td:last-child{padding-right:0}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;
white-space:nowrap}
td.rank,th.rank{width:1%;text-align:right;color:var(--soft);
font-variant-numeric:tabular-nums}
td.name{overflow-wrap:anywhere;min-width:9rem}
td.bar{width:30%;min-width:5rem;vertical-align:middle}
td.bar i{display:block;height:.6rem;border-radius:.15rem;background:var(--bar);
min-width:1px}
.bad{color:var(--bad)}
ul.notes{padding-left:1.1rem;margin:.5rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;
font-size:.87rem;margin:.5rem 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.75rem}
@media (max-width:40rem){main{padding:1.25rem .9rem 2rem}
.plot{height:11rem;margin-left:2.7rem}.plot .odd{display:none}
.pair{grid-template-columns:minmax(0,1fr)}.wide{display:none}
.figures{grid-template-columns:repeat(2,1fr);gap:.5rem}
.figures b{font-size:1.15rem}dl{grid-template-columns:1fr}
dd{margin-bottom:.35rem}table{font-size:.8rem}td,th{padding-right:.5rem}
td.name{min-width:7rem}}
@media print{:root{--bg:#fff;--ink:#000;--soft:#444;--line:#bbb;
--first:#1d4f8a;--second:#a64f10;--fill:#1d4f8a1a;--bar:#b9cde4;--box:#f4f4f4}
body{font-size:10pt}main{max-width:none;padding:0}h2{break-after:avoid}
tr{break-inside:avoid}}
)css";

}  // namespace nephila::report
