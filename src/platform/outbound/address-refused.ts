/** Thrown instead of connecting: the name, or the address itself, leads to where nobody may send us. */
export class AddressRefused extends Error {
  constructor(message = 'destination address not allowed') {
    super(message)
    this.name = 'AddressRefused'
  }
}
