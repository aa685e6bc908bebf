/** Chosen by measurement, see bench/search/README.md; all of them have broad optima. */
export interface RankParameters {
  /** Cosines below it say nothing. */
  leastCosine: number
  cosinePower: number
  /** Of a word in another form. */
  otherForm: number
  /** Of a word that only begins like a term which stands nowhere. */
  beginning: number
  /** How soon another occurrence stops counting, and how much a note's length matters. */
  saturation: number
  lengthShare: number
  rarityPower: number
  /** What an occurrence counts with no other term near it. */
  alone: number
  /** How much a term that many segments away counts as near. */
  nearness: readonly number[]
  /** Occurrences that one in the title stands for. */
  inTitle: number
  /** Likewise. */
  inTags: number
  inPlace: number
  /** Segments of a passage. */
  passageLength: number
  passageShare: number
  titleShare: number
  vectorShare: number
  /** The second round: how many segments give how many terms, and what these count. */
  feedbackSegments: number
  feedbackTerms: number
  feedbackShare: number
}

export const PARAMETERS: RankParameters = {
  leastCosine: 0.15,
  cosinePower: 2,
  otherForm: 0.9,
  beginning: 0.7,
  saturation: 1,
  lengthShare: 0.75,
  rarityPower: 0.75,
  alone: 0.1,
  nearness: [1, 0.5, 0.25],
  inTitle: 2,
  inTags: 2,
  inPlace: 1,
  passageLength: 2,
  passageShare: 0.3,
  titleShare: 1,
  vectorShare: 0.3,
  feedbackSegments: 5,
  feedbackTerms: 8,
  feedbackShare: 0.1,
}
