import type { Scenario } from '../scenario.ts'
import { vectorFigures } from '../vector-figures.ts'

const CHUNKS = 100_000

export const scenario: Scenario = {
  description: `the nearest of ${CHUNKS} chunks with 256 dimensions, against a bare scan, SQLite`,
  run: (say) => vectorFigures(CHUNKS, say),
}
