/**
 * A connection can bring a hundred calls in one packet, and hundreds of connections can do so at once. However many
 * come, only some begin before everything else the process does gets its turn, and who has gone by then costs nothing.
 */
export interface Beginning {
  isGone(): boolean
  begin(): void
}

export function beginInTurns(perTurn: number): (beginning: Beginning) => void {
  const waiting: Beginning[] = []

  function takeTurn(): void {
    let taken = 0
    for (let begun = 0; begun < perTurn && taken < waiting.length; taken++) {
      const beginning = waiting[taken] as Beginning
      if (beginning.isGone()) continue
      begun++
      beginning.begin()
    }
    // At once: under a flood there are always some behind them, and each holds its call.
    waiting.splice(0, taken)
    if (waiting.length > 0) setImmediate(takeTurn)
  }

  return (beginning) => {
    if (waiting.push(beginning) === 1) setImmediate(takeTurn)
  }
}
