import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf'
import { AppError } from '../../platform/errors/app-error.ts'
import { hasTooManyElements, TOO_MANY_ELEMENTS } from '../../platform/rpc/count-elements.ts'

/** A message from its binary form, sent by a caller. What was stored by us is read with `fromBinary`. */
export function readBinary<Desc extends DescMessage>(desc: Desc, bytes: Uint8Array): MessageShape<Desc> {
  if (hasTooManyElements(desc, bytes)) throw new AppError('invalid_argument', TOO_MANY_ELEMENTS)
  try {
    return fromBinary(desc, bytes)
  } catch (cause) {
    throw new AppError('invalid_argument', `The request is not a valid ${desc.name} in binary form`, { cause })
  }
}
