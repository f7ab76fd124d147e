/** Colors have a contrast of at least 4.5 to their background, in both themes. Logical properties mirror it for right-to-left text. */
export const style = `
:root{color-scheme:light dark;--back:#fff;--text:#14181f;--quiet:#4b5563;--line:#d1d5db;--box:#f3f4f6;--link:#1d4ed8;--good:#166534;--bad:#b91c1c}
@media (prefers-color-scheme:dark){:root{--back:#101318;--text:#f3f4f6;--quiet:#b6bcc6;--line:#4b5563;--box:#1c2129;--link:#93c5fd;--good:#86efac;--bad:#fca5a5}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:17px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main{max-width:32rem;margin:0 auto;padding:1rem 1.25rem}
header{display:flex;gap:.75rem;align-items:center;font-weight:600;border-bottom:1px solid var(--line)}
header img{max-height:2.5rem;max-width:10rem}
h1{font-size:1.7rem;line-height:1.2;margin:.75rem 0 .5rem}
h2{font-size:1.1rem;margin:2rem 0 .5rem}
p{margin:.5rem 0}
a{color:var(--link)}
.button{display:block;width:100%;min-height:3.25rem;padding:.8rem 1rem;margin:1rem 0;border:2px solid var(--text);border-radius:.75rem;font:inherit;font-size:1.15rem;font-weight:600;text-align:center;text-decoration:none;cursor:pointer;background:var(--brand);color:var(--on-brand)}
.small{display:inline-block;padding:.5rem 1rem;margin:.25rem 0;border:1px solid var(--quiet);border-radius:.5rem;color:var(--text);text-decoration:none}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.quiet{color:var(--quiet);font-size:.95rem}
.online{color:var(--good)}
.bad{border-inline-start:4px solid var(--bad);padding-inline-start:.75rem}
.steps{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;margin:0}
.steps li::before{content:"· ";color:var(--quiet)}
.steps li.done::before{content:"✓ ";color:var(--good)}
.steps li[aria-current]{font-weight:600}
details{border-top:1px solid var(--line);padding:.25rem 0}
summary{cursor:pointer;padding:.6rem 0;font-weight:600}
dl{margin:.75rem 0;padding:.25rem 1rem;background:var(--box);border-radius:.75rem}
dt{color:var(--quiet);font-size:.9rem;margin-top:.5rem}
dd{margin:0 0 .5rem;font-weight:600;user-select:all}
.code{font-family:ui-monospace,monospace;font-weight:400}
.qr{display:block;width:min(100%,18rem);height:auto;margin:1rem auto;background:#fff}
`;
