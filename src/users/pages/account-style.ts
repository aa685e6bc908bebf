/** Beside the sheet that every page has inside it, whose colours these are. */
export const ACCOUNT_STYLE = `main,header{max-width:34rem}
h2{margin:0 0 .5rem;padding:0;border:0;font-size:1.25rem}
h2:focus{outline:none}
[hidden]{display:none!important}
label,.label{display:block;font-weight:600;margin-top:1.1rem}
.field{display:block;width:100%;margin-top:.3rem;padding:.65rem .7rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:.4rem}
.field[readonly]{background:var(--faint);border-color:var(--line)}
.field[aria-invalid]{border-width:2px;border-color:var(--wrong)}
.hint{margin:.3rem 0 0;color:var(--soft);font-size:.92rem}
.tick{display:flex;gap:.6rem;align-items:center;font-weight:400;min-height:2.75rem;margin-top:.4rem}
.tick input{width:1.2rem;height:1.2rem;margin:0}
button{min-height:2.9rem;margin:1.2rem 0 2rem;padding:.6rem 1.4rem;font:inherit;font-weight:600;color:var(--paper);background:var(--link);border:2px solid transparent;border-radius:.4rem;cursor:pointer}
button[aria-disabled]{opacity:.7;cursor:progress}
.notice{margin:1rem 0;padding:.1rem 1rem;border:1px solid var(--line);border-left:.3rem solid var(--link);border-radius:.4rem;background:var(--faint)}
.notice:empty{margin:0;padding:0;border:0}
.wrong{border-left-color:var(--wrong)}
:root{--wrong:#a11212}
@media(prefers-color-scheme:dark){:root{--wrong:#ff9d96}}
@media(max-width:30rem){button{width:100%}}
`
