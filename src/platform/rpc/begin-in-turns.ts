/**
 * A connection can bring a hundred calls in one packet, and hundreds of connections can do so at once. However many
 * come, only some begin before everything else the process does gets its turn, and who has gone by then costs nothing.
 */
export interface Beginning {
  isGone(): boolean
  begin(): void
}

export function beginInTurns(perTurn: number): (beginning: Beginning) => void {
  let waiting: Beginning[] = []
  let next = 0

  function takeTurn(): void {
    for (let begun = 0; begun < perTurn && next < waiting.length; next++) {
      const beginning = waiting[next] as Beginning
      if (beginning.isGone()) continue
      begun++
      beginning.begin()
    }
    if (next < waiting.length) {
      setImmediate(takeTurn)
      return
    }
    waiting = []
    next = 0
  }

  return (beginning) => {
    if (waiting.push(beginning) === 1) setImmediate(takeTurn)
  }
}
