/** English words that say nothing about what somebody is looking for. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be because been before being between both but by can could did do does
  doing down during each else ever few for from further get got had has have having he her here hers herself him himself his how
  i if in into is it its itself just know like many may me might more most much must my myself no nor not now of off on once one
  only or other our ours out over own please same shall she should so some such tell than that the their theirs them themselves
  then there these they this those through to too under until up upon us very was we were what when where which while who whom
  whose why will with would yes you your yours yourself
  d ll m re s t ve don didn doesn isn wasn aren weren hasn haven hadn won wouldn shouldn couldn`
    .split(/\s+/)
    .filter((word) => word !== ''),
)
