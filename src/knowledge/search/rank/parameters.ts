/** Chosen by measurement, see bench/search/README.md; all of them have broad optima. */
export const PARAMETERS = {
  /** Cosines below it say nothing. */
  leastCosine: 0.15,
  cosinePower: 2,
  /** Of a word in another form. */
  otherForm: 0.9,
  /** Of a word that only begins like a term which stands nowhere. */
  beginning: 0.7,
  /** How soon another occurrence stops counting, and how much a note's length matters. */
  saturation: 1,
  lengthShare: 0.75,
  rarityPower: 0.75,
  /** What an occurrence counts with no other term near it. */
  alone: 0.1,
  /** How much a term that many segments away counts as near. */
  nearness: [1, 0.5, 0.25],
  /** Occurrences that one in the title stands for. */
  inTitle: 2,
  /** Likewise. */
  inTags: 2,
  inPlace: 1,
  /** Segments of a passage. */
  passageLength: 2,
  passageShare: 0.3,
  titleShare: 1,
  vectorShare: 0.3,
  /** Words that signs join in the question, side by side. */
  joinedShare: 0.1,
  /** The second round: how many segments give how many terms, and what these count. */
  feedbackSegments: 5,
  feedbackTerms: 8,
  feedbackShare: 0.1,
}
