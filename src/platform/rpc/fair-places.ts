import { networkOf } from '../http/connection/client-address.ts'

/** Somebody who has a place, until it leaves or has to give way. */
export interface Place {
  leave(): void
}

/**
 * Places for callers of whom nothing is known but where they come from, and who may stay as long as they like. When all are taken, whoever
 * comes from where fewer are gets the place of the one who has been there longest of those from where most are: who takes all places keeps
 * nobody else out, and many behind one proxy have them all as long as nobody else comes.
 */
export class FairPlaces {
  readonly #most: number
  /** By network; of each in the order in which they came, with what tells them to give way. */
  readonly #of = new Map<string, Map<Place, () => void>>()
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Undefined when there is no place. */
  enter(address: string, giveWay: () => void): Place | undefined {
    const network = networkOf(address)
    if (this.#taken >= this.#most && !this.#makeRoomFor(network)) return undefined
    const place = { leave: () => void this.#remove(network, place) }
    const own = this.#of.get(network)
    if (own === undefined) this.#of.set(network, new Map([[place, giveWay]]))
    else own.set(place, giveWay)
    this.#taken++
    return place
  }

  #makeRoomFor(newcomer: string): boolean {
    let network = newcomer
    for (const [other, { size }] of this.#of) if (size > this.#countOf(network)) network = other
    // Who would have as many then as is left to the other one takes nothing from it: the two would go on in turns.
    if (this.#countOf(network) <= this.#countOf(newcomer) + 1) return false
    const [oldest] = this.#of.get(network) ?? []
    if (oldest === undefined) return false
    const [place, giveWay] = oldest
    this.#remove(network, place)
    giveWay()
    return true
  }

  #countOf(network: string): number {
    return this.#of.get(network)?.size ?? 0
  }

  #remove(network: string, place: Place): void {
    const own = this.#of.get(network)
    if (own === undefined || !own.delete(place)) return
    this.#taken--
    if (own.size === 0) this.#of.delete(network)
  }
}
